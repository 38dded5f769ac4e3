"""What is done with a model to make it learn: the loop, its losses, its schedules, its checkpoints.

`fit` is the loop. It is given a model and builds none.
"""

from companion.training.checkpoints import load_checkpoint, save_checkpoint
from companion.training.loop import History, fit, train_step
from companion.training.losses import (
    class_loss,
    label_smoothing_loss,
    masked_token_loss,
    mean_loss,
    next_token_loss,
    translation_loss,
)
from companion.training.precision import best_precision
from companion.training.schedules import cosine_schedule, warmup_schedule

__all__ = [
    "History",
    "best_precision",
    "class_loss",
    "cosine_schedule",
    "fit",
    "label_smoothing_loss",
    "load_checkpoint",
    "masked_token_loss",
    "mean_loss",
    "next_token_loss",
    "save_checkpoint",
    "train_step",
    "translation_loss",
    "warmup_schedule",
]
