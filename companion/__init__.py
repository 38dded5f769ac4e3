"""The Transformer's parts and models, as the book beside this package builds and tests them."""

from importlib import import_module

__version__ = "1.1.0"


def __getattr__(name: str) -> object:
    """Models and layers by their names, `from companion import GPT`: imported when asked for."""
    if not name.startswith("_"):
        for module in (import_module(f"companion.{part}") for part in ("models", "nn")):
            if name in module.__all__:
                return getattr(module, name)
    raise AttributeError(f"companion has no {name!r}; its parts are listed in help(companion)")
