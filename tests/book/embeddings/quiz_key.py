"""Right options of the quiz on embeddings, computed."""

import torch
import torch.nn.functional as F

from book.embeddings.byte_pairs import apply_bpe
from companion.nn import TokenEmbedding


def unseen_word() -> str:
    return " ".join(apply_bpe("western", [("w", "e"), ("s", "t")]))


def look_up() -> str:
    table, word = torch.randn(1000, 32), 707
    product = F.one_hot(torch.tensor(word), 1000).float() @ table
    if torch.equal(product, table[word]):
        return "A row of the matrix"
    return "The sum of all rows" if torch.allclose(product, table.sum(0)) else "A column"


def distances() -> str:
    cat, dog, car = F.one_hot(torch.arange(3)).double()
    dog, car = (cat - dog).norm(), (cat - car).norm()
    return "Neither" if dog == car else "“dog”" if dog < car else "“car”"


def rare_words() -> str:
    table, words = TokenEmbedding(11, 3), torch.tensor([[2, 7, 2], [5, 7, 2]])
    table(words).square().sum().backward()
    touched = table.weight.grad.any(-1).nonzero().flatten().tolist()
    return {11: "All of them", 0: "None"}.get(
        len(touched),
        "Those of the words in the batch"
        if touched == [2, 5, 7]
        else "Those of the words that are not",
    )


def bank() -> str:
    """Train one row to be near the neighbours of either meaning, equally often."""
    random = torch.Generator().manual_seed(7)
    money, river = F.normalize(torch.randn(2, 16, generator=random), dim=-1)
    row = torch.randn(16, generator=random, requires_grad=True)
    optimizer = torch.optim.SGD([row], lr=0.05)
    for step in range(400):
        company = money if step % 2 else river
        optimizer.zero_grad()
        (-F.cosine_similarity(row, company, dim=0)).backward()
        optimizer.step()
    to_money, to_river, to_middle = (
        F.cosine_similarity(row, other, dim=0) for other in (money, river, money + river)
    )
    if to_middle > max(to_money, to_river):
        return "Between the words of either meaning"
    return "With the words of money" if to_money > to_river else "It jumps"
