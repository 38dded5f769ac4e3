"""What the pages of the built site load: the live figures' scripts, the style sheets, the encoder.

`python -m book._press.assets`, in the repository's root, brings them into a site that is built.
Where nothing else has changed, that takes seconds, and no page has to be written again.
"""

import hashlib
import re
import shutil
from pathlib import Path

from book._press.encoder import write_encoder
from book.contextual_embeddings.figures.encoder import SENTENCES
from book.page import colours, live
from companion.pretrained import load, load_tokenizer

SCRIPT = "companion-figures.js"  # so Sphinx writes it on every page
SCRIPT_NAME = re.compile(r"/companion-figures(?:-\w+)?\.js")
SCRIPT_TAG = re.compile(rf'\s*<script[^>]*src="[^"]*{SCRIPT_NAME.pattern}[^"]*"[^>]*></script>')
COLOURS = "companion-colours.css"
SHEET = re.compile(rf'/(book\.css|{re.escape(COLOURS)})(?:\?v=\w+)?"')
ENCODER = "all-MiniLM-L6-v2"

FIGURE = re.compile(r'class="companion-live" data-figure="(\w+)"')
LATER = re.compile(
    r'(data-figure="(?P<name>\w+)" data-later="[^"]+")>'
    r'<script type="application/json">(?P<state>.*?)</script>',
    re.S,
)


def write_assets(site: Path) -> None:
    """Write them, and let every page of the site name those that are written."""
    static = site / "_static"
    light, dark = colours.properties().values()
    (static / COLOURS).write_text(
        f'html {{ {light} }}\nhtml[data-theme="dark"] {{ {dark} }}\n', "utf8"
    )
    for script in static.glob(SCRIPT.replace(".", "-*.")):  # of an earlier build
        script.unlink()
    figures = set()
    for page in site.rglob("*.html"):
        text = page.read_text("utf8")
        edited = with_assets(text, static)
        if edited != text:
            page.write_text(edited, "utf8")
        figures |= {*FIGURE.findall(text)}
    if "encoder" in figures:  # some 30 MB, which no page loads before its reader asks for them
        write_encoder(static / "encoder", load(ENCODER), load_tokenizer(ENCODER), SENTENCES)


def with_assets(page: str, static: Path) -> str:
    """A page that names the script with its own figures, which is written, and today's sheets.

    The numbers of a figure that is for later go to a file, which a click fetches.
    """
    page = _with_script(page, {*FIGURE.findall(page)}, static)
    page = LATER.sub(lambda found: _apart(found, static), page)
    return SHEET.sub(lambda found: _with_hash(static, found[1]), page)


def _with_script(page: str, names: set[str], static: Path) -> str:
    """A page whose script holds the figures that it has; without any, it has no script."""
    if not names:
        return SCRIPT_TAG.sub("", page)
    text = live.bundle(names)
    name = SCRIPT.replace(".", f"-{_hash(text.encode())}.")
    (static / name).write_text(text, "utf8")
    return SCRIPT_NAME.sub(f"/{name}", page)


def _apart(later: re.Match, static: Path) -> str:
    name = f"later-{later['name']}-{_hash(later['state'].encode())}.js"
    live.deliver(static / name, later["state"])
    return f'{later[1]} data-from="{name}">'


def _with_hash(static: Path, sheet: str) -> str:
    return f'/{sheet}?v={_hash((static / sheet).read_bytes())}"'


def _hash(content: bytes) -> str:
    """What is in the address of a file, so that no browser shows an older one of its name."""
    return hashlib.sha256(content).hexdigest()[:8]


def main(root: Path) -> None:
    """The command."""
    site = root / "_build" / "html"
    shutil.copytree(root / "book" / "_assets", site / "_static", dirs_exist_ok=True)
    write_assets(site)


if __name__ == "__main__":
    main(Path.cwd())
