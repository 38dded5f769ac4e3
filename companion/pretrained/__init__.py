"""Published weights in the companion's own models. safetensors only: nothing is unpickled."""

from companion.pretrained.loading import load

__all__ = ["load"]
