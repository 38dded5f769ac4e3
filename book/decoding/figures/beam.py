"""Beam search by the trained translator, as a tree that grows."""

from collections.abc import Sequence

from book.page.live import LiveFigure, table
from book.page.translators import LONGEST_TARGET, packed_translator
from companion.data import Vocabulary
from companion.generation import beam_search, evaluating, greedy_decode
from companion.models import Transformer


def beam_figure(model: Transformer, vocabulary: Vocabulary, examples: Sequence[str]) -> LiveFigure:
    """The tree of a beam search, live: beam size, length penalty, and the complete translations.

    Args:
        model: a trained `Transformer`, post-norm, whose source is the sentence's words alone.
        vocabulary: the words of both languages.
        examples: sentences to choose from, words between spaces; the tree starts with the first.

    Raises:
        ValueError: there is no example, a word is unknown, or a weight does not fit into float16.
    """
    data = packed_translator(model, vocabulary, [], examples, LONGEST_TARGET)
    device = next(model.parameters()).device
    source = vocabulary.encode([examples[0].split()]).to(device)
    ways = {
        "greedy": greedy_decode(model, source, LONGEST_TARGET),
        "beam of 2": beam_search(model, source, LONGEST_TARGET, beam_size=2, length_penalty=0.0),
    }
    rows = []
    for way, ids in ways.items():
        ids = ids[:, ids[0] != model.config.pad_id]
        with evaluating(model):
            log_p = model(source, ids[:, :-1]).log_softmax(-1)
        probability = log_p.gather(-1, ids[:, 1:, None]).sum().exp().item()
        words = [word for word in vocabulary.decode(ids[:, 1:])[0] if word != "[EOS]"]
        rows.append((way, " ".join(words), probability))
    value = {"sentence": examples[0], "size": 2, "alpha": 0, "step": 6}
    caption = f"Translations of “{examples[0]}” and their probabilities"
    fallback = table(caption, ["", "translation", "probability"], rows)
    return LiveFigure(__file__, data, value, fallback)
