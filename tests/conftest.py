"""Every test runs in one thread, from the same random numbers, and tries the same examples."""

import gc

import pytest
import torch
from hypothesis import register_random, settings

torch.set_num_threads(1)  # the tensors are tiny, and the processes share the machine
gc.disable()  # what is only being imported holds no garbage; to look for it takes seconds


def pytest_collection_finish():
    gc.freeze()  # nor does what all tests share, later
    gc.enable()


settings.register_profile(
    "companion", max_examples=20, deadline=None, derandomize=True, database=None
)
settings.load_profile("companion")


class TorchRandom:
    """Torch's generator, as hypothesis wants to see it: seeded before each example."""

    seed = staticmethod(torch.manual_seed)
    getstate = staticmethod(torch.get_rng_state)
    setstate = staticmethod(torch.set_rng_state)


TORCH_RANDOM = TorchRandom()  # hypothesis only keeps a weak reference
register_random(TORCH_RANDOM)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
