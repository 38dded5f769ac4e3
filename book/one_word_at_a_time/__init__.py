"""One word at a time: the live figures; the checks of the exercises are in `checks`."""

from book.one_word_at_a_time.figures.fading import fading_figure
from book.one_word_at_a_time.figures.unrolled import unrolled_figure
from book.one_word_at_a_time.figures.whisper import whisper_figure

__all__ = ["fading_figure", "unrolled_figure", "whisper_figure"]
