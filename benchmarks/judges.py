"""The same wrong and right answers through our checks and the public ones of two other courses.

    pip install --no-deps --target /tmp/judges einops
    git clone https://github.com/stanford-cs336/assignment1-basics /tmp/cs336
    git clone https://github.com/duoan/TorchCode /tmp/torchcode
    PYTHONPATH=.:/tmp/judges python benchmarks/judges.py /tmp/cs336 /tmp/torchcode \
        > benchmarks/judges.md

The answers are in `judges_answers.py`; here are the adapters and the rule of counting. Both
repositories are read with git and left as they are.
"""

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
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
from companion import checks

JUDGES = {"ours": "ours", "cs336": "CS336, assignment 1", "torchcode": "TorchCode"}
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

Said = str | None  # what a judge says of a mistake; None where it accepts


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


own, after = checks.own_language_model, checks.after_pretraining
OURS: dict[str, tuple[Callable, Callable]] = {
    NORM: (own.norm, our_norm),
    GATE: (own.gate, our_gate),
    ROPE: (checks.positional_encoding.rotate, lambda function: function),
    MASK: (checks.self_attention.masked_attention, lambda function: function),
    CACHE: (own.attention, our_attention),
    DRAW: (own.probabilities, lambda function: function),
    DPO: (after.dpo_loss, lambda function: function),
    PAIRS: (own.tokenizer, our_tokenizer),
}


def ask_ours(answer: Answer) -> Said:
    """What our check says."""
    check, adapt = OURS[answer.task]
    verdict = check(adapt(answer.function))
    return None if verdict.status == "passed" else verdict.mistake


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
    ADAPTERS = (
        "run_multihead_self_attention_with_rope run_rope run_silu run_multihead_self_attention"
        " run_swiglu run_rmsnorm run_scaled_dot_product_attention run_transformer_block"
        " run_transformer_lm run_linear run_embedding run_train_bpe"
    ).split()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pytest.ini").write_text("[pytest]\n")
        lines = ["current = {}"]
        for name in self.ADAPTERS:
            lines.append(f"def {name}(*a, **k): return current['{name}'](*a, **k)")
        (folder / "tests" / "adapters.py").write_text("\n".join(lines))
        self.made_anew = not (folder / "tests/fixtures/ts_tests/model.pt").exists()
        if self.made_anew:
            self.make_weights()

    def make_weights(self) -> None:
        """Weights and expected results of ours, where the file of theirs is not there."""
        made = torch.Generator().manual_seed(0)
        drawn = {"layers.1.ln1.weight": 1 + 0.3 * torch.randn(64, generator=made)}
        for name, shape in (("w1", (128, 64)), ("w2", (64, 128)), ("w3", (128, 64))):
            drawn[f"layers.0.ffn.{name}.weight"] = torch.randn(shape, generator=made) / 8
        for name in ("q", "k", "v", "output"):
            drawn[f"layers.0.attn.{name}_proj.weight"] = torch.randn(64, 64, generator=made) / 8
        at = self.folder / "tests/fixtures/ts_tests"
        torch.save(drawn, at / "model.pt")
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
        seen = []

        class Reports:
            def pytest_runtest_logreport(self, report):
                if report.failed:
                    seen.append(f"{report.nodeid}: {report.longrepr.reprcrash.message}")

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
        return "\n".join(seen) or None


# ---- TorchCode
class ByTorchCode:
    """The tests of TorchCode's tasks, as its engine runs them."""

    def __init__(self, folder: Path) -> None:
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
        """The names and messages of the tests that fail."""
        seen = []
        for task, form in self.forms(answer).items():
            name = self.tasks[task]["function_name"]
            for test in self.tasks[task]["tests"]:
                torch.manual_seed(0)
                try:
                    exec(test["code"].replace("{fn}", name), {name: form})
                except Exception as error:
                    seen.append(f"{test['name']}: {type(error).__name__}: {error}")
        return "\n".join(seen) or None


# ---- the report
def copied(repository: Path, part: str, to: Path) -> str:
    """Copy a folder of a repository's HEAD as far as its contents are there; return the commit."""

    def git(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run(["git", "-C", repository, *words], capture_output=True, check=False)

    for line in git("ls-tree", "-r", "HEAD", part).stdout.decode().splitlines():
        about, _, path = line.partition("\t")
        blob = git("cat-file", "blob", about.split()[2])
        if blob.returncode == 0:
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            (to / path).write_bytes(blob.stdout)
    return git("rev-parse", "--short=10", "HEAD").stdout.decode().strip()


def told(answer: Answer, said: Said) -> str:
    """The word of the table for what a judge says of a wrong answer."""
    if said is None:
        return "accepted"
    return "named" if re.search(answer.idea, said, re.IGNORECASE) else "rejected"


def report(asked: dict[str, Callable], commits: dict[str, str], made_anew: bool) -> None:
    """Ask all judges about all answers, and print what they say."""
    says: dict[tuple[Answer, str], Said] = {}
    for answer in ANSWERS:
        for judge, ask in asked.items():
            tests = judge != "cs336" or answer.task in ByCS336.TESTS
            if tests and judge not in answer.spares:
                says[answer, judge] = ask(answer)
                if os.environ.get("JUDGES_SAY"):
                    print(judge, answer.what, says[answer, judge], sep=" | ", file=sys.stderr)
    print(HEAD.format(**commits))
    if made_anew:
        print(MADE_ANEW)
    print("| task |", " | ".join(JUDGES.values()), "|\n|---|" + "---|" * len(JUDGES))
    tasks = list(dict.fromkeys(answer.task for answer in ANSWERS))
    for task in [*tasks, "all"]:
        row = []
        for judge in JUDGES:
            group = [a for a, j in says if j == judge and task in (a.task, "all")]
            wrongs = [told(a, says[a, judge]) for a in group if a.idea]
            rights = [says[a, judge] is None for a in group if not a.idea]
            rejected, named = sum(w != "accepted" for w in wrongs), wrongs.count("named")
            row.append(
                f"{rejected} / {named} of {len(wrongs)}; {sum(rights)} of {len(rights)}"
                if group
                else "–"
            )
        print(f"| {task} |", " | ".join(row), "|")
    print(BETWEEN)
    print(
        "| task | wrong answer |",
        " | ".join(JUDGES.values()),
        "|\n|---|---|" + "---|" * len(JUDGES),
    )
    for answer in filter(lambda answer: answer.idea, ANSWERS):
        row = []
        for judge in JUDGES:
            if (answer, judge) in says:
                row.append(told(answer, says[answer, judge]))
            else:
                row.append(f"not asked: {answer.spares[judge]}" if judge in answer.spares else "–")
        print(f"| {answer.task} | {answer.what} |", " | ".join(row), "|")


HEAD = """# The same answers before three judges

Three collections of automatic checks were given the same wrong and right answers: the exercises
of this book; the tests of [Stanford CS336, assignment
1](https://github.com/stanford-cs336/assignment1-basics) (at `{cs336}`); and
[TorchCode](https://github.com/duoan/TorchCode) (at `{torchcode}`). Each is made for something
else. CS336's tests tell students of a course, who also have a handout, staff and each other,
whether the parts of one large assignment are right; they compare with results of a reference
implementation. TorchCode is practice for interviews: short tasks, a few tests each, a formula in
the statement. Our checks are for somebody who learns alone, and so they try to say what is wrong.

The comparison is not neutral. We wrote the answers, the adapters and the rule, and we chose the
tasks from our own exercises. The other judges test much that is not here: CS336 a whole language
model, AdamW, checkpoints, memory, speed and agreement with GPT-2's tokenizer; TorchCode some
thirty further tasks. Our statements often promise more, or something else, than theirs. An answer
is asked of a judge only if its mistake is one by that judge's own statement; where it is not, the
second table says why.

**The rule.** A judge *rejects* a wrong answer if any of its tests for the task fails. It *names*
the mistake if what a student then reads, the failing tests' names included, has a word of the
mistake's idea ("root" or "scale" for a missing scale, say). The words are in
`benchmarks/judges_answers.py`; they were written with the vocabulary of all three in mind. A
message that says only that numbers differ names nothing, although the name of its test may.
"""

MADE_ANEW = """CS336's file of trained weights is not in our copy of its repository. For its tests of
RMSNorm, SwiGLU and multi-head attention we drew weights and computed the expected results with
PyTorch's own functions; inputs, code and tolerances of the tests are theirs.
"""

BETWEEN = """
Each cell: wrong answers rejected / named of those asked; right answers accepted of those asked.
"""


def main() -> None:
    """Report on all answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cs336", type=Path)
    parser.add_argument("torchcode", type=Path)
    given = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        commits = {
            "cs336": copied(given.cs336, "tests", Path(one)),
            "torchcode": copied(given.torchcode, "torch_judge", Path(two)),
        }
        cs336 = ByCS336(Path(one))
        asked = {"ours": ask_ours, "cs336": cs336.ask, "torchcode": ByTorchCode(Path(two)).ask}
        report(asked, commits, cs336.made_anew)


if __name__ == "__main__":
    main()
