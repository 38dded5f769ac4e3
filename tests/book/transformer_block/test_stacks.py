"""The stored stacks are the page's, and what they are asked tells blocks apart."""

from pathlib import Path

import nbformat
import pytest
import torch

from book.transformer_block import stacks

CHAPTER = Path(__file__).parents[3] / "book/transformer_block/transformer_block.ipynb"


@pytest.fixture(scope="module")
def page() -> dict:
    """What the chapter's cells define."""
    cells = {cell.id: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {"seed": 7, "device": "cpu"}
    exec(
        "from companion.nn import FeedForward\nimport torch.nn.functional as F\nimport torch", names
    )
    for name in ("switches", "mirror", "train"):
        exec(cells[name], names)
    return names


@pytest.mark.parametrize("kind", [*stacks.MODELS.values(), {"norm": "post", "depth": 3}])
def test_a_stack_learns_what_that_of_the_page_learns(page, kind):
    kind = {"depth": 1, "norm": "pre", "symbols": 32} | kind
    models, right = [], []
    for make, learn in ((stacks.Mirror, stacks.train), (page["Mirror"], page["train"])):
        torch.manual_seed(7)
        models.append(make(**kind))
        models[-1].head.weight.data *= 30  # gradients long enough to be clipped
        how = {"steps": 5, "rate": 3e-3, "warm_up": 3, "size": 32}
        right.append(learn(models[-1], page["backwards"], **how))
    assert right[0] == pytest.approx(right[1], abs=0.01)
    ours, theirs = (model.state_dict() for model in models)
    assert ours.keys() == theirs.keys()
    for name, weights in ours.items():
        torch.testing.assert_close(weights, theirs[name])


def test_backwards_is_learned_and_a_table_needs_more_than_moving():
    assert stacks.block_learns(1, "with FFN", 0.006, facts=False, steps=100) > 0.9
    assert stacks.block_learns(1, "without FFN", 0.006, facts=True, steps=60) < 0.5


def test_ten_starts_have_a_share_for_each_rate():
    rows = stacks.stored()
    assert [row["seed"] for row in rows] == list(range(5301, 5311))
    for row in rows:
        assert list(row["orders"]) == list(stacks.ORDERS)
        assert list(row["blocks"]) == list(stacks.MODELS)
        shares = [(found, stacks.RATES) for found in row["orders"].values()]
        for tasks in row["blocks"].values():
            assert list(tasks) == ["backwards", "facts", "facts, later"]
            shares += [(found, stacks.FACTS_RATES) for found in tasks.values()]
        for found, rates in shares:
            assert len(found) == len(rates) and all(0 <= share <= 1 for share in found)


@pytest.mark.long
def test_a_stored_start_is_found_again():
    row = stacks.stored()[0]
    for order in stacks.ORDERS:
        again = stacks.order_learns(5301, order, 0.003)
        assert again == pytest.approx(row["orders"][order][1], abs=0.05)
    for name in stacks.MODELS:
        again = stacks.block_learns(5301, name, 0.006, facts=True, steps=400)
        assert again == pytest.approx(row["blocks"][name]["facts"][1], abs=0.1)
