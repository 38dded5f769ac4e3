"""One thread for each test process: the tensors are tiny, and the processes share the machine."""

import torch

torch.set_num_threads(1)
