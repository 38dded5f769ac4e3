"""The race: what is counted, what is refused and with which words, and what the rows hold."""

import re
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from book.language_model import LanguageModel, log_probs
from book.own_language_model import judge, standings
from book.own_language_model.counting import Budget, Refused
from companion.data import corpus

BIGRAM = """\
\"\"\"A table of pairs.\"\"\"
import torch
from torch import nn
from book.language_model import log_probs

def train(rows, vocab_size, budget):
    model = nn.Sequential(nn.Embedding(vocab_size, 4), nn.Linear(4, vocab_size))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for step, spent in enumerate(budget):
        ids = rows[4 * step % len(rows):][:4]
        optimizer.zero_grad()
        inputs, ids = ids[:, :-1].clamp(min=0), ids[:, 1:]
        logp = model(inputs).log_softmax(-1).gather(-1, ids.clamp(min=0)[..., None])[..., 0]
        (-logp[ids >= 0].mean()).backward()
        optimizer.step()
    return model
"""


@pytest.fixture
def entry(tmp_path, monkeypatch):
    """entry(text) writes a file; the race is a small one."""
    monkeypatch.setattr(judge, "BUDGET", 20_000_000)
    monkeypatch.setattr(judge, "SENTENCES", 100)
    monkeypatch.setattr(judge, "FRESH", 30)

    def write(text):
        (path := tmp_path / "entry.py").write_text(text, "utf8")
        return path

    return write


def returned(expression):
    """An entry that returns this without any training."""
    return (
        "import torch\nfrom torch import nn\n"
        f"def train(rows, vocab_size, budget):\n    return {expression}\n"
    )


def edited(old, new):
    assert BIGRAM.count(old) == 1
    return BIGRAM.replace(old, new)


# What is counted


def test_products_are_counted_as_torch_counts_them():
    model, ids = LanguageModel(50, d=32), torch.randint(50, (4, 9))
    with FlopCounterMode(display=False) as torchs, (budget := Budget(10**12)):
        log_probs(model, ids).sum().backward()
    assert torchs.get_total_flops() < budget.spent < 1.5 * torchs.get_total_flops()


def test_attention_is_counted_forward_and_backward():
    q = torch.randn(2, 4, 9, 8, requires_grad=True)
    product = 2 * 2 * 4 * 9 * 9 * 8  # (B, H, T, T) from queries and keys of 8 numbers
    with (budget := Budget(10**12)):
        y = F.scaled_dot_product_attention(q, q, q, is_causal=True)
        assert budget.spent == 2 * product
        y.backward(torch.ones(1).expand_as(y))
    assert 7 * product <= budget.spent < 7 * product + 10 * q.numel()  # torch has five backward


def test_a_product_that_is_written_with_sums_is_no_cheaper():
    a, b = torch.randn(20, 30), torch.randn(30, 40)
    with (plain := Budget(10**9)):
        a @ b
    with (disguised := Budget(10**9)):
        (a[:, :, None] * b).sum(1)
    assert plain.spent == 2 * 20 * 30 * 40
    assert disguised.spent >= plain.spent


def test_a_view_has_no_operations_and_a_look_up_those_that_it_returns():
    table, ids = torch.randn(1000, 8), torch.tensor([3, 4])
    with (budget := Budget(10**9)):
        table.T[:, 2:].unsqueeze(0)
        assert budget.spent == 0
        assert table[ids].shape == F.embedding(ids, table).shape
    assert budget.spent == 2 * 2 * 8


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x @ x

    @staticmethod
    def backward(ctx, gradient):
        return gradient @ gradient


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: Twice.apply(x).sum().backward(),
        lambda x: torch.inference_mode()(F.linear)(x, x) + F.linear(x, x).detach(),
        lambda x: torch.func.vmap(lambda row: row @ x)(x) @ x,
    ],
    ids=["autograd function", "inference mode", "vmap"],
)
def test_another_way_to_compute_is_counted(compute):
    x = torch.randn(16, 16, requires_grad=True)
    with (budget := Budget(10**9)):
        compute(x)
    assert budget.spent >= 2 * 2 * 16**3


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated")  # torch's own use
def test_what_was_compiled_before_is_counted():
    x = torch.randn(16, 16)
    compiled = torch.compile(lambda y: y @ y)
    compiled(x)
    with (budget := Budget(10**9)):
        compiled(x)
    assert budget.spent >= 2 * 16**3


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: nn.LSTM(8, 8)(x),
        lambda x: torch.fft.rfft(x),
        lambda x: torch.cdist(x, x),
        lambda x: torch.linalg.inv(x),
        lambda x: torch.sparse.mm(x.to_sparse(), x),
    ],
    ids=["LSTM", "fft", "cdist", "inverse", "sparse"],
)
def test_what_nobody_can_count_is_refused(compute):
    with Budget(10**9), pytest.raises(Refused, match=r"nobody counts .* matrix products"):
        compute(torch.randn(8, 8))


def test_a_recurrent_layer_with_a_formula_is_counted():
    with (budget := Budget(10**9)):
        nn.GRU(8, 8)(torch.randn(5, 3, 8))
    assert budget.spent > 2 * 2 * 5 * 3 * 8 * 24


# The budget


def test_the_loop_ends_before_the_budget_does():
    x, shares, seen = torch.randn(10, 10), [], []
    with (budget := Budget(9 * 2000 + 1999, watch=seen.append)):
        for spent in budget:
            shares.append(spent)
            x @ x
    assert budget.steps == len(shares) == 9
    assert shares[0] == 0 and all(a < b < 1 for a, b in pairwise(shares))
    assert budget.spent == 9 * 2000 and not budget.exceeded
    assert len(seen) == 9 and seen[-1] == budget.spent / budget.operations


def test_a_turn_that_computes_nothing_would_never_end():
    with Budget(1000) as budget, pytest.raises(Refused, match="computed nothing; train in it"):
        for _ in budget:
            pass


# What the judge says


def test_an_entry_is_judged_and_a_seed_decides(entry):
    first, again, other = (judge.judged(entry(BIGRAM), seed) for seed in (7, 7, 8))
    for row in (first, again, other):
        assert row["seconds"] >= 0 and row.pop("seconds") is not None
    assert first == again
    assert first["nats"] != other["nats"]
    assert 20 < first["nats"] < 60 and first["steps"] > 1
    assert 0.9 * judge.BUDGET < first["operations"] <= judge.BUDGET


def test_the_score_is_the_divergence_per_sentence_of_the_language(entry):
    even = returned("lambda ids: torch.zeros(*ids.shape, vocab_size)")
    found = judge.judged(entry(even), 3)
    says = [-(len(words) + 1) * torch.tensor(620.0).log() for words in corpus(30, 7)]
    truth = [torch.tensor(judge.sentence_probability(words)).log() for words in corpus(30, 7)]
    assert found["nats"] == pytest.approx((sum(truth) - sum(says)).item() / 30, abs=1e-3)
    assert found["operations"] == found["steps"] == 0


def test_a_seed_inherits_nothing_from_another(entry):
    text = "calls = []\n" + edited(
        "optimizer = ", "calls.append(1); assert len(calls) == 1\n    o = "
    )
    path = entry(text.replace("optimizer", "o"))
    assert judge.judged(path, 1)["steps"] == judge.judged(path, 2)["steps"]


def test_an_entry_may_be_made_of_the_package(entry):
    sizes = "d_model=8, num_layers=1, num_heads=2, d_ff=8, max_len=16"
    gpt = f"GPT(GPTConfig(vocab_size=vocab_size, {sizes}))"
    text = edited("import torch\n", "import torch\nfrom companion.models import GPT, GPTConfig\n")
    old = "nn.Sequential(nn.Embedding(vocab_size, 4), nn.Linear(4, vocab_size))"
    found = judge.judged(entry(text.replace(old, gpt)), 1)
    assert found["steps"] > 0


FUTURE = "lambda ids: nn.functional.one_hot(ids.roll(-1, 1), vocab_size).float() * 9"
OTHERS = "lambda ids: torch.zeros(*ids.shape, vocab_size) + ids.sum(0, keepdim=True)[..., None]"

SURE = "torch.where(i[..., None] > 99, -torch.inf, model(i))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def train(rows:\n", r"line 1 of entry\.py is no Python: .*never closed"),
        ("import numpy\n", r"line 1 of entry\.py imports numpy; .* import from .*companion\.nn"),
        ("from companion.data import sentence_probability\n", r"imports companion\.data\.sent"),
        ("from companion import data\n", r"imports companion\.data; an entry learns from its rows"),
        ("import companion\n", r"imports companion;"),
        ("def f():\n    from .judge import FRESH\n", r"line 2 of entry\.py imports \.judge\.FRESH"),
        ("x = 1\n", r"has no function train; write `def train\(rows, vocab_size, budget\):`"),
        (
            "def train(rows):\n    return rows\n",
            r"takes \(rows\); it is called with three arg",
        ),
        (returned("None"), r"train returned None; it has to return the model"),
        (returned("lambda ids: None"), r"ids of shape \(\d+, \d+\) the model gave <class 'NoneT"),
        (returned("lambda ids: torch.zeros(3, 2)"), r"shape \(3, 2\), not logits .* 620\)"),
        (returned("lambda ids: torch.zeros(*ids.shape, 620) / 0"), "NaN or inf"),
        (returned("lambda ids: torch.zeros(*ids.shape, 620).int()"), "no floating-point numbers"),
        (returned(FUTURE), r"reads the future: with other words from position 1 on"),
        (returned(OTHERS), "depend on the other rows of the batch"),
        (returned("lambda ids: torch.rand(*ids.shape, 620)"), r"two answers; switch dropout"),
        (returned("lambda ids: torch.full((*ids.shape, 620), -torch.inf)"), "NaN or inf|no prob"),
        (
            edited("return model", f"return lambda i: {SURE}"),
            r"no probability to '.+', which is in",
        ),
        (edited("enumerate(budget)", "enumerate(range(999))"), r"2e\+07 op.*after 0 turns.*for sp"),
        (edited("    optimizer.step()", "    nn.LSTM(4, 4)(torch.zeros(1, 4))"), "nobody counts"),
    ],
)
def test_what_is_wrong_with_an_entry_is_said(entry, text, message):
    with pytest.raises(Refused, match=message):
        judge.judged(entry(text), 1)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(Refused, match=r"nothing\.py cannot be read .*; name a file of Python"):
        judge.judged(tmp_path / "nothing.py", 1)


def test_an_entry_that_catches_the_end_of_its_budget_is_refused(entry):
    endless = edited("for step, spent in enumerate(budget):", "for step in range(999):")
    caught = re.sub(r"(?ms)^    for .*?(?=^    return)", lambda m: tried(m[0]), endless)
    with pytest.raises(Refused, match=r"went on after its budget of 2e\+07 operations"):
        judge.judged(entry(caught), 1)


def tried(loop):
    lines = "".join(f"    {line}\n" for line in loop.splitlines())
    return f"    try:\n{lines}    except Exception:\n        pass\n"


def knowing(sentences, nats):
    """A model that gives these sentences much more than others, without reading ahead."""
    beginnings = {tuple(row[:n].tolist()): row[n] for row in sentences for n in range(1, len(row))}

    def model(ids):
        logits = torch.zeros(*ids.shape, judge.VOCAB_SIZE)
        for b, row in enumerate(ids.tolist()):
            for t in range(len(row)):
                after = beginnings.get(tuple(row[: t + 1]))
                if after is not None and after >= 0:
                    logits[b, t, after] = nats
        return logits

    return model


def test_a_model_that_knows_the_judges_sentences_is_found_out():
    fresh = corpus(60, 1)
    with pytest.raises(Refused, match=r"nats less than others .* trained on them; train on the"):
        judge.distance(knowing(judge.rows_of(fresh), 9.0), fresh)


def test_a_model_below_the_entropy_is_found_out():
    """One that is causal as long as it is asked about that."""
    calls = []

    def model(ids):
        calls.append(1)
        after = torch.cat([ids[:, 1:], torch.zeros_like(ids[:, :1])], 1)
        logits = F.one_hot(after, judge.VOCAB_SIZE).float() * 30
        return logits if len(calls) > ids.shape[1] + 2 else torch.zeros_like(logits)

    with pytest.raises(Refused, match="below the entropy, where no model can be"):
        judge.distance(model, corpus(60, 1))


# The command


def test_the_command_prints_the_score_of_each_seed(entry, capsys):
    standings.main([str(entry(BIGRAM)), "--seeds", "2"], "book")
    printed = capsys.readouterr().out
    assert printed.startswith("entry.py: 2e+07 operations for each seed\nseed 1: ")
    assert re.search(r"seed 2: \d+\.\d{3} ± \d\.\d{3} nats a sentence above the entropy", printed)
    assert "a row in the table needs all 5 seeds" in printed


def test_the_command_says_what_was_refused_and_ends(entry, capsys):
    with pytest.raises(SystemExit) as end:
        standings.main([str(entry(returned("None")))], "book")
    assert end.value.code == 1
    assert "entry.py is refused: train returned None" in capsys.readouterr().err


def test_an_error_of_the_entry_is_shown_from_its_own_line_on(entry, capsys):
    wrong = edited("model(inputs)", "model(inputs.float())")
    with pytest.raises(SystemExit) as end:
        standings.main([str(entry(wrong))], "book")
    assert end.value.code == 1
    shown = capsys.readouterr().err
    assert re.match(r'Traceback.*\n  File ".*entry\.py", line 13, in train\n', shown)
    assert shown.endswith("entry.py raised this RuntimeError\n")


def test_an_interrupted_race_says_how_far_it_came(entry, capsys):
    stop = "raise KeyboardInterrupt"
    text = edited(
        "    return model\n", f"    if torch.initial_seed() == 2: {stop}\n    return model\n"
    )
    with pytest.raises(SystemExit) as end:
        standings.main([str(entry(text))], "book")
    assert end.value.code == 130
    assert capsys.readouterr().err == "interrupted after 1 of 5 seeds\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--record", "--seeds", "2"], "a row needs all 5 seeds; leave out --seeds or --record"),
        (["--record"], "copy entry.py there first"),
        (["--seeds", "6"], "invalid choice: 6"),
    ],
)
def test_what_the_command_cannot_do_is_said(entry, capsys, options, message):
    with pytest.raises(SystemExit):
        standings.main([str(entry(BIGRAM)), *options], "book")
    assert message in capsys.readouterr().err


def test_a_row_is_kept_and_the_table_written(entry, capsys, monkeypatch):
    path = entry(BIGRAM)
    monkeypatch.setattr(standings, "FOLDER", path.resolve().parent)
    monkeypatch.setattr(standings, "ROWS", path.with_name("race.json"))
    monkeypatch.setattr(standings, "PAGE", path.with_name("race.md"))
    standings.PAGE.write_text(f"# Race\n\n{standings.BEFORE}old\n{standings.AFTER}\nThe end.\n")
    standings.main([str(path), "--record"], "book")
    assert "score " in capsys.readouterr().out
    (row,) = standings.rows().values()
    assert [seed["seed"] for seed in row["seeds"]] == [1, 2, 3, 4, 5]
    page = standings.PAGE.read_text()
    assert "old" not in page and page.startswith("# Race\n\n") and page.endswith("\nThe end.\n")
    assert "| A table of pairs | **" in page
    assert standings.with_table(page) == page


# What is committed


ENTRIES = sorted(path for path in standings.FOLDER.glob("*.py") if path.stem != "__init__")


def test_every_entry_has_the_row_of_its_text():
    kept = standings.rows()
    assert kept.keys() == {path.name for path in ENTRIES}
    for path in ENTRIES:
        row = kept[path.name]
        assert row["sha256"] == standings.fingerprint(path), f"race {path} --record"
        assert tuple(seed["seed"] for seed in row["seeds"]) == standings.SEEDS
        assert all(0.98 * judge.BUDGET < s["operations"] <= judge.BUDGET for s in row["seeds"])


def test_the_page_has_the_table_of_the_rows():
    page = standings.PAGE.read_text("utf8")
    assert standings.with_table(page) == page
    assert all(f"/{path.name})" in page for path in ENTRIES)


def test_the_entry_of_the_page_is_one_and_its_rules_are_the_judges(entry, monkeypatch):
    monkeypatch.setattr(judge, "BUDGET", 100_000_000)
    page = standings.PAGE.read_text("utf8")
    (code,) = re.findall(r"(?s)```python\n(.+?)```", page)
    assert judge.judged(entry(code), 1)["steps"] > 0
    (data,) = re.findall(r"- \*\*Data\.\*\* (.+)", page)
    may = data.partition("It may import ")[2]
    others = {"and", "of", "Python", "s", "library"}
    assert set(re.findall(r"[\w.]*\w", may)) == judge.MAY_IMPORT | others


def test_the_races_numbers_are_the_pages():
    page = standings.PAGE.read_text("utf8")
    assert "5 · 10<sup>11</sup> operations for each seed" in page and judge.BUDGET == 5e11
    assert "a hundred thousand sentences" in page and judge.SENTENCES == 100_000
    assert "a thousand fresh sentences" in page and judge.FRESH == 1000
    assert f"`vocab_size` is {judge.VOCAB_SIZE}" in page


def test_the_rows_are_as_the_page_says():
    nats = {path.stem: standings.nats_of(standings.rows()[path.name]) for path in ENTRIES}

    def seeds_better(one, other):
        return sum(a < b for a, b in zip(nats[one], nats[other], strict=True))

    def overlap(one, other):
        return min(nats[other]) < max(nats[one]) and min(nats[one]) < max(nats[other])

    for better, worse in [
        *pairwise(["shallower", "recipe", "deeper", "wider"]),
        ("sorted", "recipe"),
    ]:
        assert seeds_better(better, worse) == 5 and not overlap(better, worse), (better, worse)
    for better, worse in [
        ("one_block_sorted", "shallower"),
        ("muon", "recipe"),
        ("recipe", "slower"),
    ]:
        assert seeds_better(better, worse) == 5 and overlap(better, worse), (better, worse)
    assert seeds_better("faster", "recipe") == 4
    assert min(nats["faster"]) < min(nats["recipe"]) and max(nats["recipe"]) < max(nats["faster"])
    for name in ("shallower", "one_block_sorted", "deeper", "wider", "muon"):
        assert "1e-2" in (standings.FOLDER / f"{name}.py").read_text("utf8"), name  # the recipe's


@pytest.mark.long
def test_a_row_is_reached_again():
    kept = standings.rows()["recipe.py"]["seeds"][2]
    found = judge.judged(standings.FOLDER / "recipe.py", kept["seed"])
    # Another processor rounds otherwise, and is as another seed.
    assert found["nats"] == pytest.approx(kept["nats"], abs=0.1)
    assert found["operations"] == pytest.approx(kept["operations"], rel=0.01)
