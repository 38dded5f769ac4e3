"""Diagrams that the book draws itself, as part of the page: they take its colour of ink."""

from html import escape

from IPython.display import HTML

QUIET, BLUE, ORANGE = "#808080", "#3584e4", "#e66100"  # washes under any ink, light or dark
BOX_WIDTH = 136
MARKER = "companion-arrow-head"

ENCODER = [
    ("self-attention", "self_attention", "mask: no padding", "norm1", BLUE),
    ("feed-forward", "feed_forward", "each word alone", "norm2", QUIET),
]
DECODER = [
    ("self-attention", "self_attention", "mask: no later word", "norm1", BLUE),
    ("cross-attention", "cross_attention", "mask: no padding", "norm2", ORANGE),
    ("feed-forward", "feed_forward", "each word alone", "norm3", QUIET),
]
TITLE = "The whole encoder-decoder"
DESCRIPTION = (
    "Two columns, both read from top to bottom. Source and target words go through one embedding "
    "matrix, times the square root of d_model, and get their positions added. On the left the "
    "encoder's block, repeated N times: self-attention that is masked against padding, add and "
    "norm, feed-forward network, add and norm. What leaves it is the memory. On the right the "
    "decoder's block, repeated N times: self-attention that is masked against later words, add and "
    "norm, cross-attention, which takes its queries from the decoder and its keys and values from "
    "the memory, add and norm, feed-forward network, add and norm. Below it the output matrix, "
    "which is the embedding matrix again, and a softmax: at every place, the next target word."
)


def transformer_diagram() -> HTML:
    """The encoder-decoder from top to bottom, each part under its name in `Transformer`.

    Source: Vaswani et al. 2017, section 3 and figure 1 (https://arxiv.org/abs/1706.03762).
    """
    left, right, middle = 98, 262, 180
    parts = [
        _text(left, 14, "source_ids", code=True),
        _text(left, 31, "the black cat"),
        _text(right, 14, "target_ids", code=True),
        _text(right, 31, "[BOS] le chat noir"),
        _arrow((left, 38), (left, 52)),
        _arrow((right, 38), (right, 52)),
        _box(
            middle,
            52,
            26,
            QUIET,
            None,
            "token_embedding",
            before="look up, times √d_model: ",
            width=324,
        ),
        _arrow((left, 78), (left, 90)),
        _arrow((right, 78), (right, 90)),
        _box(middle, 90, 26, QUIET, None, "positions", before="add sinusoids: ", width=324),
        _arrow((left, 116), (left, 132)),
        _arrow((right, 116), (right, 132)),
        *_blocks(left, -1, 132, "encoder_blocks", ENCODER),
        *_blocks(right, 1, 132, "decoder_blocks", DECODER),
        _arrow(
            (left, 384), (left, 424), (middle, 424), (middle, 319), (right - BOX_WIDTH / 2, 319)
        ),
        _text(left, 442, "memory"),
        _text(left, 459, "its keys and values", quiet=True),
        _arrow((right, 490), (right, 508)),
        _box(right, 508, 62, QUIET, "output matrix", "head", "= token_embedding"),
        _arrow((right, 570), (right, 586)),
        _text(right, 600, "softmax"),
        _text(right, 617, "le chat noir [EOS]"),
    ]
    return HTML(
        '<svg class="companion-diagram" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'aria-label="{escape(TITLE)}" viewBox="0 0 360 626" font-family="inherit" '
        'style="display: block; width: 100%; max-width: 24rem; margin: 0 auto; color: inherit">'
        f"<title>{TITLE}</title><desc>{DESCRIPTION}</desc>"
        f'<marker id="{MARKER}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>'
        f"{''.join(parts)}</svg>"
    )


def _blocks(x: float, side: int, top: float, name: str, sub_layers: list[tuple]) -> list[str]:
    """A frame around the sub-layers of one block; residual lines run on the given side (-1, 1)."""
    height = 32 + 106 * len(sub_layers) + 8
    edge = x - BOX_WIDTH / 2 - (22 if side < 0 else 6)
    parts = [
        f'<rect x="{edge}" y="{top}" width="{BOX_WIDTH + 28}" height="{height}" rx="8" '
        'fill="none" stroke="currentColor" stroke-dasharray="5 3"/>',
        _text(x, top + 18, name, code=True, before="N × "),
    ]
    for number, (title, part, note, norm, colour) in enumerate(sub_layers):
        y = top + 32 + 106 * number
        beside = x + side * (BOX_WIDTH / 2 + 12)
        parts += [
            _arrow((x, y), (x, y + 14)),
            _arrow(
                (x, y + 4), (beside, y + 4), (beside, y + 94), (x + side * BOX_WIDTH / 2, y + 94)
            ),
            _box(x, y + 14, 58, colour, title, part, note),
            _arrow((x, y + 72), (x, y + 82)),
            _box(x, y + 82, 24, QUIET, None, norm, before="add, then "),
        ]
    return parts


def _box(x, top, height, colour, title, name, note=None, *, before="", width=BOX_WIDTH) -> str:
    lines = [_text(x, top + 17, title)] if title else []
    lines.append(_text(x, top + 17 + 17 * len(lines), name, code=True, before=before))
    if note:
        lines.append(_text(x, top + 17 + 17 * len(lines), note, quiet=True))
    return (
        f'<rect x="{x - width / 2}" y="{top}" width="{width}" height="{height}" rx="5" '
        f'fill="{colour}" fill-opacity="0.2" stroke="currentColor"/>{"".join(lines)}'
    )


def _arrow(*points: tuple[float, float]) -> str:
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="currentColor" marker-end="url(#{MARKER})"/>'
    )


def _text(x, y, text, *, code=False, quiet=False, before="") -> str:
    """One line; `code` is a name of the package, in the fixed-width letters that code has."""
    words = escape(text)
    if code:
        words = f'{before}<tspan class="name" font-family="monospace">{words}</tspan>'
    style = ' opacity="0.8"' if quiet else ""
    size = 12 if code or quiet else 13
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="middle" '
        f'fill="currentColor"{style}>{words}</text>'
    )
