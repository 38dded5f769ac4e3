"""The recipes as a command: `python -m companion.train <recipe>` (see `__main__`)."""

from companion.train.folder import load

__all__ = ["load"]
