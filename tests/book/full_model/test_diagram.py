"""The drawing of the encoder-decoder names all parts of the real one, each once."""

import re
from xml.etree import ElementTree

from book.full_model import transformer_diagram
from companion.models import Transformer, TransformerConfig

SVG = "{http://www.w3.org/2000/svg}"
INPUTS = ["source_ids", "target_ids"]


def drawn():
    return ElementTree.fromstring(transformer_diagram().data)


def names(root) -> list[str]:
    return [node.text for node in root.iter(f"{SVG}tspan") if node.get("class") == "name"]


def test_every_name_is_that_of_a_part_of_the_model():
    model = Transformer(
        TransformerConfig(
            vocab_size=7, d_model=4, num_layers=1, num_heads=2, d_ff=5, max_len=3, dropout=0.0
        )
    )
    parts = [name for name in names(drawn()) if name not in INPUTS]
    blocks = {"encoder_blocks": model.encoder_blocks[0], "decoder_blocks": model.decoder_blocks[0]}
    found, owner = {stack: [] for stack in blocks}, None
    for name in parts:
        if name in blocks:
            owner = name
        elif owner and hasattr(blocks[owner], name):
            found[owner].append(name)
        else:
            assert hasattr(model, name), name
    for stack, block in blocks.items():
        expected = {name for name, _ in block.named_children()} - {"dropout"}
        assert set(found[stack]) == expected and len(found[stack]) == len(expected)


def test_the_drawing_says_what_it_shows_and_takes_the_pages_colours():
    text = transformer_diagram().data
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img" and root.get("aria-label")
    assert root.find(f"{SVG}title").text and len(root.find(f"{SVG}desc").text) > 100
    assert not re.search(r"stroke=\"(?!currentColor)", text)
    assert {node.get("fill") for node in root.iter(f"{SVG}text")} == {"currentColor"}
