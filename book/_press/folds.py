"""What a page hides until somebody asks: folded code, and what answers a question above it."""

from collections.abc import Iterable

from docutils import nodes

ASKS = "asks"  # the tag of a cell that asks for a guess
FOLDED = {"hide-input", "claim"}
VEIL = (
    '<details class="veiled"><summary>Your guess first. Or show it now.</summary>',
    "</details>",
)


def with_folds(cells: Iterable[dict]) -> None:
    """Fold a page's cells, neighbours as one, and mark those that ask for a guess.

    Args:
        cells: all cells, code with its outputs, as in the file of a notebook.
    """
    group: list[dict] = []  # folded cells in a row, of which the last alone may show something
    for cell in cells:
        tags = cell["metadata"].setdefault("tags", [])
        if cell["cell_type"] == "code":
            cell["source"] = "".join(cell["source"])
            if "import setup" in cell["source"]:
                _say_what_was_set_up(cell)
            if any(_is_prediction(output) for output in cell["outputs"]):
                tags.append(ASKS)
        if not FOLDED & set(tags):
            _join(group)
            group = []
            continue
        group.append(cell)
        if cell["outputs"]:
            _join(group)
            group = []
    _join(group)


def _say_what_was_set_up(cell: dict) -> None:
    """Put the printed line of the set-up behind its code, where it is folded with it."""
    printed = "".join("".join(output.get("text", "")) for output in cell["outputs"])
    cell["source"] += f"\n# {printed.strip()}"
    cell["outputs"] = []


def _is_prediction(output: dict) -> bool:
    return 'data-figure="prediction"' in "".join(output.get("data", {}).get("text/html", ""))


def _join(cells: list[dict]) -> None:
    """Let the last of some folded cells have the code of all; of the others the addresses stay."""
    if not cells:
        return
    *before, last = cells
    last["source"] = "\n\n".join(cell["source"] for cell in cells)
    for cell in before:
        cell["metadata"]["tags"] = ["remove-input"]
    name = "Set-up" if "import setup" in last["source"] else "Code"
    name += f" ({len(cells)} cells)" if before else ""
    prompts = {f"code_prompt_{way}": name for way in ("show", "hide")}
    last["metadata"]["mystnb"] = prompts | last["metadata"].get("mystnb", {})


def veil(page: nodes.document) -> None:
    """Veil what follows a question, up to the next one or to the end of its section.

    Without scripts, and in print, what is veiled is open.
    """
    asking = [node for node in page.findall(nodes.container) if f"tag_{ASKS}" in node["classes"]]
    for node in asking:
        siblings = node.parent.children
        first = last = siblings.index(node) + 1
        while last < len(siblings) and not _ends_answer(siblings[last]):
            last += 1
        if last > first:
            begin, end = (nodes.raw("", html, format="html") for html in VEIL)
            node.parent.insert(last, end)
            node.parent.insert(first, begin)


def _ends_answer(node: nodes.Node) -> bool:
    return isinstance(node, nodes.section) or f"tag_{ASKS}" in getattr(node, "attributes", {}).get(
        "classes", ()
    )
