"""Checks for the exercises of book/full_model.ipynb."""

from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from book.checking.exercise import climb, exercise
from book.checking.rungs import ladder
from companion.nn import DecoderBlock


@exercise
def shifted(answer) -> str:
    """Check `shifted(target_ids, bos_id, eos_id, pad_id)` -> (inputs, labels), both (B, T + 1).

    target_ids (B, T) are padded and without special tokens. At a place where nothing is asked, the
    inputs may hold [EOS] as well as padding.
    """

    def tidied(target_ids, bos_id, eos_id, pad_id):
        """The answer, with padding for an [EOS] that is read where nothing is asked."""
        result = answer(target_ids, bos_id, eos_id, pad_id)
        match result:
            case (torch.Tensor() as inputs, torch.Tensor() as labels):
                if inputs.shape == labels.shape:
                    idle = (inputs == eos_id) & (labels == pad_id)
                    return inputs.masked_fill(idle, pad_id), labels
        return result

    climb(SHIFTED, tidied)
    return "one sentence, a shorter one beside it, other ids, three sentences of 1 to 5 words"


def _shifted(target_ids, bos_id, eos_id, pad_id):
    more = F.pad(target_ids, (0, 1), value=pad_id)
    end = (target_ids != pad_id).sum(1, keepdim=True)
    labels = more.scatter(1, end, eos_id)
    return F.pad(target_ids, (1, 0), value=bos_id), labels


def _but(*, inputs=None, labels=None):
    """The right answer with other inputs or other labels."""

    def variant(target_ids, bos_id, eos_id, pad_id):
        given = (target_ids, bos_id, eos_id, pad_id)
        right = _shifted(*given)
        return (inputs(*given) if inputs else right[0]), (labels(*given) if labels else right[1])

    return variant


def _end_everywhere(target_ids, bos_id, eos_id, pad_id):
    return F.pad(target_ids, (0, 1), value=pad_id).where(
        F.pad(target_ids != pad_id, (0, 1)), eos_id
    )


@ladder(_shifted)
def SHIFTED(shifted):
    """the model reads [BOS], w1, w2 and is asked for w1, w2, [EOS]: here 1 5 6 and 5 6 2"""
    target_ids = torch.tensor([[5, 6]])
    yield shifted(target_ids, 1, 2, 0)  # bos_id, eos_id, pad_id

    """in a shorter sentence [EOS] stands right behind its last word, and behind that is
    padding"""
    target_ids = torch.tensor([[5, 6, 8], [4, 0, 0]])
    yield shifted(target_ids, 1, 2, 0)  # bos_id, eos_id, pad_id

    """the ids are those that are given: padding need not be 0"""
    target_ids = torch.tensor([[3, 4, 5, 6, 8], [3, 9, 9, 9, 9], [5, 3, 4, 9, 9]])
    yield shifted(target_ids, 7, 0, 9)  # bos_id, eos_id, pad_id

    """ids are integers: an embedding looks them up"""
    target_ids = torch.tensor([[5, 6]])
    yield [torch.as_tensor(ids).is_floating_point() for ids in shifted(target_ids, 1, 2, 0)]


SHIFTED.mistakes |= {
    "there is no [EOS]: the model would never learn to stop": (
        _but(
            labels=lambda target_ids, bos_id, eos_id, pad_id: F.pad(
                target_ids, (0, 1), value=pad_id
            )
        )
    ),
    "there is no [BOS]: the first word would be read before it is said": (
        _but(
            inputs=lambda target_ids, bos_id, eos_id, pad_id: F.pad(
                target_ids, (0, 1), value=pad_id
            )
        )
    ),
    "inputs and labels have changed places: return what is read first": (
        lambda *given: _shifted(*given)[::-1]
    ),
    "nothing is shifted: at each place the model is asked for the word that it reads there": (
        _but(labels=lambda *given: _shifted(*given)[0])
    ),
    "it is the shift of T places: the last word, or its [EOS], is cut off": (
        lambda target_ids, bos_id, eos_id, pad_id: (
            F.pad(target_ids, (1, 0), value=bos_id)[:, :-1],
            target_ids,
        )
    ),
    "[EOS] is written over the last word; it stands behind it": (
        _but(
            labels=lambda target_ids, bos_id, eos_id, pad_id: F.pad(
                target_ids.scatter(1, (target_ids != pad_id).sum(1, keepdim=True) - 1, eos_id),
                (0, 1),
                value=pad_id,
            )
        )
    ),
    "[EOS] is in the last column of every row; it should stand right behind the row's own "
    "last word": (
        _but(
            labels=lambda target_ids, bos_id, eos_id, pad_id: F.pad(
                target_ids, (0, 1), value=eos_id
            )
        )
    ),
    "the padding of the labels was filled with [EOS]: it would be asked for again and again": (
        _but(labels=_end_everywhere)
    ),
}


@exercise
def smoothed_loss(answer) -> str:
    """Check `smoothed_loss(logits, targets, smoothing, pad_id)`, the mean over the real tokens.

    logits (B, T, V), targets (B, T). A share `smoothing` of the target's probability is spread
    evenly over all V tokens, the target and the padding token included.
    """
    climb(SMOOTHED_LOSS, answer)
    return "one token, smoothing of 0, 0.1 and 0.5, padding with two ids, sentences of two lengths"


def _smoothed(
    logits,
    targets,
    smoothing,
    pad_id,
    *,
    dim=-1,
    smooth=lambda log_p, smoothing: smoothing * log_p.mean(-1),
    keep=lambda smoothing: 1 - smoothing,
    real=lambda targets, pad_id: targets != pad_id,
    per=lambda losses, real: losses.sum() / real.sum(),
):
    """The loss, or what it would be with one step done in another way."""
    log_p = logits.log_softmax(dim)  # (B, T, V)
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    losses = -(keep(smoothing) * right + smooth(log_p, smoothing))
    asked = real(targets, pad_id)
    return per(losses.masked_fill(~asked, 0.0), asked)


def _raw_logits(logits, targets, smoothing, pad_id):
    log_p = logits.log_softmax(-1).gather(-1, targets[..., None])[..., 0]
    losses = -((1 - smoothing) * log_p + smoothing * logits.mean(-1))
    return losses[targets != pad_id].mean()


def _divergence(logits, targets, smoothing, pad_id):
    p = torch.full(logits.shape[-1:], smoothing / logits.shape[-1])
    p[0] += 1 - smoothing
    return _smoothed(logits, targets, smoothing, pad_id) - torch.special.entr(p).sum()


@ladder(_smoothed)
def SMOOTHED_LOSS(smoothed_loss):
    """without smoothing the loss of a token is minus the logarithm of the probability that the
    softmax over the vocabulary gives it: here -log(1/4)"""
    logits = torch.tensor([[[4.0, 1, 1, 2]]]).log()  # probabilities 1/2, 1/8, 1/8 and 1/4
    targets = torch.tensor([[3]])
    yield smoothed_loss(logits, targets, 0.0, 0)

    """with a smoothing of 0.5 half of the target's probability is spread evenly over all four
    tokens, an eighth for each, the target and padding too"""
    logits = torch.tensor([[[4.0, 1, 1, 2]]]).log()  # probabilities 1/2, 1/8, 1/8 and 1/4
    targets = torch.tensor([[3]])
    yield smoothed_loss(logits, targets, 0.5, 0)

    """padding is left out, of the sum and of the number that it is divided by"""
    logits = torch.tensor([[[3.0, 1, 1, 3], [1, 4, 2, 1]]]).log()
    targets = torch.tensor([[3, 0]])
    yield smoothed_loss(logits, targets, 0.5, 0)

    """the loss is the mean over the real tokens, not their sum"""
    logits = torch.tensor([[[3.0, 1, 1, 3], [1, 4, 2, 1]]]).log()
    targets = torch.tensor([[3, 1]])
    yield smoothed_loss(logits, targets, 0.1, 0)

    """padding is what pad_id says: with a pad_id of 3, token 0 is a word like any other"""
    logits = torch.tensor([[[3.0, 1, 1, 3], [1, 4, 2, 1]]]).log()
    targets = torch.tensor([[3, 0]])
    yield smoothed_loss(logits, targets, 0.1, 3)

    """every real token of a batch counts alike, in long and in short sentences"""
    logits, targets = torch.randn(2, 5, 7), torch.tensor([[1, 2, 3, 4, 5], [6, 0, 0, 0, 0]])
    yield smoothed_loss(logits, targets, 0.1, 0)


SMOOTHED_LOSS.mistakes |= {
    "softmax over the places; it runs over the vocabulary, the last axis": (
        partial(_smoothed, dim=1)
    ),
    "smoothing and the rest have changed places": (
        partial(
            _smoothed,
            keep=lambda smoothing: smoothing,
            smooth=lambda log_p, smoothing: (1 - smoothing) * log_p.mean(-1),
        )
    ),
    "the mean of the logits is added, not that of the log-probabilities": (_raw_logits),
    "padding is counted like a word, in the sum and in the number that it is divided by": (
        partial(_smoothed, real=lambda targets, pad_id: targets >= 0)
    ),
    "it is smoothed twice: the rest is (1 - smoothing) squared": (
        partial(
            _smoothed,
            keep=lambda smoothing: (1 - smoothing) ** 2,
            smooth=lambda log_p, smoothing: (1 - (1 - smoothing) ** 2) * log_p.mean(-1),
        )
    ),
    "the target keeps all of its probability, and the smoothing is added on top": (
        partial(_smoothed, keep=lambda smoothing: 1)
    ),
    "the smoothing is not divided by V: every token gets all of it": (
        partial(_smoothed, smooth=lambda log_p, smoothing: smoothing * log_p.sum(-1))
    ),
    "padding gets no share of the smoothing; here all V tokens do": (
        partial(_smoothed, smooth=lambda log_p, smoothing: smoothing * log_p[..., 1:].mean(-1))
    ),
    "the entropy of the smoothed target is taken off; the cross-entropy keeps it": _divergence,
    "a smoothing of 0.1 is built in; it is an argument": (
        lambda logits, targets, smoothing, pad_id: _smoothed(logits, targets, 0.1, pad_id)
    ),
}


@exercise
def parameters(answer) -> str:
    """Check `parameters(vocab_size, d_model, num_layers, num_heads, d_ff, d_k, d_v)` -> int.

    The number of parameters of the Transformer of the paper: post-norm, every projection with a
    bias, sinusoids for positions, one matrix for both embeddings and the output.
    """
    climb(PARAMETERS, answer)
    return "one word, one unit, one layer more; wider heads; no layers; base, big and int"


def _counted(
    V, d, N, h, ff, d_k, d_v, *, bias=1, tables=1, norms=5, shifts=1, attentions=3, stacks=2
):
    """The formula, or what it would be with something forgotten."""
    attention = 2 * (d + bias) * h * d_k + (d + bias) * h * d_v + (h * d_v + bias) * d
    feed_forward = (d + bias) * ff + (ff + bias) * d
    blocks = attentions * attention + stacks * feed_forward + norms * (1 + shifts) * d
    return tables * V * d + N * blocks


@ladder(_counted)
def PARAMETERS(parameters):
    """one word more is one row of d_model numbers more: a single matrix is the embedding of
    source and target and the output, without a bias"""
    yield parameters(11, 4, 1, 2, 3, 5, 6) - parameters(
        10, 4, 1, 2, 3, 5, 6
    )  # V, d_model, N, h, d_ff, d_k, d_v

    """one unit more in the feed-forward networks is d_model weights in, a bias, and d_model
    weights out, in the encoder and in the decoder: 2 (4 + 1 + 4)"""
    yield parameters(10, 4, 1, 2, 4, 5, 6) - parameters(
        10, 4, 1, 2, 3, 5, 6
    )  # V, d_model, N, h, d_ff, d_k, d_v

    """a d_v larger by one is a column and a bias more for the values of each of the h heads,
    and a row more of the output matrix, in all three attentions: 3 * 2 (4 + 1 + 4)"""
    yield parameters(10, 4, 1, 2, 3, 5, 7) - parameters(
        10, 4, 1, 2, 3, 5, 6
    )  # V, d_model, N, h, d_ff, d_k, d_v

    """a d_k larger by one is a column and a bias more for the queries and for the keys of each
    head, in the three attentions: 3 * 2 * 2 (4 + 1)"""
    yield parameters(10, 4, 1, 2, 3, 6, 6) - parameters(
        10, 4, 1, 2, 3, 5, 6
    )  # V, d_model, N, h, d_ff, d_k, d_v

    """one layer more is an encoder block, with one attention and two norms, and a decoder
    block, with two attentions and three norms, each of them with a feed-forward network; a norm
    has a factor and a shift, every projection a bias"""
    yield parameters(10, 4, 2, 2, 3, 5, 6) - parameters(
        10, 4, 1, 2, 3, 5, 6
    )  # V, d_model, N, h, d_ff, d_k, d_v

    """without any layer only the embedding is left: sinusoids have no parameters, and no norm
    stands behind the stacks"""
    yield parameters(10, 4, 0, 2, 3, 5, 6)  # V, d_model, N, h, d_ff, d_k, d_v

    """the same holds for the sizes of the paper: base, its row (B) and big"""
    yield [parameters(37000, 512, 6, 8, 2048, d_k, 64) for d_k in (64, 16)] + [
        parameters(37000, 1024, 6, 16, 4096, 64, 64)
    ]


PARAMETERS.mistakes |= {
    "source, target and output have a matrix each; it is one, used three times": (
        partial(_counted, tables=3)
    ),
    "the output has a bias for every token; here it has none": (
        lambda V, *sizes: _counted(V, *sizes) + V
    ),
    "the biases of the projections are missing": partial(_counted, bias=0),
    "the cross-attention is missing: a decoder block has two attentions": (
        partial(_counted, attentions=2)
    ),
    "d_v is not used: the values of a head are d_v wide, whatever d_k and d_model are": (
        lambda V, d, N, h, ff, d_k, d_v: _counted(V, d, N, h, ff, d_k, d_k)
    ),
    "the norms are missing: each has a factor and a shift for every entry": (
        partial(_counted, norms=0)
    ),
    "the norms have a shift for every entry as well as a factor": (partial(_counted, shifts=0)),
    "2 d_model are missing in every layer: the norm behind the cross-attention (a decoder "
    "block has three), or the second bias of the feed-forward networks": (
        partial(_counted, norms=4)
    ),
    "d_k and d_v are not used: a head is as wide as they say, whatever d_model / h is": (
        lambda V, d, N, h, ff, d_k, d_v: _counted(V, d, N, h, ff, d // h, d // h)
    ),
    "this is in millions; the number itself is asked for": lambda *sizes: _counted(*sizes) / 1e6,
    "the layers are halved; num_layers is the number in each of the two stacks": (
        lambda V, d, N, *sizes: _counted(V, d, N // 2, *sizes)
    ),
}


@exercise
def decoder_block(answer) -> str:
    """Check the module `MyDecoderBlock(d_model, num_heads, d_ff)`: the outputs of companion's.

    `.forward(x, memory, memory_mask=None)` takes x (B, T, d_model), memory (B, S, d_model) and a
    boolean mask (B, 1, 1, S), True for "may attend", and returns (B, T, d_model), post-norm. Its
    parts are self_attention, cross_attention, feed_forward, norm1, norm2 and norm3.
    """
    climb(DECODER_BLOCK, answer)
    return "one word, more source words, several words, hidden source words, a batch"


class _Decoder(DecoderBlock):
    """Companion's block in the form of the exercise, or with its forward done in another way."""

    def __init__(self, d_model, num_heads, d_ff, forward=None):
        super().__init__(d_model, num_heads, d_ff)
        self.other = forward

    def forward(self, x, memory, memory_mask=None):
        if self.other:
            return self.other(self, x, memory, memory_mask)
        return super().forward(x, memory, memory_mask=memory_mask)


def _decoding(self, x, memory, memory_mask, *, causal=True, source=True, add=1, last=1):
    """The block, or what it would be with one step done in another way."""
    x = self.norm1(add * x + self.self_attention(x, is_causal=causal)[0])
    x = self.norm2(add * x + self.cross_attention(x, memory if source else x, mask=memory_mask)[0])
    return self.norm3(add * x + last * self.feed_forward(x))


def _decoding_pre_norm(self, x, memory, memory_mask):
    x = x + self.self_attention(self.norm1(x), is_causal=True)[0]
    x = x + self.cross_attention(self.norm2(x), memory, mask=memory_mask)[0]
    return x + self.feed_forward(self.norm3(x))


def _source_first(self, x, memory, memory_mask):
    x = self.norm2(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    x = self.norm1(x + self.self_attention(x, is_causal=True)[0])
    return self.norm3(x + self.feed_forward(x))


def _with_norms(self, x, memory, memory_mask, order):
    first, second, third = (getattr(self, name) for name in order)
    x = first(x + self.self_attention(x, is_causal=True)[0])
    x = second(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    return third(x + self.feed_forward(x))


def _network_too_early(self, x, memory, memory_mask):
    x = self.norm1(x + self.self_attention(x, is_causal=True)[0])
    y = self.norm2(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    return self.norm3(y + self.feed_forward(x))


def only(part: str, block: nn.Module) -> nn.Module:
    """The block with numbers in its norms and in the parts whose names begin so; 0 elsewhere."""
    torch.manual_seed(1)
    for name, p in sorted(block.named_parameters()):
        if name.startswith(part):
            nn.init.normal_(p)
        elif not name.startswith("norm"):
            nn.init.zeros_(p)
    return block


@ladder(_Decoder)
def DECODER_BLOCK(MyDecoderBlock):
    x, memory = torch.randn(1, 1, 4), torch.randn(1, 1, 4)

    """all three sub-layers give 0 here, and x is normed already: as each result is added to
    what its sub-layer has read, x comes out again"""
    x = torch.tensor([[[1.0, -1.0, 1.0, -1.0]]])
    yield only("none", MyDecoderBlock(4, 2, 8))(x, memory)

    """all three sub-layers give 0: x is normed by norm1, then by norm2, then by norm3, each
    norm after its sum"""
    yield only("norm", MyDecoderBlock(4, 2, 8))(x, memory)

    """only the self-attention gives something: a single word looks at itself, its mask has True
    on the diagonal, and the result is added to x"""
    yield only("self_attention", MyDecoderBlock(4, 2, 8))(x, memory)

    """only the cross-attention gives something: x asks, and keys and values are made of memory,
    by the weights of cross_attention"""
    yield only("cross_attention", MyDecoderBlock(4, 2, 8))(x, memory)

    """only the feed-forward network gives something: it reads what the second norm gives, and
    its result is added to that"""
    yield only("feed_forward", MyDecoderBlock(4, 2, 8))(x, memory)

    """with one word and one source word: x plus its self-attention, normed; plus what the
    cross-attention finds in memory, normed; plus the feed-forward network, normed"""
    yield only("", MyDecoderBlock(4, 2, 8))(x, memory)

    """each word may look at itself and the words before it: change the last word, and the first
    must not move"""
    x, memory = torch.randn(1, 3, 4), torch.randn(1, 1, 4)
    yield only("", MyDecoderBlock(4, 2, 8))(x, memory)

    """each word of the target, with what the self-attention has made of it, may look at any
    word of the source, before or after it"""
    x, memory = torch.randn(1, 3, 4), torch.randn(1, 5, 4)
    yield only("", MyDecoderBlock(4, 2, 8))(x, memory)

    """memory_mask says which words of the source may be looked at, and of the source only"""
    x, memory = torch.randn(1, 2, 4), torch.randn(1, 3, 4)
    mask = torch.tensor([[[[True, False, True]]]])
    yield only("", MyDecoderBlock(4, 2, 8))(x, memory, mask)


def _later_words(self, x, memory, memory_mask):
    later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu()
    x = self.norm1(x + self.self_attention(x, mask=later)[0])
    x = self.norm2(x + self.cross_attention(x, memory, mask=memory_mask)[0])
    return self.norm3(x + self.feed_forward(x))


DECODER_BLOCK.mistakes |= {
    "this is pre-norm; the exercise asks for the order of 2017, each norm after its sum": (
        partial(_Decoder, forward=_decoding_pre_norm)
    ),
    "norm1 is used for all three; each sub-layer has a norm of its own": (
        partial(
            _Decoder,
            forward=lambda self, x, memory, mask: self.norm1(self.norm1(self.norm1(x))),
        )
    ),
    "the cross-attention comes first; the self-attention should come first": (
        partial(_Decoder, forward=_source_first)
    ),
    "norm2 and norm3 have changed places": (
        partial(
            _Decoder,
            forward=partial(_with_norms, order=("norm1", "norm3", "norm2")),
        )
    ),
    "each sum adds the x of the beginning; it adds what its sub-layer has read": (
        partial(_Decoder, forward=lambda self, x, memory, mask: self.norm3(x))
    ),
    "the cross-attention reads x, at least for its values; these and the keys are made of memory": (
        partial(_Decoder, forward=partial(_decoding, source=False))
    ),
    "the feed-forward network is missing": partial(_Decoder, forward=partial(_decoding, last=0)),
    "the feed-forward network reads what the self-attention gave; it reads what the "
    "cross-attention gave": partial(_Decoder, forward=_network_too_early),
    "the causal mask is the wrong way round: each word sees itself and the later ones": (
        partial(_Decoder, forward=_later_words)
    ),
    "memory_mask has no effect: padding of the source is looked at": (
        partial(
            _Decoder,
            forward=lambda self, x, memory, memory_mask: _decoding(self, x, memory, None),
        )
    ),
    "memory_mask is turned round; True is for the words that may be looked at": (
        partial(
            _Decoder,
            forward=lambda self, x, memory, mask: _decoding(
                self, x, memory, None if mask is None else ~mask
            ),
        )
    ),
}


@exercise
def train(answer) -> str:
    """Check `train(model, batches, optimizer)`: the losses, after training the model on batches.

    A batch is (x, y); model(x) gives logits (B, V), and y is (B,). The gradient is clipped to a
    norm of 1 before each step of the optimizer. The result has one number for each batch.
    """
    climb(TRAIN, answer)
    return "one step, a short and a long gradient, two steps, plain numbers, another optimizer"


def _train(
    model,
    batches,
    optimizer,
    loss_of=F.cross_entropy,
    clip=nn.utils.clip_grad_norm_,
    after=False,
    zero=True,
):
    losses = []
    for x, y in batches:
        loss = loss_of(model(x), y)
        if zero:
            optimizer.zero_grad()
        loss.backward()
        clip(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss_of(model(x), y).item() if after else loss.item())
    return losses


def _running_means(model, batches, optimizer):
    losses = _train(model, batches, optimizer)
    return [sum(losses[:n]) / n for n in range(1, len(losses) + 1)]


def _one_step(model, batches, optimizer):
    losses = [F.cross_entropy(model(x), y).item() for x, y in batches]
    _train(model, batches[-1:], optimizer)
    return losses


def _to_length_1(parameters, length):
    parameters = [*parameters]
    norm = torch.stack([p.grad.square().sum() for p in parameters]).sum().sqrt()
    for p in parameters:
        p.grad *= length / norm


def trained(train, batches, bias: bool = False, kind=torch.optim.SGD, lr: float = 1.0):
    """The losses, and a linear layer that began with zeros, after training by `train`."""
    model = nn.Linear(2, 2, bias=bias)
    for p in model.parameters():
        nn.init.zeros_(p)
    return train(model, batches, kind(model.parameters(), lr=lr)), model


@ladder(_train)
def TRAIN(train):
    short = torch.tensor([[1.0, 0.0], [0.0, 0.0]]), torch.tensor([0, 1])
    long = torch.tensor([[10.0, 2.0]]), torch.tensor([1])

    """there is one loss for each batch, the mean cross-entropy of the logits: log 2 as long as
    all logits are 0"""
    losses, _ = trained(train, [short])
    yield losses

    """losses are plain numbers: a tensor with a history would keep every step in memory"""
    losses, _ = trained(train, [short])
    yield [torch.as_tensor(loss).requires_grad for loss in losses]

    """a step follows the gradient of the batch as it is, where that is shorter than 1"""
    _, model = trained(train, [short])
    yield model.weight

    """a gradient longer than 1 is cut to a length of 1 before the step, and keeps its
    direction"""
    _, model = trained(train, [long])
    yield model.weight

    """the norm is that of all parameters together, and one factor cuts them all"""
    _, model = trained(train, [long], bias=True)
    yield model.weight, model.bias

    """the second step uses the second batch and its own gradient alone"""
    _, model = trained(train, [short, long])
    yield model.weight

    """each loss is that of its own batch, neither a sum nor a mean of those so far"""
    losses, _ = trained(train, [long, short, short])
    yield losses

    """the step is that of the optimizer which is given, not of its own optimizer"""
    _, model = trained(train, [short], kind=torch.optim.Adam, lr=0.1)
    yield model.weight


TRAIN.mistakes |= {
    "the sum over the examples of a batch was taken; take their mean": (
        partial(_train, loss_of=partial(F.cross_entropy, reduction="sum"))
    ),
    "the losses are those before each step, not after it": partial(_train, after=True),
    "nothing is learned: zero_grad, backward, clip, step, in this order": (
        partial(_train, clip=lambda parameters, length: [p.grad.zero_() for p in parameters])
    ),
    "a gradient shorter than 1 was made longer": partial(_train, clip=_to_length_1),
    "probabilities were given to the cross-entropy, which takes logits": (
        partial(_train, loss_of=lambda logits, y: F.cross_entropy(logits.softmax(-1), y))
    ),
    "gradients are not clipped, or not between backward and step": (
        partial(_train, clip=lambda parameters, length: None)
    ),
    "each number of the gradient was cut to 1; its length, the norm of all parameters "
    "together, is to be 1": partial(_train, clip=nn.utils.clip_grad_value_),
    "every parameter is clipped by itself": (
        partial(
            _train,
            clip=lambda parameters, length: [
                nn.utils.clip_grad_norm_([p], length) for p in parameters
            ],
        )
    ),
    "the gradients of the step before are still there: optimizer.zero_grad()": (
        partial(_train, zero=False)
    ),
    "the losses are means of all so far; each batch has a loss of its own": (_running_means),
    "there is a single step, after the last batch; each batch has a step of its own": _one_step,
}
