"""The Transformer's parts and models, as the book *The Transformer, measured* builds and tests them."""

__version__ = "0.1.0"
