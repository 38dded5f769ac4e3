"""The recipes as a command: `python -m companion.train <recipe>` (see `__main__`)."""
