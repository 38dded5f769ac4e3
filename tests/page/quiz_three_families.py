"""Right options of the quiz on the three families, computed."""

import torch

from companion.data import pronoun_sentence
from companion.generation import next_token_probabilities
from companion.models import BERT, GPT, BERTConfig, GPTConfig
from companion.nn import causal_mask

SIZES = {"vocab_size": 23, "d_model": 12, "num_layers": 2, "num_heads": 2, "d_ff": 20, "max_len": 9}
FOUR_WORDS = torch.tensor([[0.5, 0.25, 0.15, 0.1]]).log()


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


def colder() -> str:
    return f"{next_token_probabilities(FOUR_WORDS, temperature=0.5)[0, 0].item():.2f}"


def nucleus() -> str:
    return str((next_token_probabilities(FOUR_WORDS, top_p=0.8) > 0).sum().item())
