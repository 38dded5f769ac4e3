"""The language model from an empty file."""

import math
from collections import Counter
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer as Library
from tokenizers import models, pre_tokenizers, trainers

from book import language_model as own_language_model
from book._press.imports import read_code
from book.language_model import (
    NOTHING,
    LanguageModel,
    RMSNorm,
    Tokenizer,
    learning_rate,
    log_probs,
    next_probabilities,
    rotate,
    sample,
    table,
    train,
)
from companion.data import corpus
from companion.models import GPT, GPTConfig

TEXT = "\n".join(" " + " ".join(sentence) for sentence in corpus(500, 0))


def small(**changes):
    torch.manual_seed(0)
    return LanguageModel(**{"vocab_size": 19, "d": 24, "layers": 2, "heads": 3} | changes).double()


def test_it_needs_nothing_but_torch():
    code = Path(own_language_model.__file__).read_text("utf8")
    assert not [name for name in read_code(code, "companion").imports if "companion" in name]


@pytest.mark.parametrize(
    "text", [TEXT[:500], "def f(x):\n\treturn  x ** 2", "naïve 🙂", "", "  \n"]
)
def test_every_text_comes_back(text):
    tokenizer = Tokenizer(TEXT, 400)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_the_merges_are_those_of_the_library():
    library = Library(models.BPE())
    library.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_next")
    library.train_from_iterator(
        [TEXT.replace("\n", "")], trainers.BpeTrainer(vocab_size=27 + 150, show_progress=False)
    )
    ours = Tokenizer(TEXT.replace("\n", ""), 257 + 150)
    assert set(library.get_vocab()) >= {piece.decode() for piece in ours.pieces[257:]}
    for sentence in TEXT.splitlines()[:100]:
        pieces = [ours.pieces[token].decode() for token in ours.encode(sentence)]
        assert pieces == library.encode(sentence).tokens


def test_merges_by_hand():
    # " ab" 3 times and "b" once: the pair (a, b) ties with (" ", a); the older tokens win.
    tokenizer = Tokenizer(" ab ab ab\nb", 259)
    assert tokenizer.pieces[257:] == [b" a", b" ab"]
    assert tokenizer.encode(" ab ba") == [258, 32, 98, 97]
    assert len(Tokenizer("ab", 1000)) == 258  # nothing more to merge


def test_nothing_is_no_text():
    tokenizer = Tokenizer("low lower lowest", 260)
    row = table([tokenizer.encode("low"), tokenizer.encode("lower lowest")])[0]
    assert row[-1] == NOTHING
    assert tokenizer.decode(row.tolist()) == "low"


def test_no_token_reaches_across_words():
    tokenizer = Tokenizer(" the cat" * 50, 1000)
    assert tokenizer.decode([len(tokenizer) - 1]) in (" the", " cat")


def test_the_norm_is_torchs():
    x = torch.randn(2, 3, 5)
    torch.testing.assert_close(RMSNorm(5)(x), torch.nn.functional.rms_norm(x, (5,), eps=1e-6))


def test_rotation_depends_on_the_distance_only():
    q, k = torch.randn(2, 1, 1, 1, 6, dtype=torch.double)

    def score(i, j):
        return (rotate(q, i) * rotate(k, j)).sum()

    torch.testing.assert_close(score(7, 3), score(15, 11), rtol=1e-5, atol=1e-5)
    assert (score(7, 3) - score(7, 4)).abs() > 1e-3


def test_the_same_logits_as_the_books_gpt():
    ours = small()
    config = GPTConfig(
        vocab_size=19,
        d_model=24,
        num_layers=2,
        num_heads=3,
        d_ff=64,
        max_len=13,
        dropout=0.0,
        norm="rms",
        norm_eps=1e-6,
        activation="swiglu",
        bias=False,
        positions="rotary",
        rope_pairing="half",
        tie_weights=False,
        pad_id=None,
    )
    theirs = GPT(config).double()
    with torch.no_grad():
        theirs.token_embedding.weight.copy_(ours.norm_in(ours.embedding.weight))
        theirs.head.weight.copy_(ours.embedding.weight)
        for mine, block in zip(ours.blocks, theirs.blocks, strict=True):
            attention = block.self_attention
            parts = mine.attention.qkv.weight.chunk(3)
            for layer, weight in zip(
                (attention.q_proj, attention.k_proj, attention.v_proj), parts, strict=True
            ):
                layer.weight.copy_(weight)
            attention.out_proj.weight.copy_(mine.attention.out.weight)
            block.feed_forward.gate_proj.weight.copy_(mine.feed_forward.gate.weight)
            block.feed_forward.up_proj.weight.copy_(mine.feed_forward.up.weight)
            block.feed_forward.down_proj.weight.copy_(mine.feed_forward.down.weight)
    ids = torch.randint(19, (2, 7))
    torch.testing.assert_close(ours(ids), theirs(ids), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("steps", [(9,), (4, 5), (1, 7, 1), (3, 1, 1, 4)])
def test_cached_and_uncached_logits_agree(steps):
    model, ids = small(), torch.randint(19, (2, 9))
    cache = model.empty_cache()
    parts = [model(part, cache) for part in ids.split(steps, dim=1)]
    torch.testing.assert_close(torch.cat(parts, dim=1), model(ids))


def test_the_future_does_not_move_the_past():
    model, ids = small(), torch.randint(19, (2, 9))
    changed = ids.clone()
    changed[:, 5:] = NOTHING
    torch.testing.assert_close(model(ids)[:, :5], model(changed)[:, :5])
    assert not torch.allclose(model(ids)[:, 5:], model(changed)[:, 5:])


def test_log_probs_by_hand():
    model, ids = small(), table([[3, 1, 4, 1], [5, 9]])
    logp = log_probs(model, ids)
    alone = model(ids[1:, :1]).log_softmax(dim=-1)[0, 0, 9]
    torch.testing.assert_close(logp[1], torch.stack([alone, 0 * alone, 0 * alone]))
    assert (logp[0] < 0).all()
    cool = (model(ids[1:, :1]) / 0.5).log_softmax(dim=-1)[0, 0, 9]
    torch.testing.assert_close(log_probs(model, ids, temperature=0.5)[1, 0], cool)
    logp.sum().backward()
    assert all(weight.grad.abs().sum() > 0 for weight in model.parameters())


def test_the_learning_rate_rises_and_falls():
    rates = [learning_rate(step, 200, 0.01) for step in range(200)]
    assert rates[0] == pytest.approx(0.01 / 50)
    assert max(rates) == pytest.approx(0.01, rel=0.15)
    assert rates.index(max(rates)) in range(40, 51)
    assert 0 < rates[-1] < 1e-5


def test_training_lowers_the_loss_and_tells():
    torch.manual_seed(0)
    model, told = LanguageModel(11, d=16, layers=1, heads=2), []
    rows = torch.arange(8)[:, None].add(torch.arange(6)).remainder(11)  # counting
    losses = train(model, lambda step: rows, 200, watch=lambda *now: told.append(now))
    assert told == list(enumerate(losses))
    assert losses[0] > 2 and losses[-1] < 0.1


def test_nothing_is_no_target():
    torch.manual_seed(0)
    first, second = LanguageModel(11, d=16), LanguageModel(11, d=16)
    second.load_state_dict(first.state_dict())
    short, long = table([[1, 2, 3]]), table([[1, 2, 3, NOTHING, NOTHING]])
    assert train(first, lambda step: short, 3) == pytest.approx(
        train(second, lambda step: long, 3), rel=1e-4
    )


def test_the_sampler_by_hand():
    logits = torch.tensor([[0.5, 0.1, 0.4]]).log()
    near = torch.testing.assert_close
    near(next_probabilities(logits), logits.exp())
    near(next_probabilities(logits, temperature=0), torch.tensor([[1.0, 0.0, 0.0]]))
    near(next_probabilities(logits, 0.5), torch.tensor([[0.25, 0.01, 0.16]]) / 0.42)
    near(next_probabilities(logits, top_k=2), torch.tensor([[5, 0, 4]]) / 9)
    near(next_probabilities(logits, top_p=0.45), torch.tensor([[1.0, 0.0, 0.0]]))
    near(next_probabilities(logits, top_p=0.55), torch.tensor([[5, 0, 4]]) / 9)
    near(next_probabilities(logits, top_k=2, top_p=0.55), torch.tensor([[1.0, 0.0, 0.0]]))
    near(next_probabilities(logits, top_k=9, top_p=1.0), logits.exp())


def test_samples_come_from_the_models_distribution():
    model = small(vocab_size=5)
    start = torch.tensor([[2]])
    torch.manual_seed(1)
    drawn = sample(model, start.expand(20_000, 1), 2, end=9)
    seen = Counter(map(tuple, drawn[:, 1:].tolist()))
    everything = torch.tensor([[2, a, b] for a in range(5) for b in range(5)])
    expected = log_probs(model, everything).sum(dim=1).exp()
    assert expected.sum().item() == pytest.approx(1)
    for row, p in zip(everything[:, 1:].tolist(), expected.tolist(), strict=True):
        assert abs(seen[tuple(row)] / 20_000 - p) < 5 * math.sqrt(p / 20_000)


def test_after_the_end_there_is_nothing():
    model = small(vocab_size=5)
    drawn = sample(model, torch.full((50, 1), 2), 12, end=3, generator=torch.manual_seed(0))
    for row in drawn[:, 1:].tolist():
        if 3 in row:
            after = row[row.index(3) + 1 :]
            assert after == [NOTHING] * len(after)
        assert NOTHING not in row[: row.index(3) if 3 in row else None]
        assert 3 in row or len(row) == 12
    alone = sample(model, torch.full((1, 1), 2), 1000, end=3, generator=torch.manual_seed(0))
    assert alone.shape[1] < 1001 and alone[0, -1] == 3


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_model_in_half_precision_answers_in_it(dtype):
    model = LanguageModel(20, d=32).to(dtype)
    ids = torch.tensor([[1, 2, 3]])
    assert model(ids).dtype == dtype
    torch.testing.assert_close(model(ids).float(), model.float()(ids), rtol=0.05, atol=0.05)


def test_prompts_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="sample each alone"):
        sample(LanguageModel(20, d=32), table([[1], [1, 2, 3]]), 4)
