"""Right options of the quiz on the three families, computed."""

import torch

from book.sentences import pronoun_sentence
from companion.models import BERT, GPT, BERTConfig, GPTConfig, Transformer, TransformerConfig
from companion.nn import causal_mask
from companion.training import next_token_loss, translation_loss

SIZES = {"vocab_size": 23, "d_model": 12, "num_layers": 2, "num_heads": 2, "d_ff": 20, "max_len": 9}


def who_notices() -> str:
    ids = torch.tensor([[4, 7, 5, 11, 6]])
    changed = torch.tensor([[4, 7, 5, 11, 9]])
    models = {"BERT": BERT(BERTConfig(**SIZES)).eval(), "GPT": GPT(GPTConfig(**SIZES)).eval()}
    moved = [
        name
        for name, model in models.items()
        if not torch.allclose(model(ids)[0, 0], model(changed)[0, 0])
    ]
    return {0: "In neither", 2: "In both"}.get(len(moved), f"In {moved[0]} only")


def asked_at_it() -> str:
    """What a causal model sees at "it"."""
    sentence = pronoun_sentence("animal", "street", "tired")
    row = causal_mask(len(sentence.words))[sentence.it_position]
    nouns = row[[sentence.right_position, sentence.wrong_position]]
    if not nouns.all():
        return "Its vector at “it” cannot contain both nouns"
    hidden = not row[sentence.adjective_position]
    return "The adjective that decides" if hidden else "It had too few labels"


def questions() -> str:
    """What the loss of a decoder counts."""
    ids = torch.tensor([[1, *range(4, 13), 2]])  # nine words between their ends
    _, count = next_token_loss(0)(GPT(GPTConfig(**SIZES | {"max_len": 10})), ids)
    return str(count.item())


def gap_questions() -> str:
    """What the loss of an encoder-decoder counts, for three words that are missing."""
    config = TransformerConfig(**SIZES, bos_id=1, eos_id=2)
    source, gap = torch.tensor([[4, 5, 6, 3, 7, 8, 9]]), torch.tensor([[1, 10, 11, 12, 2]])
    _, count = translation_loss(0)(Transformer(config), (source, gap))
    return str(count.item())
