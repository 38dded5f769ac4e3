"""The same wrong and right answers through our checks and the public tests of two other courses.

    pip install --no-deps -r benchmarks/requirements.txt
    git clone https://github.com/stanford-cs336/assignment1-basics /tmp/cs336
    git clone https://github.com/duoan/TorchCode /tmp/torchcode
    PYTHONPATH=. python benchmarks/judges.py /tmp/cs336 /tmp/torchcode > benchmarks/judges.md

Of each clone, the files of one commit (`COMMITS`) are unpacked into a temporary folder and run
there; both repositories are under the MIT licence, and nothing of them is kept here. The answers
are in `judges_answers.py`, what the comparison can and cannot say in book/exercises/judges.md.

A judge rejects an answer if any of its tests for the task fails. It names the mistake if what it
then tells the learner matches the answer's pattern, `says`, which asks for words that say what is
wrong, or for the property that fails, in the vocabulary of any of the three. What is told is the
mistake in our verdict, without its example, and the messages of the failed tests in theirs. Names
of tests are taken out of it, and a message that repeats the task's formula names nothing: it does
not say which part of it is wrong.
"""

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import regex
import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.judges_answers import (
    ANSWERS,
    CACHE,
    DPO,
    DRAW,
    GATE,
    MASK,
    NORM,
    PAIRS,
    ROPE,
    Answer,
    turned,
)
from book.after_pretraining import checks as after
from book.own_language_model import checks as own
from book.positional_encoding.checks import rotate
from book.self_attention.checks import masked_attention

JUDGES = {"ours": "this book", "cs336": "CS336, assignment 1", "torchcode": "TorchCode"}
COMMITS = {
    "cs336": "25a8a49f6460c83a30416d42348f2ef11d1dd185",
    "torchcode": "8a49ba150f76c92fc6e2fd30631e07b88c803988",
}
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

Said = dict[str, str]  # name of a test that fails -> its message; empty where a judge accepts


def unturned(x: torch.Tensor, start: int) -> torch.Tensor:
    """No rotation."""
    return x


# ---- ours
def rotated(x: torch.Tensor, start: int = 0) -> torch.Tensor:
    """Our `rotate`: an entry of the first half and its counterpart are a pair."""
    d = x.shape[-1]
    order = torch.arange(d).view(2, -1).T.flatten()
    return turned(x[..., order], torch.arange(x.shape[-2]) + start)[..., order.argsort()]


def our_norm(function: Callable) -> type:
    """A class for our check."""

    class RMSNorm(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.gain = nn.Parameter(torch.ones(d))

        def forward(self, x):
            return function(x, self.gain, 1e-6)

    return RMSNorm


def our_gate(function: Callable) -> type:
    """A class for our check."""

    class SwiGLU(nn.Module):
        def __init__(self, d):
            super().__init__()
            inner = 8 * d // 3
            self.gate = nn.Linear(d, inner, bias=False)
            self.up = nn.Linear(d, inner, bias=False)
            self.down = nn.Linear(inner, d, bias=False)

        def forward(self, x):
            return function(x, self.gate, self.up, self.down)

    return SwiGLU


def our_attention(function: Callable) -> type:
    """A class for our check."""

    class Attention(nn.Module):
        def __init__(self, d, heads):
            super().__init__()
            self.heads = heads
            self.qkv = nn.Linear(d, 3 * d, bias=False)
            self.out = nn.Linear(d, d, bias=False)

        def forward(self, x, cache=None):
            past = (cache["k"], cache["v"]) if cache else None
            output, new = function(
                x, past, lambda x: self.qkv(x).chunk(3, -1), self.out, self.heads, rotated
            )
            if cache is not None:
                cache["k"], cache["v"] = new
            return output

    return Attention


def our_tokenizer(functions: tuple[Callable, Callable]) -> type:
    """A class for our check: symbols are numbers, and so is their order."""
    learn, encode = functions
    words = re.compile(r" ?\w+| ?[^\s\w]+|\s+")

    class Tokenizer:
        end = 256

        def __init__(self, text, vocab_size):
            found = [tuple(word.encode()) for word in words.findall(text)]
            self.pairs = learn(found, vocab_size - 257, self.joined, lambda pair: pair)
            self.pieces = [bytes([byte]) for byte in range(256)] + [b""]
            for left, right in self.pairs:
                self.pieces.append(self.pieces[left] + self.pieces[right])

        @staticmethod
        def joined(pair, i):
            return 257 + i

        def __len__(self):
            return len(self.pieces)

        def encode(self, text):
            words_of = (tuple(word.encode()) for word in words.findall(text))
            return [t for word in words_of for t in encode(word, self.pairs, self.joined)]

        def decode(self, tokens):
            return b"".join(self.pieces[token] for token in tokens).decode(errors="replace")

    return Tokenizer


OURS: dict[str, tuple[Callable, Callable]] = {
    NORM: (own.norm, our_norm),
    GATE: (own.gate, our_gate),
    ROPE: (rotate, lambda function: function),
    MASK: (masked_attention, lambda function: function),
    CACHE: (own.attention, our_attention),
    DRAW: (own.probabilities, lambda function: function),
    DPO: (after.dpo_loss, lambda function: function),
    PAIRS: (own.tokenizer, our_tokenizer),
}


def ask_ours(answer: Answer) -> Said:
    """What our check says."""
    check, adapt = OURS[answer.task]
    verdict = check(adapt(answer.function))
    return {} if verdict.status == "passed" else {"": verdict.mistake}


# ---- CS336
class ByCS336:
    """The tests of CS336's first assignment, run by pytest in a copy of theirs."""

    TESTS: ClassVar = {
        NORM: ("test_model.py::test_rmsnorm",),
        GATE: ("test_model.py::test_swiglu",),
        ROPE: ("test_model.py::test_rope",),
        MASK: (
            "test_model.py::test_scaled_dot_product_attention",
            "test_model.py::test_4d_scaled_dot_product_attention",
        ),
        CACHE: (
            "test_model.py::test_multihead_self_attention",
            "test_model.py::test_multihead_self_attention_with_rope",
        ),
        PAIRS: ("test_train_bpe.py::test_train_bpe",),
    }
    FILES = (
        "tests/*.py",
        "tests/_snapshots",
        "tests/fixtures/corpus.en",
        "tests/fixtures/train-bpe-reference*",
        "tests/fixtures/ts_tests/model_config.json",
    )
    ADAPTERS = """
current = {}
def __getattr__(name):
    if not name.startswith("run_"):
        raise AttributeError(name)
    return lambda *given, **named: current[name](*given, **named)
"""

    def __init__(self, repository: Path, folder: Path) -> None:
        self.folder = folder
        unpack(repository, COMMITS["cs336"], self.FILES, folder)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "tests" / "adapters.py").write_text(self.ADAPTERS)
        self.make_weights()

    def make_weights(self) -> None:
        """Weights and expected results of ours, where theirs need a file of trained weights."""
        made = torch.Generator().manual_seed(0)
        drawn = {"layers.1.ln1.weight": 1 + 0.3 * torch.randn(64, generator=made)}
        for name, shape in (("w1", (128, 64)), ("w2", (64, 128)), ("w3", (128, 64))):
            drawn[f"layers.0.ffn.{name}.weight"] = torch.randn(shape, generator=made) / 8
        for name in ("q", "k", "v", "output"):
            drawn[f"layers.0.attn.{name}_proj.weight"] = torch.randn(64, 64, generator=made) / 8
        torch.save(drawn, self.folder / "tests/fixtures/ts_tests/model.pt")
        torch.manual_seed(4)  # as their fixture `in_embeddings`
        x = torch.randn(4, 12, 64)
        norm, w1, w2, w3, *attention = drawn.values()
        silu = F.linear(F.silu(F.linear(x, w1)) * F.linear(x, w3), w2)
        expected = {"rmsnorm": F.rms_norm(x, (64,), norm, 1e-5), "swiglu": silu}
        for name in ("multihead_self_attention", "multihead_self_attention_with_rope"):
            q, k, v = (F.linear(x, w).view(4, 12, 4, 16).transpose(1, 2) for w in attention[:3])
            if name.endswith("rope"):
                q, k = (turned(part, torch.arange(12)) for part in (q, k))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            expected[name] = F.linear(mixed.transpose(1, 2).flatten(2), attention[3])
        for name, array in expected.items():
            np.savez(self.folder / f"tests/_snapshots/test_{name}.npz", array=array.numpy())

    def adapters(self, answer: Answer) -> dict[str, Callable]:
        """The functions that their tests call, by name."""
        f = answer.function

        def linear(weight):
            return lambda x: F.linear(x, weight)

        def heads(turn):
            def run(*, num_heads, q_proj_weight, k_proj_weight, v_proj_weight, o_proj_weight,
                    in_features, **_):  # fmt: skip
                weights = q_proj_weight, k_proj_weight, v_proj_weight
                project = lambda x: [F.linear(x, weight) for weight in weights]  # noqa: E731
                return f(in_features, None, project, linear(o_proj_weight), num_heads, turn)[0]

            return run

        return {
            "run_rmsnorm": lambda *, d_model, eps, weights, in_features: f(
                in_features, weights, eps
            ),
            "run_swiglu": lambda *, w1_weight, w2_weight, w3_weight, in_features, **_: f(
                in_features, linear(w1_weight), linear(w3_weight), linear(w2_weight)
            ),
            "run_rope": lambda *_, in_query_or_key, token_positions, **__: f(
                in_query_or_key, token_positions
            ),
            "run_scaled_dot_product_attention": lambda *, Q, K, V, mask: f(Q, K, V, mask),
            "run_multihead_self_attention": heads(unturned),
            "run_multihead_self_attention_with_rope": heads(
                lambda x, start: turned(x, torch.arange(x.shape[-2]) + start)
            ),
            "run_train_bpe": lambda **given: self.train(answer, **given),
        }

    def train(self, answer: Answer, input_path, vocab_size, special_tokens):
        """Learn by an answer; of equally frequent pairs, the greater one is first here."""
        parts = input_path.read_text("utf8").split(special_tokens[0])
        found = [word for part in parts for word in regex.findall(GPT2, part)]
        words = [tuple(bytes([byte]) for byte in word.encode()) for word in found]
        first = [special_tokens[0].encode(), *(bytes([byte]) for byte in range(256))]

        def best(pair):
            """Greatest first: `min` of bytes turned round, and a shorter one after a longer."""
            return [[-byte for byte in part] + [1] for part in pair]

        pairs = answer.function[0](words, vocab_size - 257, lambda pair, i: pair[0] + pair[1], best)
        return dict(enumerate(first + [left + right for left, right in pairs])), pairs

    def ask(self, answer: Answer) -> Said:
        """What pytest prints of the tests that fail."""
        said = {}

        class Reports:
            def pytest_runtest_logreport(self, report):
                if report.failed:
                    said[report.nodeid.partition("::")[2]] = report.longrepr.reprcrash.message

        inside = contextlib.chdir(self.folder), contextlib.redirect_stdout(io.StringIO())
        with inside[0], inside[1]:
            from_theirs = sys.modules.get("tests.adapters")
            if from_theirs is None:
                sys.path.insert(0, str(self.folder))
                import tests.adapters as from_theirs
            from_theirs.current.update(self.adapters(answer))
            ids = [f"tests/{name}" for name in self.TESTS[answer.task]]
            code = pytest.main(["-q", "-p", "no:cacheprovider", *ids], plugins=[Reports()])
        if code not in (0, 1):
            raise RuntimeError(f"pytest ended with {code} on {ids}")
        return said


# ---- TorchCode
class ByTorchCode:
    """The tests of TorchCode's tasks, as its engine runs them."""

    def __init__(self, repository: Path, folder: Path) -> None:
        unpack(repository, COMMITS["torchcode"], ("torch_judge",), folder)
        sys.path.insert(0, str(folder))
        from torch_judge.tasks import TASKS

        self.tasks = TASKS

    def forms(self, answer: Answer) -> dict[str, Callable]:
        """An answer in the form that each of its tasks asks for."""
        f = answer.function

        class SwiGLUMLP(nn.Module):
            def __init__(self, d_model, d_ff):
                super().__init__()
                self.gate_proj, self.up_proj = nn.Linear(d_model, d_ff), nn.Linear(d_model, d_ff)
                self.down_proj = nn.Linear(d_ff, d_model)

            def forward(self, x):
                return f(x, self.gate_proj, self.up_proj, self.down_proj)

        class KVCacheAttention(nn.Module):
            def __init__(self, d_model, num_heads):
                super().__init__()
                self.heads = num_heads
                self.W_q, self.W_k, self.W_v, self.W_o = (
                    nn.Linear(d_model, d_model) for _ in range(4)
                )

            def forward(self, x, cache=None):
                project = lambda x: [self.W_q(x), self.W_k(x), self.W_v(x)]  # noqa: E731
                return f(x, cache, project, self.W_o, self.heads, unturned)

        class SimpleBPE:
            def train(self, corpus, num_merges):
                words = [(*word, "</w>") for text in corpus for word in text.split()]
                self.merges = f[0](words, num_merges, self.joined, lambda pair: pair)

            @staticmethod
            def joined(pair, i):
                return pair[0] + pair[1]

            def encode(self, text):
                words = ((*word, "</w>") for word in text.split())
                return [part for word in words for part in f[1](word, self.merges, self.joined)]

        def draw(logits, top_k=0, top_p=1.0, temperature=1.0):
            p = f(logits, temperature, top_k or None, top_p if top_p < 1 else None)
            return int(torch.multinomial(p, 1))

        def attention(Q, K, V):
            return f(Q, K, V, torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool))

        def causal(Q, K, V):
            return f(Q, K, V, torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool).tril())

        def both(q, k):
            return tuple(f(x, torch.arange(x.shape[-2])) for x in (q, k))

        return {
            NORM: {"rmsnorm": lambda x, weight, eps=1e-6: f(x, weight, eps)},
            GATE: {"mlp": SwiGLUMLP},
            ROPE: {"rope": both},
            MASK: {"attention": attention, "causal_attention": causal},
            CACHE: {"kv_cache": KVCacheAttention},
            DRAW: {"topk_sampling": draw},
            DPO: {"dpo_loss": lambda *given, beta=0.1: f(*given, beta)},
            PAIRS: {"bpe": SimpleBPE},
        }[answer.task]

    def ask(self, answer: Answer) -> Said:
        """What its engine prints of the tests that fail."""
        said = {}
        for task, form in self.forms(answer).items():
            name = self.tasks[task]["function_name"]
            for test in self.tasks[task]["tests"]:
                torch.manual_seed(0)
                try:
                    exec(test["code"].replace("{fn}", name), {name: form})
                except AssertionError as error:
                    said[test["name"]] = str(error)
                except Exception as error:
                    said[test["name"]] = f"{type(error).__name__}: {error}"
        return said


# ---- the report
def unpack(repository: Path, commit: str, files: tuple[str, ...], to: Path) -> None:
    """Write files of a commit to a folder."""
    packed = subprocess.run(
        ["git", "-C", repository, "archive", commit, *files], stdout=subprocess.PIPE, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(to, filter="data")


def told(answer: Answer, said: Said, *, with_names: bool = False) -> str:
    """The word of the table for what a judge says of a wrong answer."""
    if not said:
        return "accepted"
    text = "\n".join([*messages(said), *(said if with_names else ())])
    return "named" if re.search(answer.says, text, re.IGNORECASE | re.DOTALL) else "rejected"


def messages(said: Said) -> list[str]:
    """What a learner reads, without the names of tests and the numbers of whole arrays."""
    texts = (
        re.sub(r"\bfor test_\w+|\nMismatched elements.*", "", x, flags=re.S) for x in said.values()
    )
    return list(dict.fromkeys(" ".join(text.split()) for text in texts))


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows]) + "\n"


def counted(words: list[str]) -> str:
    """A cell of the first table: what became of some answers."""
    if not words:
        return "–"
    rejected = len(words) - words.count("accepted")
    return f"{rejected} of {len(words)}, {words.count('named')} named"


def report(says: dict[tuple[Answer, str], Said]) -> str:
    """The tables: counts, words, messages."""
    titles, wrongs = [*JUDGES.values()], [answer for answer in ANSWERS if answer.says]
    groups = {
        task: [a for a in wrongs if a.task == task]
        for task in dict.fromkeys(a.task for a in wrongs)
    }
    groups["asked of all three"] = [a for a in wrongs if all((a, j) in says for j in JUDGES)]
    groups["all"] = wrongs
    counts = [
        [name, *(counted([told(a, says[a, j]) for a in group if (a, j) in says]) for j in JUDGES)]
        for name, group in groups.items()
    ]
    rights = [
        [not said for (a, j), said in says.items() if j == judge and not a.says] for judge in JUDGES
    ]
    counts.append(["right answers accepted", *(f"{sum(x)} of {len(x)}" for x in rights)])
    more = [
        sum(told(a, says[a, j], with_names=True) == "named" for a in wrongs if (a, j) in says)
        for j in ("cs336", "torchcode")
    ]
    words, texts = [], []
    for a in wrongs:
        cells = [told(a, says[a, j]) if (a, j) in says else a.spares.get(j, "–") for j in JUDGES]
        words.append([a.task, a.what, *cells])
        read = [f"*{JUDGES[j]}:* {shown(says[a, j])}" for j in JUDGES if says.get((a, j))]
        texts.append([f"{a.task}: {a.what}", "<br>".join(read)])
    return PAGE.format(
        **COMMITS,
        counts=table(["task", *titles], counts),
        more=" and ".join(map(str, more)),
        words=table(["task", "wrong answer", *titles], words),
        texts=table(["wrong answer", "is told"], texts),
    )


def shown(said: Said) -> str:
    """What a learner reads, in a cell of a table."""
    return re.sub(r"([\\*_|<>~$\[\]`])", r"\\\1", " · ".join(messages(said)))


PAGE = """<!-- Written by benchmarks/judges.py. -->
Each cell says how many of the wrong answers were rejected, and for how many of them the mistake was
named.

{counts}
The tests are those of CS336's commit `{cs336:.10}` and of TorchCode's `{torchcode:.10}`. If the
names of the failing tests counted as messages, the two would name {more}.

<details><summary>Every wrong answer, and what became of it</summary>

{words}
</details>

<details><summary>What was said of each</summary>

{texts}
</details>
"""


def main() -> None:
    """Ask all judges about all answers, and print what they say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cs336", type=Path, help="a clone of stanford-cs336/assignment1-basics")
    parser.add_argument("torchcode", type=Path, help="a clone of duoan/TorchCode")
    given = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        ask = {
            "ours": ask_ours,
            "cs336": ByCS336(given.cs336, Path(one)).ask,
            "torchcode": ByTorchCode(given.torchcode, Path(two)).ask,
        }
        says = {
            (answer, judge): ask[judge](answer)
            for answer in ANSWERS
            for judge in JUDGES
            if judge not in answer.spares and (judge != "cs336" or answer.task in ByCS336.TESTS)
        }
    print(report(says), end="")


if __name__ == "__main__":
    main()
