"""Writing with a model: sampling from a GPT, decoding with an encoder-decoder."""

from companion.generation.sampling import evaluating, generate, next_token_probabilities, stream
from companion.generation.search import beam_search, greedy_decode

__all__ = [
    "beam_search",
    "evaluating",
    "generate",
    "greedy_decode",
    "next_token_probabilities",
    "stream",
]
