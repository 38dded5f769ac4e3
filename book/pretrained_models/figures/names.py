"""What the tensors of published files are called, and which parameters they become."""

from book.page.live import LiveFigure, table
from companion.pretrained.loading import FAMILIES, GGUF_FAMILIES

FILES = {
    "BERT": FAMILIES["bert"],
    "GPT-2": FAMILIES["gpt2"],
    "Llama": FAMILIES["llama"],
    "ViT": FAMILIES["vit"],
    "Llama in GGUF": GGUF_FAMILIES["llama"],
}
FEED = "blocks.{i}.feed_forward."
AFTER = ("final_norm", "head")  # what stands behind the blocks begins so


def names_figure() -> LiveFigure:
    """The names by which files keep their tensors, tied to the companion's modules.

    The tables are those from which `companion.pretrained.load` works.
    """
    files = {
        name: {ours.removesuffix(".weight"): _entry(entry) for ours, entry in family.names.items()}
        for name, family in FILES.items()
    }
    union = dict.fromkeys(ours for names in files.values() for ours in names)
    in_block = [ours for ours in union if ours.startswith("blocks.")]
    order = [f"blocks.{{i}}.{part}" for part in ("norm1", "self_attention", "norm2")]
    order += [FEED + part for part in ("up_proj", "gate_proj", "down_proj")]
    in_block.sort(key=lambda ours: next(i for i, part in enumerate(order) if ours.startswith(part)))
    behind = [ours for ours in union if ours.startswith(AFTER)]
    before = [ours for ours in union if ours not in {*in_block, *behind}]
    parts = [*before, *in_block, *sorted(behind, key=AFTER[0].__ne__)]
    rows = [(ours, entry["name"]) for ours, entry in files["BERT"].items()]
    return LiveFigure(
        __file__,
        {"parts": parts, "files": files},
        {"file": "BERT", "part": "blocks.{i}.self_attention.q_proj"},
        table("BERT's file", ["in companion", "in the file"], rows),
    )


def _entry(entry: str | tuple) -> dict:
    name, layout = (entry, None) if isinstance(entry, str) else entry
    return {"name": name, "words": layout.words if layout else "as it is"}
