"""From noise: the live figures; the checks of the exercises are in `checks`."""

from book.from_noise.figures.denoising import denoising_figure
from book.from_noise.figures.examiner import examiner_figure

__all__ = ["denoising_figure", "examiner_figure"]
