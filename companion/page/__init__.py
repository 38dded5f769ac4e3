"""What a chapter puts on its page: `setup`, `note`, plots with text alternatives, live figures."""

from companion.page.gallery import attention_figure, path_figure
from companion.page.notebook import note, setup

__all__ = ["attention_figure", "note", "path_figure", "setup"]
