"""What is left of a word in the state of a recurrent network, and in the average."""

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from book.page.live import LiveFigure, packed, table

OTHER_NAMES = {"weight_ih_l0": "input.weight", "bias_ih_l0": "input.bias"} | {
    "weight_hh_l0": "state.weight",
    "bias_hh_l0": "state.bias",
}


def fading_figure(
    network: nn.RNN, vectors: Mapping[str, torch.Tensor], words: Sequence[str], other: str
) -> LiveFigure:
    """The same sentence twice, but for one word, read by a recurrent network, word by word.

    The reader chooses which word `other` replaces, at first the second, and how many times as
    large every entry of U is, the matrix between two states.

    Args:
        network: of one layer, with tanh and biases.
        vectors: of the words and of `other`, each as wide as the network's input.
        words: the sentence.
        other: the word that stands in the place of one of them.

    Raises:
        ValueError: a word has no vector, the network is of another kind, or a weight does not fit
            into float16.
    """
    missing = [word for word in (*words, other) if word not in vectors]
    if missing:
        raise ValueError(f"every word needs a vector; got none for {', '.join(missing)}")
    if {name for name, _ in network.named_parameters()} != set(OTHER_NAMES):
        raise ValueError(f"a recurrent network of one layer with biases is needed, got {network}")
    weights = {f"rnn.{OTHER_NAMES[name]}": packed(p) for name, p in network.named_parameters()}
    vocabulary = list(vectors)
    weights["vectors"] = packed(torch.stack([vectors[word] for word in vocabulary]))
    data = {"words": list(words), "other": other, "vocabulary": vocabulary, "weights": weights}
    shares = _left(network, vectors, words, other)
    rows = list(zip(words[1:], shares, strict=True))[::-1]  # as the figure opens: the last first
    caption = f"What is left of the difference between “{words[1]}” and “{other}” in the state"
    fallback = table(caption, ["after", "difference left"], rows)
    value = {"place": 1, "step": len(words) - 1, "size": 1}
    return LiveFigure(__file__, data, value, fallback)


@torch.no_grad()
def _left(network: nn.RNN, vectors, words: Sequence[str], other: str) -> list[float]:
    """How far apart the states are after each word from the second on, where it is 1."""
    first = torch.stack([vectors[word] for word in words])
    second = torch.stack([vectors[word] for word in (words[0], other, *words[2:])])
    apart = (network(first)[0] - network(second)[0]).norm(dim=1)[1:]
    return (apart / apart[0]).tolist()
