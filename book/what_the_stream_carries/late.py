"""Is it too late, behind the first block, to turn *his* into *her*? Thirty starts of the model.

    python -m book.what_the_stream_carries.late {5101..5130} > late.json

made the table, which lies beside this file. A seed draws sentences, start and nouns: 15 seconds.
"""

import torch
from torch import Tensor

from book import runs
from book.language_model import LanguageModel, train
from book.language_model import table as as_table
from companion.data import WORDS, corpus
from companion.data.lexicon import GENDER_PAIRS

STEPS, BATCH = 600, 64
NUMBER_OF = {word: i + 1 for i, word in enumerate(WORDS)}  # 0 begins and ends


def learned(seed: int) -> LanguageModel:
    """A model like the chapter's."""
    sentences = corpus(STEPS * BATCH, seed)
    text = as_table([[0, *(NUMBER_OF[word] for word in s), 0] for s in sentences])
    torch.manual_seed(seed)
    model = LanguageModel(len(WORDS) + 1)
    train(model, lambda step: text[step * BATCH : (step + 1) * BATCH], STEPS)
    return model.eval()


@torch.no_grad()
def obeying(model: LanguageModel, seed: int) -> float:
    """Of the nouns that had *his*, the share that has *her* with the vector behind block 1.

    The vector is made of one half of the pairs, which the seed draws; the other half is asked.
    """
    order = torch.randperm(len(GENDER_PAIRS), generator=torch.Generator().manual_seed(seed))
    pairs = [list(GENDER_PAIRS)[i] for i in order]
    half = len(pairs) // 2

    def run(nouns: list[str], vector: Tensor | float = 0.0) -> tuple[Tensor, Tensor]:
        """Whether *her* comes after each noun, and the vectors behind block 1 at the nouns."""
        kept = []

        def push(module, inputs, out: Tensor) -> Tensor:
            kept.append(out[:, 2])
            out = out.clone()
            out[:, 2] += vector
            return out

        ids = torch.tensor([[0, *(NUMBER_OF[w] for w in ("the", n, "misses"))] for n in nouns])
        with model.blocks[0].register_forward_hook(push):
            logits = model(ids)[:, -1]
        return logits[:, NUMBER_OF["her"]] > logits[:, NUMBER_OF["his"]], kept[0]

    he, she = (run([pair[i] for pair in pairs[:half]])[1].mean(0) for i in (0, 1))
    asked = [pair[0] for pair in pairs[half:]]
    before, now = run(asked)[0], run(asked, she - he)[0]
    return now[~before].double().mean().item()


def measure(seed: int) -> dict:
    """{"seed", "obey": the share of nouns}."""
    return {"seed": seed, "obey": round(obeying(learned(seed), seed), 4)}


def stored() -> list[dict]:
    """The committed table, a row for each seed."""
    return runs.read(__file__, "late.json")


if __name__ == "__main__":
    runs.write(measure)
