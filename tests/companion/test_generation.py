"""Sampling, greedy decoding and beam search."""

import itertools

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.generation import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from book.language_model import next_probabilities
from companion.generation import (
    beam_search,
    generate,
    greedy_decode,
    next_token_probabilities,
    sampling,
    stream,
)
from companion.generation.sampling import drawn, known_to_be_done
from companion.models import GPT, GPTConfig, Transformer, TransformerConfig
from companion.nn import EncoderBlock, FeedForward, MultiHeadAttention, RotaryEmbedding
from tests.companion.models.test_peers import carried_over, gpt2_state
from tests.companion.models.test_properties import gpts
from tests.companion.test_validation import refused

SIZES = {"vocab_size": 17, "d_model": 12, "num_layers": 2, "num_heads": 6, "d_ff": 7, "max_len": 29}


def ready(model, embedding, block):
    """In float64, with large weights and a head of its own: a tied one repeats the last token."""
    model.head.weight = torch.nn.Parameter(model.head.weight.clone())
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            std = {"token_embedding.weight": embedding, "head.weight": 0.6}.get(name, block)
            torch.nn.init.normal_(parameter, std=std)
    return model.double()


def gpt(**changes):
    return ready(GPT(GPTConfig(**SIZES | changes)), embedding=0.6, block=0.6)


def transformer(**changes):
    config = TransformerConfig(**SIZES | {"norm_first": True} | changes)
    return ready(Transformer(config), embedding=0.3, block=2.0)


def draw_from(seed):
    return torch.Generator().manual_seed(seed)


# The distribution of the next token.


def probabilities(*rows, **kwargs):
    return next_token_probabilities(torch.tensor(rows).log(), **kwargs)


def test_what_is_left_of_a_distribution():
    row = (0.125, 0.5, 0.0625, 0.25, 0.0625)
    for kwargs, expected in (
        ({}, row),
        ({"top_k": 1}, (0, 1, 0, 0, 0)),
        ({"top_k": 2}, (0, 2 / 3, 0, 1 / 3, 0)),
        ({"top_k": 99}, row),
        ({"top_p": 0.01}, (0, 1, 0, 0, 0)),
        ({"top_p": 0.49}, (0, 1, 0, 0, 0)),
        ({"top_p": 0.51}, (0, 2 / 3, 0, 1 / 3, 0)),
        ({"top_p": 0.74}, (0, 2 / 3, 0, 1 / 3, 0)),
        ({"top_p": 0.76}, (1 / 7, 4 / 7, 0, 2 / 7, 0)),
        ({"top_p": 1.0}, row),
        ({"top_k": 2, "top_p": 0.6}, (0, 1, 0, 0, 0)),  # of what top_k left, it has 2/3
        ({"min_p": 0.3}, (0, 2 / 3, 0, 1 / 3, 0)),
        ({"min_p": 0.2}, (1 / 7, 4 / 7, 0, 2 / 7, 0)),
        ({"top_k": 3, "min_p": 0.6}, (0, 1, 0, 0, 0)),
        ({"temperature": 0}, (0, 1, 0, 0, 0)),
        ({"temperature": 0.5}, (4 / 86, 64 / 86, 1 / 86, 16 / 86, 1 / 86)),  # squares
        ({"temperature": 1e-30}, (0, 1, 0, 0, 0)),
        ({"temperature": 1e30}, (0.2, 0.2, 0.2, 0.2, 0.2)),
    ):
        torch.testing.assert_close(probabilities(row, **kwargs)[0], torch.tensor(expected).float())


@pytest.mark.parametrize("cut", [next_token_probabilities, next_probabilities])
@pytest.mark.parametrize("shares", [(5, 3, 1, 1), (4, 3, 2, 1), (1, 1, 1, 1, 1, 1, 1, 1, 1, 1)])
def test_top_p_that_is_reached_exactly_takes_no_token_more(cut, shares):
    logits = torch.tensor([shares]).log()
    for count in range(1, len(shares)):
        assert (cut(logits, top_p=sum(shares[:count]) / 10) > 0).sum() == count
    assert (cut(logits, top_p=1e-9) > 0).sum() == 1


def test_a_token_that_is_exactly_min_p_times_as_probable_is_kept():
    for shares in ((0.4, 0.2, 0.2, 0.2), (0.6, 0.3, 0.05, 0.05), (0.5, 0.25, 0.125, 0.125)):
        kept = probabilities(shares, min_p=0.5) > 0
        assert kept[0].tolist() == [2 * share >= max(shares) for share in shares]


def test_equally_likely_tokens_are_cut_to_k_too():
    kept = next_token_probabilities(torch.zeros(1, 17), top_k=5)[0]
    assert sorted(kept.tolist()) == pytest.approx([0] * 12 + [0.2] * 5)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("top_k", [None, 3])
@pytest.mark.parametrize("top_p", [None, 0.2, 0.8])
def test_the_distribution_equals_transformers(temperature, top_k, top_p):
    logits = 3 * torch.randn(101, 17, dtype=torch.float64)
    expected = TemperatureLogitsWarper(temperature)(None, logits)
    if top_k:
        expected = TopKLogitsWarper(top_k)(None, expected)
    if top_p:
        expected = TopPLogitsWarper(top_p)(None, expected)
    found = next_token_probabilities(logits, temperature=temperature, top_k=top_k, top_p=top_p)
    torch.testing.assert_close(found, expected.softmax(-1))


@pytest.mark.parametrize("kwargs", [{}, {"temperature": 0.5, "top_k": 7}, {"top_p": 0.6}])
def test_tokens_are_drawn_as_often_as_they_are_probable(kwargs):
    model, draws = gpt(), 20_000
    prompt = torch.tensor([[5, 3, 11]])
    with torch.no_grad():
        expected = next_token_probabilities(model.eval()(prompt)[:, -1], **kwargs)[0]
    drawn = generate(model, prompt.expand(draws, 3), 1, **kwargs, generator=draw_from(1))[:, -1]
    counts = drawn.bincount(minlength=17).double()
    assert (counts[expected == 0] == 0).all()
    likely = expected > 0
    chi_square = ((counts - draws * expected) ** 2 / (draws * expected))[likely].sum()
    assert chi_square < 2.5 * likely.sum()  # its mean is one less than the number of tokens


# Cached equals uncached.


def prompts_of_mixed_lengths():
    tokens, real = torch.randint(3, 17, (5, 7)), torch.ones(5, 7, dtype=torch.bool)
    for row, missing in enumerate((0, 2, 6, 3, 1)):
        real[row, :missing] = False
    return tokens * real, real


@gpts
@pytest.mark.parametrize("temperature", [0, 1.0])
def test_cached_equals_uncached_token_for_token(changes, temperature):
    model, (tokens, real) = gpt(**changes), prompts_of_mixed_lengths()
    for prompts in ({}, {"prompt_mask": real}):
        for eos_id in (None, 4):
            cached, uncached = (
                generate(
                    model,
                    tokens,
                    22,
                    temperature=temperature,
                    eos_id=eos_id,
                    use_cache=use_cache,
                    generator=draw_from(2),
                    **prompts,
                )
                for use_cache in (True, False)
            )
            assert cached.shape == (5, 29)
            assert torch.equal(cached, uncached)
            assert torch.equal(cached[:, :7], tokens)


@gpts
def test_a_prompt_is_continued_as_if_it_were_alone(changes):
    model, (tokens, real) = gpt(**changes), prompts_of_mixed_lengths()
    together = generate(model, tokens, 22, temperature=0, prompt_mask=real)
    for row in range(5):
        alone = generate(model, tokens[row, real[row]][None], 22, temperature=0)
        assert torch.equal(together[row, 7:], alone[0, -22:])
    assert not torch.equal(together, generate(model, tokens, 22, temperature=0))


def test_greedy_equals_transformers():
    config = GPT2Config(vocab_size=17, n_embd=12, n_head=3, n_inner=7, n_positions=29, n_layer=2)
    sizes = SIZES | {"num_heads": 3}
    ours, theirs = carried_over(GPT(GPTConfig(**sizes)), GPT2LMHeadModel(config), gpt2_state)
    tokens, real = prompts_of_mixed_lengths()
    expected = theirs.generate(
        tokens,
        attention_mask=real.long(),
        max_new_tokens=22,
        do_sample=False,
        pad_token_id=0,
        eos_token_id=None,
    )
    assert torch.equal(generate(ours, tokens, 22, temperature=0, prompt_mask=real), expected)


def test_the_generator_alone_decides():
    model, tokens = gpt(), torch.randint(3, 17, (3, 2))
    first = generate(model, tokens, 20, generator=draw_from(3))
    torch.manual_seed(5)
    state = torch.get_rng_state()
    assert torch.equal(generate(model, tokens, 20, generator=draw_from(3)), first)
    assert torch.equal(torch.get_rng_state(), state)
    assert not torch.equal(generate(model, tokens, 20, generator=draw_from(4)), first)
    again = generate(model, tokens, 20)
    assert not torch.equal(torch.get_rng_state(), state)
    torch.set_rng_state(state)
    assert torch.equal(generate(model, tokens, 20), again)


# The end of a row.


def calls_of(model):
    """A list that grows by one with every call of the model."""
    calls = []
    model.register_forward_hook(lambda *_: calls.append(None))
    return calls


def after(row, eos_id):
    """What follows the first eos_id of a row (None if there is none)."""
    row = row.tolist()
    return row[row.index(eos_id) + 1 :] if eos_id in row else None


@pytest.mark.parametrize(("pad_id", "fill"), [(0, 0), (9, 9), (None, 4)])
def test_an_ended_row_is_filled_up(pad_id, fill):
    model, tokens = gpt(pad_id=pad_id), torch.randint(5, 17, (20, 2))
    free, written = (
        generate(model, tokens, 20, temperature=4.0, eos_id=eos_id, generator=draw_from(0))
        for eos_id in (None, 4)
    )
    assert written.shape == (20, 22)
    rests = [after(row[2:], 4) for row in written]
    assert any(rests) and None in rests  # some rows ended, some did not
    for row, rest, unended in zip(written, rests, free, strict=True):
        stop = 22 - len(rest or ())
        assert torch.equal(row[:stop], unended[:stop])
        assert set(rest or ()) <= {fill}


def test_a_row_ends_at_the_first_of_several_tokens():
    model, tokens = gpt(pad_id=None), torch.randint(5, 17, (20, 2))
    free = generate(model, tokens, 20, temperature=4.0, generator=draw_from(0))[:, 2:]
    ends = (4, 11)
    written = generate(model, tokens, 20, temperature=4.0, eos_id=ends, generator=draw_from(0))[
        :, 2:
    ]
    lasts = set()
    for row, unended in zip(written.tolist(), free.tolist(), strict=True):
        length = next((n for n, token in enumerate(unended, 1) if token in ends), 20)
        assert row == unended[:length] + [4] * (20 - length)  # the first of them fills up
        lasts.add(unended[length - 1])
    assert lasts >= set(ends)


def test_nothing_is_computed_once_all_rows_have_ended():
    model = gpt()
    with torch.no_grad():
        model.head.weight[4] = 100 * model.head.weight[4]  # sometimes much more likely than others
    calls = calls_of(model)
    written = generate(model, torch.tensor([[5], [9]]), 28, eos_id=4, generator=draw_from(0))
    ends = [row.tolist().index(4) for row in written]
    assert len(calls) == max(ends) < 28
    assert (written[:, max(ends) + 1 :] == 0).all()


def test_only_the_last_token_of_a_prompt_is_read_out():
    model, prompts = gpt().eval(), torch.randint(17, (3, 8))
    with FlopCounterMode(display=False) as everywhere, torch.no_grad():
        model(prompts)
    with FlopCounterMode(display=False) as written:
        generate(model, prompts, 1)
    head = 2 * 12 * 17  # operations for one token
    assert everywhere.get_total_flops() - written.get_total_flops() == 3 * 7 * head


def test_an_eos_in_the_prompt_ends_nothing():
    model, tokens = gpt(), torch.tensor([[4, 5, 4]])
    written = generate(model, tokens, 5, eos_id=4, generator=draw_from(0))
    assert written[0, 3] == generate(model, tokens, 5, generator=draw_from(0))[0, 3]


def test_no_new_tokens():
    tokens = torch.randint(3, 17, (3, 29))
    assert torch.equal(generate(gpt(), tokens, 0), tokens)


# The model is left as it was, and what it wrote is like any other tensor.


def test_what_was_written_can_be_trained_on():
    model, tokens = gpt(), torch.randint(3, 17, (3, 5))
    model(generate(model, tokens, 9)).sum().backward()
    model, source = transformer(), torch.randint(3, 17, (3, 5))
    for write in (greedy_decode, beam_search):
        model(source, write(model, source, 11)).sum().backward()


def test_every_mode_is_put_back_and_dropout_does_not_act():
    model, tokens = gpt(dropout=0.5).train(), torch.randint(3, 17, (3, 5))
    model.blocks[0].eval()
    modes = [module.training for module in model.modules()]
    written = [generate(model, tokens, 9, temperature=0) for _ in range(2)]
    assert torch.equal(*written) and not written[0].requires_grad
    assert [module.training for module in model.modules()] == modes
    with pytest.raises(ValueError):
        generate(model, tokens + 17, 9)
    assert [module.training for module in model.modules()] == modes
    assert torch.is_grad_enabled()

    model, source = transformer(dropout=0.5).train(), torch.randint(3, 17, (3, 5))
    for write in (greedy_decode, beam_search):
        assert torch.equal(write(model, source, 11), write(model, source, 11))
        assert model.training and model.decoder_blocks[1].dropout.training


def test_no_gradient_is_recorded():
    recorded = []
    for write, model in ((generate, gpt()), (greedy_decode, transformer())):
        model.head.register_forward_hook(lambda *_: recorded.append(torch.is_grad_enabled()))
        write(model, torch.randint(3, 17, (3, 5)), 4)
    beam_search(model, torch.randint(3, 17, (3, 5)), 4)
    assert recorded and not any(recorded)


# Encoder-decoders.


def test_greedy_decoding_is_the_best_token_at_every_step():
    model = transformer()
    source = torch.randint(3, 17, (50, 7))
    source[1::2, 4:] = 0
    target = greedy_decode(model, source, 23)
    assert target.shape == (50, 23)
    model.eval()
    logits = model(source, target)
    ended = 0
    for row, best in zip(target.tolist(), logits.argmax(-1).tolist(), strict=True):
        stop = row.index(2) if 2 in row else 22
        ended += 2 in row
        assert row[0] == 1 and row[1 : stop + 1] == best[:stop]
        assert not any(row[stop + 1 :])
    assert 0 < ended < 50


def scores(model, source, targets, alpha):
    """Log-probabilities of targets up to their ends, divided by the length penalty: (B,)."""
    with torch.no_grad():
        logits = model.eval()(source, targets[:, :-1])
    chosen = logits.log_softmax(-1).gather(-1, targets[:, 1:, None])[..., 0]
    ends = targets[:, 1:] == 2
    counted = (ends.cumsum(1) - ends.long()) == 0  # up to eos_id, that included
    return (chosen * counted).sum(1) / ((5 + counted.sum(1)) / 6) ** alpha


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
def test_a_beam_that_prunes_nothing_finds_the_optimum(alpha):
    endings = torch.tensor(
        [
            (1, *words, 2, *[0] * (3 - len(words)))
            for length in range(4)
            for words in itertools.product((0, 1, 3, 4), repeat=length)
        ]
    )
    greedy_was_best = []
    for seed in range(5):
        torch.manual_seed(seed)
        model, source = transformer(vocab_size=5, max_len=5), torch.randint(3, 5, (2, 7))
        source[1, 5:] = 0
        found = beam_search(model, source, 5, beam_size=5**4, length_penalty=alpha)
        for row, best in zip(source, found, strict=True):
            of_endings = scores(model, row.expand(len(endings), 7), endings, alpha)
            assert torch.equal(best, endings[of_endings.argmax()])
        greedy_was_best.append(torch.equal(found, greedy_decode(model, source, 5)))
    assert not all(greedy_was_best)


def test_a_beam_of_one_is_greedy():
    for seed in range(5):
        torch.manual_seed(seed)
        model, source = transformer(), torch.randint(3, 17, (7, 5))
        for alpha in (0.0, 0.6, 3.0):
            found = beam_search(model, source, 13, beam_size=1, length_penalty=alpha)
            assert torch.equal(found, greedy_decode(model, source, 13))


def test_a_wider_beam_finds_better_targets_on_the_whole():
    model, source = transformer(), torch.randint(3, 17, (50, 5))
    totals = [
        scores(model, source, beam_search(model, source, 13, beam_size=beam_size), 0.6).sum()
        for beam_size in (1, 3, 11)
    ]
    assert totals[0] < totals[1] < totals[2]


def test_a_sentence_is_translated_as_if_it_were_alone():
    model, source = transformer(), torch.randint(3, 17, (11, 7))
    source[3:, 4:] = 0
    together = beam_search(model, source, 13, beam_size=3)
    assert torch.equal(beam_search(model, source, 13, beam_size=3), together)
    for row, found in zip(source, together, strict=True):
        alone = row[row != 0][None]
        assert torch.equal(beam_search(model, alone, 13, beam_size=3)[0], found)


def test_the_length_penalty_prefers_longer_targets():
    model, source = transformer(), torch.randint(3, 17, (50, 5))
    lengths = []
    for alpha in (0.0, 1.0, 4.0):
        found = beam_search(model, source, 13, beam_size=7, length_penalty=alpha)
        lengths.append((found != 0).sum().item())
    assert lengths[0] < lengths[1] < lengths[2]


class Scripted(torch.nn.Module):
    """An encoder-decoder whose next token depends on the last one only, by a table."""

    def __init__(self, table, max_len=6):
        super().__init__()
        self.table = torch.tensor(table).log()
        sizes = SIZES | {"vocab_size": len(table), "max_len": max_len}
        self.config = TransformerConfig(**sizes)
        self.decoder_blocks = []

    def encode(self, source_ids):
        return torch.zeros(*source_ids.shape, 1)

    def decode(self, target_ids, memory, source_ids, *, caches):
        return self.table[target_ids]


def test_a_garden_path_by_hand():
    # Greedy takes 3 (.6), after which everything is unlikely; 4 (.4) is followed by a sure end.
    table = [[0.2] * 5, [0, 0, 0, 0.6, 0.4], [0.2] * 5, [0, 0, 0.3, 0.3, 0.4], [0, 0, 1, 0, 0]]
    model, source = Scripted(table), torch.tensor([[3]])
    assert greedy_decode(model, source, 6).tolist() == [[1, 3, 4, 2, 0, 0]]  # .6 * .4 * 1 = .24
    assert beam_search(model, source, 6, beam_size=1).tolist() == [[1, 3, 4, 2, 0, 0]]
    found = beam_search(model, source, 6, beam_size=2, length_penalty=0)
    assert found.tolist() == [[1, 4, 2, 0, 0, 0]]  # .4 * 1


def test_a_finished_hypothesis_is_kept_while_others_go_on():
    # 1 4 2 ends first with .4 * 1; 1 3 3 3 ... looks better for long, but ends with .6 * .9^n * .1.
    table = [[0.2] * 5, [0, 0, 0, 0.6, 0.4], [0.2] * 5, [0, 0, 0.1, 0.9, 0], [0, 0, 1, 0, 0]]
    for beam_size in (2, 3, 4):
        found = beam_search(Scripted(table), torch.tensor([[3]]), 6, beam_size=beam_size)
        assert found.tolist() == [[1, 4, 2, 0, 0, 0]]


def test_without_any_ending_the_most_probable_beginning_is_returned():
    table = [[0.2] * 5, [0, 0, 0, 0.4, 0.6], [0.2] * 5, [0, 0, 0, 0.8, 0.2], [0, 0, 0, 0.5, 0.5]]
    found = beam_search(Scripted(table), torch.tensor([[3]]), 4, beam_size=4, length_penalty=0)
    assert found.tolist() == [[1, 3, 3, 3]]  # .4 * .8 * .8 = .256, more than .6 * .5 * .8
    assert greedy_decode(Scripted(table), torch.tensor([[3]]), 4)[0, :2].tolist() == [1, 4]


@pytest.mark.parametrize("decode", [greedy_decode, beam_search])
def test_steps_behind_the_end_of_all_change_nothing(decode, monkeypatch):
    """As on a GPU, which is asked at every 16th token only whether all have ended."""
    sources = torch.randint(3, 17, (30, 1, 5))
    model = transformer()
    calls = []
    model.decoder_blocks[0].register_forward_hook(lambda *_: calls.append(None))
    found = [decode(model, source, 28) for source in sources]
    few = len(calls)
    monkeypatch.setattr("companion.generation.search.known_to_be_done", lambda *_: False)
    assert torch.equal(torch.stack(found), torch.stack([decode(model, x, 28) for x in sources]))
    assert len(calls) - few == 30 * 27 > few


def test_rows_are_not_known_to_be_done_where_to_ask_is_to_wait():
    done = torch.tensor([True, True])
    assert known_to_be_done(done, 3) and not known_to_be_done(torch.tensor([True, False]), 3)
    assert not known_to_be_done(done.to("meta"), 16)


def test_targets_of_length_one():
    model, source = transformer(), torch.randint(3, 17, (3, 5))
    assert greedy_decode(model, source, 1).tolist() == [[1]] * 3
    assert beam_search(model, source, 1).tolist() == [[1]] * 3


# Bad input.


def test_what_generate_refuses():
    model, tokens = gpt(), torch.randint(3, 17, (2, 5))

    def call(*args, **kwargs):
        return lambda: generate(model, *args, **kwargs)

    refused(ValueError, call(tokens, 5, temperature=-1), "temperature", "-1", "0 (greedy)")
    refused(ValueError, call(tokens, 5, temperature=float("nan")), "temperature", "nan")
    refused(TypeError, call(tokens, 5, temperature="1"), "temperature", "number", "'1'")
    refused(TypeError, call(tokens, 5, top_p="1"), "top_p", "number", "'1'")
    refused(ValueError, call(tokens, 5, top_k=0), "top_k", "0")
    refused(TypeError, call(tokens, 5, top_k=0.9), "top_k", "0.9")
    refused(ValueError, call(tokens, 5, top_p=0.0), "top_p", "0.0")
    refused(ValueError, call(tokens, 5, top_p=1.5), "top_p", "1.5")
    refused(ValueError, call(tokens, 5, min_p=-0.1), "min_p", "-0.1")
    refused(ValueError, call(tokens, -1), "max_new_tokens", "-1")
    refused(TypeError, call(tokens, 5.0), "max_new_tokens", "5.0")
    refused(ValueError, call(tokens, 25), "30", "max_len = 29", "learned")
    assert generate(model, tokens, 24).shape == (2, 29)
    assert generate(gpt(positions="rotary"), tokens, 25).shape == (2, 30)
    refused(ValueError, call(tokens[0], 5), "(B, T)", "(5,)")
    refused(TypeError, call(tokens.float(), 5), "torch.float32")
    refused(ValueError, call(tokens[:, :0], 5), "at least one token")
    refused(ValueError, call(tokens + 17, 5), "[0, 17)", "tokenizer")
    refused(ValueError, call(tokens, 5, eos_id=17), "eos_id", "17")
    refused(ValueError, call(tokens, 5, eos_id=-1), "eos_id", "-1")
    refused(TypeError, call(tokens, 5, eos_id=3.0), "eos_id", "int", "3.0")
    refused(ValueError, call(tokens, 5, eos_id=[3, 17]), "eos_id", "17")
    refused(TypeError, call(tokens, 5, eos_id=torch.tensor([3])), "eos_id", "int")
    linear = torch.nn.Linear(3, 5)
    refused(TypeError, lambda: generate(linear, tokens, 5), "a GPT is needed", "Linear")
    refused(TypeError, lambda: next_token_probabilities([[0.5]]), "logits", "Tensor", "list")


def test_prompts_that_are_not_padded_on_the_left_are_refused():
    model, tokens = gpt(), torch.randint(3, 17, (2, 3))

    def call(mask):
        return lambda: generate(model, tokens, 5, prompt_mask=mask)

    for row in ([1, 1, 0], [1, 0, 1], [0, 0, 0]):
        mask = torch.tensor([[1, 1, 1], row]) == 1
        refused(ValueError, call(mask), "prompt_mask", "left")
    refused(TypeError, call(torch.ones(2, 3)), "prompt_mask", "torch.float32", "== 1")
    refused(ValueError, call(torch.ones(2, 4) == 1), "(2, 4)", "(2, 3)")
    refused(TypeError, call([[1]]), "prompt_mask", "list")


@pytest.mark.parametrize("temperature", [0, 1])
def test_a_model_that_has_diverged_writes_nothing(temperature):
    writer, translator = gpt(), transformer()
    for model in (writer, translator):
        model.token_embedding.weight.data[5] = torch.nan
    overflowing = transformer()
    overflowing.head.register_forward_hook(lambda head, inputs, logits: 1e308 * logits.abs() * 9)
    ids = torch.tensor([[3, 4], [3, 5]])
    for call in (
        lambda: generate(writer, ids, 3, temperature=temperature),
        lambda: next(stream(writer, ids, 3, temperature=temperature)),
        lambda: greedy_decode(translator, ids, 4),
        lambda: beam_search(translator, ids, 4, beam_size=2),
        lambda: next_token_probabilities(torch.tensor([[1.0, torch.inf]])),
        lambda: beam_search(overflowing, ids, 4, beam_size=2),
    ):
        refused(FloatingPointError, call, "logits are NaN", "diverged")
    assert generate(writer, ids[:1], 1).shape == (1, 3)  # nothing of token 5 is read


def test_what_decoding_refuses():
    model, source = transformer(), torch.randint(3, 17, (2, 5))
    for write in (greedy_decode, beam_search):
        refused(ValueError, lambda w=write: w(model, source, 30), "max_len = 30", "model, 29")
        refused(ValueError, lambda w=write: w(model, source, 0), "max_len", "0")
        refused(ValueError, lambda w=write: w(model, source + 17, 5), "[0, 17)")
        refused(ValueError, lambda w=write: w(model, source[0], 5), "source_ids", "(5,)")
        refused(TypeError, lambda w=write: w(gpt(), source, 5), "encoder-decoder", "GPT")
    refused(ValueError, lambda: beam_search(model, source, 5, beam_size=0), "beam_size", "0")
    refused(
        ValueError, lambda: beam_search(model, source, 5, length_penalty=-1.0), "-1.0", "length_pen"
    )
    wrongs = ((float("nan"), ValueError), (float("inf"), ValueError), ("0.6", TypeError))
    for wrong, error in wrongs:
        refused(
            error, lambda w=wrong: beam_search(model, source, 5, length_penalty=w), "length_penalty"
        )
    refused(
        TypeError,
        lambda: generate(model, source, 5),
        "a GPT is needed",
        "Transformer",
        "beam_search",
    )


# What `generate` writes is what the model writes, whatever was done to it.


def same_with_and_without_a_cache(model, before):
    prompts = before[:, :5]
    after = generate(model, prompts, 20, temperature=0)
    assert not torch.equal(before, after)
    assert torch.equal(after, generate(model, prompts, 20, temperature=0, use_cache=False))


def test_a_model_in_which_something_was_replaced_is_asked_itself():
    for part in ("self_attention", "dropout"):
        model = gpt()
        before = generate(model, torch.randint(1, 17, (4, 5)), 20, temperature=0)
        layer = getattr(model.blocks[1], part)
        forward = layer.forward
        layer.forward = lambda x, *args, _f=forward, **kwargs: _f(-x, *args, **kwargs)
        same_with_and_without_a_cache(model, before)


@pytest.mark.parametrize(
    "part", [GPT, EncoderBlock, MultiHeadAttention, FeedForward, RotaryEmbedding]
)
def test_a_class_that_was_changed_is_asked_itself(part, monkeypatch):
    model = gpt(positions="rotary")
    before = generate(model, torch.randint(1, 17, (4, 5)), 20, temperature=0)
    name = "rotation" if part is RotaryEmbedding else "forward"
    plain = getattr(part, name)

    def contrary(self, *args, **kwargs):
        found = plain(self, *args, **kwargs)
        if isinstance(found, tuple):
            return (
                type(found)((-found[0], *found[1:]))
                if type(found) is tuple
                else found._replace(sin=0 * found.sin)
            )
        return -found

    monkeypatch.setattr(part, name, contrary)
    same_with_and_without_a_cache(model, before)


def test_a_hook_on_all_modules_is_called_at_every_step():
    model, prompts, calls = gpt(), torch.randint(1, 17, (1, 5)), []
    before = generate(model, prompts, 20, temperature=0)

    def off(module, inputs, output):
        if isinstance(module, FeedForward):
            calls.append(len(calls))
            return 0 * output
        return None

    hook = torch.nn.modules.module.register_module_forward_hook(off)
    try:
        same_with_and_without_a_cache(model, before)
    finally:
        hook.remove()
    assert len(calls) == 2 * 2 * 20


def test_a_subclass_is_asked_itself():
    class Contrary(GPT):
        def forward(self, *args, **kwargs):
            return -super().forward(*args, **kwargs)

    class Flat(GPT):
        def forward(self, token_ids, *args, **kwargs):
            hidden = self.hidden_states(token_ids, *args, **kwargs)
            return self.head(hidden.flatten(0, 1)).unflatten(0, token_ids.shape)

    class Named(GPT):
        def forward(self, *args, **kwargs):
            return self.head(input=self.hidden_states(*args, **kwargs))

    for kind in (Contrary, Flat, Named):
        model = ready(kind(GPTConfig(**SIZES)), embedding=0.6, block=0.6)
        prompts = torch.randint(1, 17, (4, 5))
        written = generate(model, prompts, 20, temperature=0)
        assert torch.equal(written, generate(model, prompts, 20, temperature=0, use_cache=False))


# Compiled.

# Torch's compiler, imported for the graphs that its steps may be, uses what torch deprecates.
imports_the_compiler = pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated")


def compile_all(model, backend="eager"):
    return torch.compile(model, backend=backend, fullgraph=True)


def compile_in_place(model, backend):
    model.compile(backend=backend, fullgraph=True)
    return model


def compile_forward(model, backend):
    model.forward = torch.compile(model.forward, backend=backend, fullgraph=True)
    return model


def compile_a_block(model, backend):
    model.blocks[1].compile(backend=backend, fullgraph=True)
    return model


ways_to_compile = pytest.mark.parametrize(
    "compiled", [compile_all, compile_in_place, compile_forward, compile_a_block]
)


def graphs_of(run):
    """How many graphs torch compiles in a run, and what the run returns."""
    before = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    result = run()
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] - before, result


@pytest.mark.long
@gpts
@imports_the_compiler
def test_a_compiled_model_writes_the_same_tokens_and_is_compiled_once(changes):
    model, (tokens, real) = gpt(**changes), prompts_of_mixed_lengths()
    compiled = compile_all(model)
    for options in ({"temperature": 0}, {"prompt_mask": real, "eos_id": 4}):
        torch._dynamo.reset()
        expected = generate(model, tokens, 20, generator=draw_from(2), **options)
        for graphs in (1, 0):  # all steps of a call are one, and so are those of the next call
            found, written = graphs_of(
                lambda o=options: generate(compiled, tokens, 20, generator=draw_from(2), **o)
            )
            assert torch.equal(written, expected)
            assert found == graphs
        # Nor does a text of another length need its own, where it has room in the same caches.
        shorter = graphs_of(lambda o=options: generate(compiled, tokens, 15, **o))
        assert shorter[0] == 0


@ways_to_compile
@imports_the_compiler
def test_what_is_compiled_runs_so_from_the_second_token_on(compiled):
    model, prompts, graphs, runs = gpt(), torch.randint(1, 17, (2, 5)), [], []

    def backend(graph, inputs):
        graphs.append(graph)
        return lambda *inputs: runs.append(graph) or graph(*inputs)

    expected = generate(model, prompts, 9, temperature=0)
    torch._dynamo.reset()
    model = compiled(model, backend)
    assert torch.equal(generate(model, prompts, 9, temperature=0), expected)
    assert (len(graphs), len(runs)) == (1, 8)
    assert torch.equal(generate(model, prompts, 9, temperature=0, use_cache=False), expected)
    assert len(runs) == 8  # its lengths change: nothing is compiled


@imports_the_compiler
def test_two_texts_of_a_compiled_model_do_not_share_their_caches():
    model, prompts = gpt(), torch.randint(1, 17, (2, 5))
    expected = generate(model, prompts, 9, temperature=0)[:, 5:]
    other = generate(model, prompts.flip(1), 9, temperature=0)[:, 5:]
    compiled = compile_all(model)
    for _ in range(2):
        both = zip(
            stream(compiled, prompts, 9, temperature=0),
            stream(compiled, prompts.flip(1), 9, temperature=0),
            strict=True,
        )
        first, second = zip(*((x[0], y[0]) for x, y in both), strict=True)
        assert torch.equal(torch.stack(first, 1), expected)
        assert torch.equal(torch.stack(second, 1), other)


@imports_the_compiler
def test_the_caches_of_the_last_call_serve_the_next_and_leave_nothing_behind():
    model, prompts = gpt(), torch.randint(1, 17, (2, 5))
    compiled = compile_all(model)

    def written_and_caches():
        return generate(compiled, prompts, 9, temperature=0), sampling._kept[compiled][1]

    expected, caches = written_and_caches()
    where = caches[1].value.data_ptr()
    with torch.inference_mode():
        caches[1].value.fill_(torch.nan)  # as a model that has diverged leaves it
    written, caches = written_and_caches()
    assert torch.equal(written, expected) and caches[1].value.data_ptr() == where
    assert written_and_caches()[1] is caches
    model.float()  # needs others
    assert written_and_caches()[1] is not caches


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@imports_the_compiler
def test_on_a_gpu_the_compiled_step_is_a_graph_that_is_replayed(monkeypatch):
    """Even where prompts have other lengths, and between two texts that are written at once."""
    replays, replay = [], torch.cuda.CUDAGraph.replay
    monkeypatch.setattr(
        torch.cuda.CUDAGraph, "replay", lambda graph: replays.append(graph) or replay(graph)
    )
    model, (prompts, real) = gpt().cuda(), prompts_of_mixed_lengths()
    prompts, real = prompts.cuda(), real.cuda()
    compiled = torch.compile(model, mode="reduce-overhead", fullgraph=True)
    for options in ({}, {"prompt_mask": real}):
        expected = generate(model, prompts, 20, temperature=0, **options)
        for _ in range(3):  # torch warms up in the first, and records in the second
            replays.clear()
            assert torch.equal(generate(compiled, prompts, 20, temperature=0, **options), expected)
        assert len(replays) == 19
    shorter = generate(model, prompts[:, 1:], 20, temperature=0)
    assert torch.equal(generate(compiled, prompts[:, 1:], 20, temperature=0), shorter)
    both = zip(
        stream(compiled, prompts, 20, temperature=0),
        stream(compiled, prompts[:, 1:], 20, temperature=0),
        strict=True,
    )
    first, second = zip(*((x[0], y[0]) for x, y in both), strict=True)
    expected = generate(model, prompts, 20, temperature=0)
    assert torch.equal(torch.stack(first, 1), expected[:, prompts.shape[1] :])
    assert torch.equal(torch.stack(second, 1), shorter[:, prompts.shape[1] - 1 :])


def test_an_encoder_decoder_is_written_with_uncompiled():
    translator, source = transformer(), torch.randint(1, 17, (2, 5))
    for block in translator.decoder_blocks:
        block.compile(backend="eager")
    graphs, _ = graphs_of(
        lambda: (
            greedy_decode(translator, source, 9),
            beam_search(translator, source, 9, beam_size=2),
        )
    )
    assert graphs == 0


# A stream.


def test_a_stream_brings_the_tokens_of_generate_and_how_probable_they_are():
    model, prompts = gpt(), torch.randint(1, 17, (3, 5))
    options = {"temperature": 0.7, "top_k": 9, "min_p": 0.01, "eos_id": 4}
    written = generate(model, prompts, 20, generator=draw_from(1), **options)
    tokens, found = zip(*stream(model, prompts, 20, generator=draw_from(1), **options), strict=True)
    tokens, found = torch.stack(tokens, dim=1), torch.stack(found, dim=1)
    assert torch.equal(tokens, written[:, 5 : 5 + tokens.shape[1]])
    with torch.no_grad():
        logits = model.eval()(written[:, :-1])[:, 4 : 4 + tokens.shape[1]]
    expected = logits.log_softmax(-1).gather(2, tokens[..., None])[..., 0]
    ended = (tokens == 4).cumsum(1) - (tokens == 4).long() > 0
    assert ended.any()
    torch.testing.assert_close(found, expected.masked_fill(ended, 0.0))


def test_between_two_tokens_of_a_stream_the_model_is_as_it_was():
    model, prompts = gpt(dropout=0.5).train(), torch.randint(1, 17, (3, 5))
    written = []
    for tokens, found in stream(model, prompts, 4, temperature=0):
        assert model.training and model.blocks[1].dropout.training and torch.is_grad_enabled()
        assert model(prompts).shape == (3, 5, 17)
        model(tokens[:, None]).sum().backward()
        assert not found.is_inference()
        written.append(tokens)
    assert torch.equal(torch.stack(written, 1), generate(model, prompts, 4, temperature=0)[:, 5:])
    with pytest.raises(ValueError, match="temperature"):
        stream(model, prompts, 4, temperature=-1)  # at once, not at the first token


def test_rows_stop_where_a_function_of_the_text_says():
    model, prompts = gpt(pad_id=0), torch.randint(1, 17, (4, 5))
    free = generate(model, prompts, 20, temperature=0)
    written = generate(
        model, prompts, 20, temperature=0, stop=lambda tokens: tokens[:, 5:].sum(1) > 60
    )
    for row, other in zip(free[:, 5:], written[:, 5:], strict=True):
        length = int((row.cumsum(0) <= 60).sum()) + 1
        assert torch.equal(other[:length], row[:length]) and not other[length:].any()
    with pytest.raises(ValueError, match="filled with eos_id"):
        generate(gpt(pad_id=None), prompts, 20, stop=lambda tokens: tokens[:, -1] == 3)
    assert torch.equal(
        generate(model, prompts, 20, stop=lambda t: t.shape[1] == 6)[:, 6:], 0 * free[:, 6:]
    )
    for stop in (lambda t: t[:, -1], lambda t: t == 3, lambda t: t[:, -1:] == 3):
        refused(ValueError, lambda s=stop: generate(model, prompts, 2, stop=s), "(B,) = (4,)")


def test_what_is_drawn_is_what_multinomial_draws():
    rows = torch.rand(50, 17)
    for seed in range(20):
        expected = torch.multinomial(rows, 1, generator=draw_from(seed))[:, 0]
        assert torch.equal(drawn(rows, draw_from(seed)), expected)


@pytest.mark.parametrize("temperature", [1e-46, 1e-40, 5e-324])
def test_a_temperature_too_small_to_divide_by_is_greedy(temperature):
    model, prompts = gpt().float(), torch.randint(1, 17, (2, 5))
    written = generate(model, prompts, 9, temperature=temperature)
    assert torch.equal(written, generate(model, prompts, 9, temperature=0))
    assert next_token_probabilities(torch.tensor([[1.0, 3.0]]), temperature=temperature)[0, 1] == 1


@gpts
def test_generation_on_the_meta_device(changes):
    """To count operations or memory, nothing need be computed."""
    model, prompts = gpt(**changes).to("meta"), torch.empty(2, 3, dtype=torch.int64, device="meta")
    mask = torch.empty(2, 3, dtype=torch.bool, device="meta")
    for options in ({}, {"use_cache": False}, {"prompt_mask": mask, "eos_id": 2}):
        assert generate(model, prompts, 20, temperature=0, **options).shape == (2, 23)


def test_decoding_on_the_meta_device():
    model, sources = transformer().to("meta"), torch.empty(2, 3, dtype=torch.int64, device="meta")
    for decode in (greedy_decode, beam_search):
        assert decode(model, sources, 20).shape == (2, 20)
