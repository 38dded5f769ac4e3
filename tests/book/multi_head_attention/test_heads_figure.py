"""The heads of one layer side by side, held to PyTorch on random weights."""

import copy

import pytest
import torch
from playwright.sync_api import expect
from torch import nn

from book.multi_head_attention import heads_figure
from companion.data import Vocabulary
from companion.data.lexicon import ACTORS, TRANSITIVE_VERBS
from companion.nn import LearnedPositions, MultiHeadAttention, TokenEmbedding
from tests.book.reading import Example, close, numbers, press, randomised, select

pytestmark = pytest.mark.browser

VOCABULARY = Vocabulary()


class WhoDidIt(nn.Module):
    """The model of the chapter on multi-head attention."""

    def __init__(self, num_heads: int = 4, residual: bool = False):
        super().__init__()
        self.embedding = TokenEmbedding(len(VOCABULARY), 16)
        self.positions = LearnedPositions(5, 16)
        self.attention = MultiHeadAttention(16, num_heads)
        self.head = nn.Linear(16, 2 * len(VOCABULARY))
        self.residual = residual

    def forward(self, ids, need_weights=False):
        x = self.positions(self.embedding(ids))
        attended, weights = self.attention(x, need_weights=need_weights)
        x = x + attended if self.residual else attended
        return self.head(x[:, 2]).unflatten(1, (2, -1)), weights


@pytest.mark.parametrize("residual", [False, True])
def test_heads_equal_pytorch(show, residual):
    model = randomised(WhoDidIt(residual=residual))
    page = show(heads_figure(model, VOCABULARY, residual=residual))
    ids = VOCABULARY.encode([ACTORS])[0]

    def check(sentence: str, off: tuple[int, ...] = ()) -> None:
        ablated = copy.deepcopy(model)
        for head in off:
            ablated.attention.out_proj.weight.data[:, 4 * head : 4 * head + 4] = 0
        with torch.no_grad():
            logits, weights = ablated(VOCABULARY.encode([sentence.split()]), need_weights=True)
        close(numbers(page.locator("[data-name=rows] td[data-value]")), weights[0, :, 2])
        probabilities, best = logits[0][:, ids].softmax(-1).max(-1)
        close(numbers(page.locator("[data-name=subject], [data-name=object]")), probabilities)
        subject, object_ = (ACTORS[i] for i in best)
        expect(page.get_by_role("status")).to_contain_text(f"“{subject}” does it to “{object_}”")

    check("the dog bites the man")
    select(page, "who").select_option("queen")
    select(page, "does").select_option(TRANSITIVE_VERBS[-1])
    check(f"the queen {TRANSITIVE_VERBS[-1]} the man")
    page.get_by_role("button", name="Exchange").click()
    check(f"the man {TRANSITIVE_VERBS[-1]} the queen")
    select(page, "to whom").select_option("man")  # the same noun twice: they change places
    check(f"the queen {TRANSITIVE_VERBS[-1]} the man")
    press(page.get_by_role("checkbox", name="head 2"), "Space")
    check(f"the queen {TRANSITIVE_VERBS[-1]} the man", off=(1,))
    page.get_by_role("checkbox", name="head 4").uncheck()
    check(f"the queen {TRANSITIVE_VERBS[-1]} the man", off=(1, 3))
    expect(page.get_by_role("status")).to_contain_text("Without head 2 and 4")


def test_goals_are_reached_by_one_right_answer_and_by_a_lone_head(show):
    model = randomised(WhoDidIt())
    dog, man = VOCABULARY.encode([["dog", "man"]])[0]
    model.head.bias.data[dog] = model.head.bias.data[len(VOCABULARY) + man] = 100
    page = show(heads_figure(model, VOCABULARY))  # it answers "dog" and "man", whatever is asked
    goals = page.get_by_role("list", name="goals").get_by_role("listitem")

    def reached() -> list[int]:
        return [i for i in range(3) if "(reached)" in goals.nth(i).inner_text()]

    assert reached() == []  # both are right
    select(page, "to whom").select_option("queen")
    assert reached() == [1]
    select(page, "who").select_option("king")
    assert reached() == [1]  # both are wrong
    select(page, "to whom").select_option("man")
    assert reached() == [0, 1]
    for head in (1, 2, 3):
        assert reached() == [0, 1]
        page.get_by_role("checkbox", name=f"head {head}").uncheck()
    assert reached() == [0, 1, 2]


EXAMPLE = Example(
    lambda: heads_figure(randomised(WhoDidIt()), VOCABULARY), "[data-name=rows] td[data-value]"
)
