"""The Transformer's parts and models, as the book beside this package builds and tests them."""

__version__ = "0.1.0"
