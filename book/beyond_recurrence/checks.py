"""Checks for the exercises of book/beyond_recurrence.ipynb."""

import torch
import torch.nn.functional as F

from book.checking.exercise import Mistake, call, exercise, ladder, longest_chain
from book.checking.rungs import rungs


@exercise
def forget_bias(answer) -> str:
    """Check `forget_bias(distances, kept)`, (m,): for each distance the bias b of a forget gate.

    The gate sigmoid(b) multiplies the memory at every step; after that many steps the share `kept`,
    a number between 0 and 1, is to be left.
    """
    ladder(FORGET_BIAS, _forget_bias, forget_bias=answer)
    return "distances of 1 to 127 words, shares of 0.25, 0.5 and 0.9"


def _forget_bias(distances, kept):
    gate = kept ** (1 / distances)
    return (gate / (1 - gate)).log()


FORGET_BIAS = rungs(
    _forget_bias,
    """
one word: the gate is the share itself, and the bias is what the sigmoid turns into it; there is a
bias for each distance, also where there is only one
    forget_bias(torch.tensor([1.0]), 0.2)
  - this is the gate, not its bias: solve sigmoid(b) = gate for b
    (gate / (1 - gate)).log() => gate
  - the logarithm of the gate is not its bias: the sigmoid has to be undone
    (gate / (1 - gate)).log() => gate.log()
  - the sign is wrong: such a gate closes, or `kept` was taken for the share that is forgotten
    (gate / (1 - gate)).log() => (1 / gate - 1).log()
  - these are the odds of the gate; the bias is their logarithm
    (gate / (1 - gate)).log() => gate / (1 - gate)
  - the sigmoid of the gate was taken; the bias needs the opposite way, from gate to bias
    (gate / (1 - gate)).log() => gate.sigmoid()
  - the tangent was undone, not the sigmoid: a gate is a sigmoid
    (gate / (1 - gate)).log() => gate.atanh()
  - the logarithm is that of base 10; the sigmoid is made of exp, so its inverse has the natural one
    .log() => .log10()
  - the logarithm is that of base 2; the sigmoid is made of exp, so its inverse has the natural one
    .log() => .log2()
  - only what the gate lets go is in the logarithm; the odds are gate / (1 - gate)
    (gate / (1 - gate)).log() => -(1 - gate).log()
  - the gate is computed in half precision, which has three digits; keep it in float32
    (gate / (1 - gate)).log() => torch.logit(gate.half().float())
  - `kept` is taken for a percentage; it is a share between 0 and 1
    kept ** => (kept / 100) **
  - one word too few is counted, for a distance of 1 none at all: the gate is multiplied `distances`
  times
    1 / distances => 1 / (distances - 1)
  - `distances` is taken for a time constant, after which 1 / e is left; after that many words
  `kept` is
    kept ** (1 / distances) => (-1 / distances).exp()
three words: the gate is multiplied three times, so it is the third root of the share
    forget_bias(torch.tensor([3.0]), 0.125)
  - the distance is left out: this bias keeps the share for a single word
    kept ** (1 / distances) => kept ** (1 / distances.clamp(1, 1))
  - the share is raised to the power of the distance; the gate is its root
    (1 / distances) => distances
  - the share is divided by the distance, as if each word took the same amount off
    kept ** (1 / distances) => kept / distances
  - one word too few is counted: the gate is multiplied `distances` times
    1 / distances => 1 / (distances - 1).clamp(1)
  - what each word takes off is the same amount here; a gate multiplies what is left
    kept ** (1 / distances) => 1 - (1 - kept) / distances
  - one word too many is counted: the gate is multiplied `distances` times
    1 / distances => 1 / (distances + 1)
  - the bias of one word is divided by the distance; it is the gate that is shared out, as a root
    kept ** (1 / distances) => kept ** (1 / distances.clamp(1, 1))
    .log() => .log() / distances
  - the bias of one word is multiplied by the distance; it is the gate that is a root
    kept ** (1 / distances) => kept ** (1 / distances.clamp(1, 1))
    .log() => .log() * distances
  - `kept` is taken for the share that is forgotten; it is what is left
    kept ** => (1 - kept) **
  - twice the distance is counted, as if `kept` were left after half of it
    1 / distances => 1 / (2 * distances)
several distances: each has its own bias, in their order and shape
    forget_bias(torch.tensor([10.0, 100.0, 1.0]), 0.5)
  - all distances get the bias of the longest; each has its own
    1 / distances => 1 / distances.max().expand_as(distances)
  - all distances get the bias of the shortest; each has its own
    1 / distances => 1 / distances.min().expand_as(distances)
  - all distances get the bias of the first; each has its own
    1 / distances => 1 / distances[:1].expand_as(distances)
  - all distances get the bias of their mean; each has its own
    1 / distances => 1 / distances.mean().expand_as(distances)
  - the biases come in the order of the distances; they keep the place of their own
    1 / distances => 1 / distances.sort().values
another share than a half, and distances up to 127
    distances = torch.tensor([5.0, 31.0, 127.0])
    forget_bias(distances, 0.9)
  - the share is always a half; `kept` says how much is left
    gate = kept => gate = 0.5
""",
)


@exercise
def convolve_centred(answer) -> str:
    """Check `convolve_centred(conv, x)`, (B, n, d) -> (B, n, d), for an nn.Conv1d of odd width."""
    ladder(CONVOLVE_CENTRED, _convolve_centred, convolve_centred=answer)
    return "kernels of 1, 3 and 5, sentences of 2 to 7 words, a bias, and gradients"


def _convolve_centred(conv, x):
    side = (conv.kernel_size[0] - 1) // 2
    sides = (side, side)
    return conv(F.pad(x.mT, sides)).mT


CONVOLVE_CENTRED = rungs(
    _convolve_centred,
    """
a kernel of one word: `conv` wants (B, d, n), and the result is (B, n, d) again
    conv, x = torch.nn.Conv1d(2, 2, 1), torch.randn(1, 3, 2)
    convolve_centred(conv, x)
  - the result is still (B, d, n): turn it back
    )).mT => ))
  - the axes are reshaped, not exchanged: x.mT
    x.mT => x.reshape(len(x), x.shape[2], x.shape[1])
  - the axes are reshaped on the way back, not exchanged
    conv(F.pad(x.mT, sides)).mT => conv(F.pad(x.mT, sides)).reshape(x.shape)
  - the padding is always 1; it is (k - 1) / 2
    conv.kernel_size[0] => 3
  - x is added to what the layer gives; only the layer was asked for
    conv(F.pad(x.mT, sides)).mT => x + conv(F.pad(x.mT, sides)).mT
  - the layer is applied twice; once reaches both sides, if both are padded
    conv(F.pad(x.mT, sides)).mT => conv(F.pad(conv(F.pad(x.mT, sides)), sides)).mT
  - a ReLU follows the layer; only the layer was asked for
    conv(F.pad(x.mT, sides)).mT => conv(F.pad(x.mT, sides)).mT.relu()
a kernel of three words: the word, one to its left and one to its right; beyond the ends of the
sentence there are zeros to read, and every word gets a result, the first and the last, too
    conv = torch.nn.Conv1d(1, 1, 3, bias=False)
    conv.weight.data = torch.tensor([[[1.0, 10.0, 100.0]]])
    convolve_centred(conv, torch.tensor([[[1.0], [2.0], [3.0], [4.0]]]))
  - it still looks left only: pad both sides with (k - 1) / 2
    sides = (side, side) => sides = (2 * side, 0)
  - it looks right only: pad both sides with (k - 1) / 2
    sides = (side, side) => sides = (0, 2 * side)
  - nothing is padded, and words are lost at both ends: pad both sides with (k - 1) / 2
    sides = (side, side) => sides = (0, 0)
  - the result is filled up with zeros at both ends; fill up the sentence, so that its first and
  last word get a result as well
    conv(F.pad(x.mT, sides)).mT => F.pad(conv(x.mT), sides).mT
  - the sentence is filled up with ones; fill with zeros, as `convolve` does
    F.pad(x.mT, sides) => F.pad(x.mT, sides, value=1.0)
  - each side is padded with k - 1, and the result is longer than the sentence: (k - 1) / 2 on
  each side
    sides = (side, side) => sides = (2 * side, 2 * side)
  - the kernel is turned round: its first weight belongs to the word on the left
    conv(F.pad(x.mT, sides)).mT => F.conv1d(F.pad(x.mT, sides), conv.weight.flip(-1), conv.bias).mT
  - the ends are filled with their nearest word; fill with zeros, as `convolve` does
    F.pad(x.mT, sides) => F.pad(x.mT, sides, mode="replicate")
  - the ends are mirrored; fill with zeros, as `convolve` does
    F.pad(x.mT, sides) => F.pad(x.mT, sides, mode="reflect")
  - the sentence is closed to a ring: what falls off one end comes in at the other
    F.pad(x.mT, sides) => F.pad(x.mT, sides, mode="circular")
a layer has a bias
    conv = torch.nn.Conv1d(1, 1, 3)
    convolve_centred(conv, torch.tensor([[[1.0], [2.0], [3.0], [4.0]]]))
  - the bias of the layer is left out
    conv(F.pad(x.mT, sides)).mT => F.conv1d(F.pad(x.mT, sides), conv.weight).mT
a kernel of five words sees two to either side
    conv, x = torch.nn.Conv1d(1, 1, 5), torch.randn(1, 7, 1)
    convolve_centred(conv, x)
a sentence that is shorter than the kernel
    conv, x = torch.nn.Conv1d(1, 1, 5), torch.randn(1, 2, 1)
    convolve_centred(conv, x)
several sentences, and vectors with as many entries as there are words
    conv, x = torch.nn.Conv1d(4, 4, 3), torch.randn(2, 4, 4)
    convolve_centred(conv, x)
the layer stays as it is: its own padding is 0 before and after
    conv, x = torch.nn.Conv1d(2, 2, 3), torch.randn(1, 4, 2)
    convolve_centred(conv, x).shape, conv.padding, conv(x.mT).shape
a layer can be trained: gradients reach its weights and its input
    conv, x = torch.nn.Conv1d(2, 2, 3), torch.randn(1, 4, 2, requires_grad=True)
    torch.autograd.grad(convolve_centred(conv, x).square().sum(), (conv.weight, conv.bias, x))
""",
)


@exercise
def scan(answer) -> str:
    """Check `scan(w, x)`, (n,) and (n,) -> (n,): h_t = w_t h_(t-1) + x_t in about log2(n) rounds.

    The state starts at 0.
    """
    ladder(SCAN, _scan, scan=answer)
    short, long = (longest_chain(call(answer, **_leaves(n))) for n in (32, 256))
    if long > 2 * short:  # 8 rounds against 5; a loop has 256 against 32
        raise Mistake(
            "the numbers are right, but each waits for the one before: the longest chain of "
            "operations should grow with the logarithm of n",
            f"32 numbers: {short} operations in a row; 256 numbers: {long}",
        )
    return "1 to 100 numbers, weights of 0, and the longest chain for 32 and 256 numbers"


def _leaves(n: int) -> dict[str, torch.Tensor]:
    return {name: torch.rand(n, requires_grad=True) for name in ("w", "x")}


def _scan(w, x):
    distance, n = 1, len(x)
    while distance < n:
        w_before = F.pad(w, (distance, 0), value=1.0)[:n]
        x_before = F.pad(x, (distance, 0))[:n]
        w, x = w * w_before, w * x_before + x
        distance *= 2
    return x


SCAN = rungs(
    _scan,
    """
one number: the state starts at 0, so the first state is the first number
    scan(torch.tensor([0.5]), torch.tensor([3.0]))
  - w multiplies the new word as well as the state
    distance, n => x = w * x; distance, n
  - the state starts at 1; it should start at 0
    distance, n => x = x + w * (torch.arange(len(x)) == 0); distance, n
two numbers: the second state is w_2 times the first, plus x_2
    scan(torch.tensor([3.0, 0.5]), torch.tensor([1.0, 4.0]))
  - the weights are left out: this is the running sum
    distance, n => w = torch.ones_like(w); distance, n
  - the weights are one place off: the state before word t is multiplied by w_t
    distance, n => w = w.roll(1); distance, n
  - it runs from the end to the beginning
    distance, n => w, x = w.flip(0), x.flip(0); distance, n
    return x => return x.flip(0)
  - no word hears of the one before
    while distance => while distance + 99
  - the last round is missing: go on until the distance reaches n
    while distance < n => while 2 * distance < n
four numbers, only the first of which is not 0: it is multiplied by w_2, w_3 and w_4 in turn, and
reaches every later place, without one between left out
    scan(torch.tensor([7.0, 2.0, 3.0, 5.0]), torch.tensor([1.0, 0.0, 0.0, 0.0]))
  - there is only one round: go on with the one 2, 4, 8, ... places before
    distance *= 2 => distance = n
  - every round combines with the neighbour; the distance should double
    (distance, 0) => (1, 0)
  - the distance grows by 1 in each round; it should double
    distance *= 2 => distance += 1
  - the weights stay the same in all rounds: two steps in a row have the weight w_2 w_1
    w, x = w * w_before, w * x_before + x => x = w * x_before + x
  - w is renewed before x has used the old one
    w, x = w * w_before, w * x_before + x => w = w * w_before; x = w * x_before + x
  - beyond the beginning the last numbers come in again; there stands w = 1 and x = 0
    F.pad(w, (distance, 0), value=1.0)[:n] => w.roll(distance)
    F.pad(x, (distance, 0))[:n] => x.roll(distance)
four numbers, all with a weight of 1: the running sum
    scan(torch.ones(4), torch.tensor([1.0, 4.0, -2.0, 3.0]))
negative weights have no logarithm
    scan(torch.tensor([1.0, -2.0, -0.5]), torch.tensor([1.0, 2.0, 3.0]))
  - weights are multiplied as exp of sums of their logarithms, which negative weights do not have
    while distance < n => while distance < 0
    return x => return (LOGS[:, None] - LOGS).exp().tril() @ x
    LOGS => w.log().cumsum(0)
  - the signs of the weights are lost
    distance, n => w = w.abs(); distance, n
six numbers, which is no power of two; weights and numbers of either sign
    scan(torch.tensor([2.0, 0.5, 3.0, 1.0, -1.0, 0.25]), torch.tensor([1.0, 4.0, -2.0, 1.0, 0, 5]))
  - the rounds stop too early where n is no power of two: go on until the distance reaches n
    while distance < n => while 2 * distance <= n
a weight of 0 forgets all that was before; nothing can be divided by it
    scan(torch.tensor([0.5, 0.0, 0.5]), torch.tensor([1.0, 2.0, 4.0]))
  - it divides by products of weights, which may be 0, or too small to be divided by
    while distance < n => while distance < 0
    return x => return (x / w.cumprod(0)).cumsum(0) * w.cumprod(0)
  - weights of 0 are taken for very small ones to divide by their products; they forget everything
    while distance < n => while distance < 0
    return x => return (x / (w + 1e-6).cumprod(0)).cumsum(0) * (w + 1e-6).cumprod(0)
seventeen numbers need five rounds, with distances of 1, 2, 4, 8 and 16: their number grows with n
    scan(torch.ones(17), torch.ones(17))
  - there are four rounds at most, whatever n is: go on until the distance reaches n
    while distance < n => while distance < min(n, 16)
  - there are three rounds at most, whatever n is: go on until the distance reaches n
    while distance < n => while distance < min(n, 8)
a hundred small weights: their product is too small to be divided by, even if none of them is 0
    scan(torch.full((100,), 0.1), torch.ones(100))
a hundred random numbers
    w, x = 2 * torch.rand(100) - 1, torch.randn(100)
    scan(w, x)
""",
)
