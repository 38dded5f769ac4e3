"""Right options of the quiz on one's own language model, computed."""

from fractions import Fraction

import torch

from book.language_model import LanguageModel, rotate


def pushed_up() -> str:
    """Autograd's gradient."""
    logits = torch.zeros(5, requires_grad=True)
    torch.nn.functional.cross_entropy(logits, torch.tensor(2)).backward()
    share = Fraction(logits.grad[2].item()).limit_denominator(10)
    return f"{share}".replace("-", "−")


def where_it_stands() -> str:
    """The position at which a new key, turned, is that of one pass over all eight."""
    torch.manual_seed(0)
    model, ids = LanguageModel(11, d=16, layers=1, heads=2), torch.randint(11, (1, 8))
    one_pass, cache = model.empty_cache(), model.empty_cache()
    model(ids, one_pass)
    model(ids[:, :7], cache)
    if not torch.allclose(cache[0]["k"], one_pass[0]["k"][:, :, :7], atol=1e-5):
        return "That all keys in the cache must be turned again"
    (block,) = model.blocks
    x = block.norm1(model.norm_in(model.embedding(ids[:, 7:])))
    key = block.attention.qkv(x).view(1, 1, 3, 2, 8).permute(2, 0, 3, 1, 4)[1]
    last = one_pass[0]["k"][:, :, 7:]
    places = [at for at in range(12) if torch.allclose(rotate(key, at), last, atol=1e-5)]
    if len(places) != 1:
        return "Nothing: RoPE uses only distances"
    return f"That the new token stands at position {places[0]}"


def one_rare_word() -> str:
    """Counted: ten draws, each cut with a probability of 1 %."""
    cut = torch.rand(200_000, 10, generator=torch.Generator().manual_seed(0)) < 0.01
    return f"About {round(100 * cut.any(dim=1).double().mean().item())} %"


def smaller_pieces() -> str:
    """Words of two letters whose second follows from the first, whole and in letters."""
    p = torch.tensor([0.5, 0.25, 0.25])
    surprise = -(p * p.log()).sum()
    in_letters = torch.stack([surprise, torch.zeros(())]).mean()  # the second is certain
    ratio = (in_letters / surprise).item()
    return f"That with fewer merges has {'half' if ratio == 0.5 else 'twice'} the loss per token"
