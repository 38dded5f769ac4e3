"""The book on paper and on an e-reader, made from the built site.

`python -m book._press.printed pdf` or `epub`, in the repository's root. Chromium opens every
page of `_toc.yml` in order and prepares it (`printed.js`): hints and solutions open, buttons go,
links lead to places in the same book. For the PDF all pages become one document, which Chromium
prints; live figures stand still. For the EPUB every page becomes a file of its own, formulas
become MathML, and live figures are replaced by their tables.
"""

import argparse
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape, unescape
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes, urlsplit

import yaml
from playwright.sync_api import Browser, Page, sync_playwright
from sphinx_external_toc.api import SiteMap
from sphinx_external_toc.parsing import parse_toc_yaml
from tqdm import tqdm

from book._press.contents import table_of_contents
from book.page import live

SCRIPT = Path(__file__).with_name("printed.js")
NAME = "transformer"

# Nothing but the disk: no address outside is asked for, and no profile is kept.
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]

FIGURES = "**/companion-figures*.js*"  # each page has a script with its own figures
PATIENCE = 600_000  # milliseconds for one page to load: the whole book is one, on a busy machine

SHEET = {
    "format": "A4",
    "margin": {"top": "18mm", "bottom": "20mm", "left": "18mm", "right": "18mm"},
    "print_background": True,
    "tagged": True,
    "outline": True,
    "display_header_footer": True,
    "header_template": "<span></span>",
    "footer_template": (
        '<span class="pageNumber" style="font: 8px sans-serif; width: 100%; text-align: center">'
        "</span>"
    ),
}

MEDIA = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".jpg": "image/jpeg",
    ".gif": "image/gif",
    ".css": "text/css",
}

STYLE = """\
body { line-height: 1.45; margin: 0 4%; }
img, svg { height: auto; max-width: 100%; }
img { background: #fff; } /* the plots' letters are dark, and the page may be */
pre { font-size: .8em; overflow-wrap: anywhere; white-space: pre-wrap; }
div.cell_output pre { font-size: .7em; }
div.cell_input pre { border-left: 3px solid #bbb; padding-left: .6em; }
table { border-collapse: collapse; font-size: .85em; }
th, td { border: 1px solid #bbb; padding: .15em .4em; }
th p, td p, li > p { margin: .3em 0; }
ol, ul { padding-left: 1.5em; }
dd { margin-left: 1.2em; }
dt.sig { font-family: monospace; margin-top: 1.2em; }
dt, a, h1, h2, h3 { overflow-wrap: anywhere; }
.arguments { margin-left: 1.5em; }
.companion-live table, table.wide { font-size: .65em; }
.companion-live th[scope="row"] { overflow-wrap: anywhere; }
.wide th, .wide td { padding: .1em .2em; }
.live-elsewhere { font-size: .85em; font-style: italic; }
.unbroken { white-space: nowrap; }
figure.claim { border: 1px solid #bbb; margin: .8em 0; padding: .6em; }
.claim .number { font-size: 1.6em; }
.strip { height: 62px; width: 100%; }
.strip text { font-size: 12px; }
.strip .forbidden { fill: #ddd; }
.strip :is(.axis, .limit) { stroke: #555; }
.strip .other { fill: #fff; stroke: #000; }
math[display="block"] { font-size: .95em; margin: .8em 0; overflow-x: auto; }
"""


# A formula wider than the page is set smaller, since paper does not scroll.
FIT = """\
for (const formula of document.querySelectorAll('mjx-container[display="true"]')) {
  const share = formula.clientWidth / formula.scrollWidth;
  const size = parseFloat(getComputedStyle(formula).fontSize);
  if (share < 1) formula.style.fontSize = `${size * share * 0.99}px`;
}
"""


@dataclass(frozen=True)
class Article:
    """One page, prepared: its name in the table of contents, its title, and its text as XHTML."""

    name: str
    title: str
    text: str


@contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium as the machine has it, with an empty profile.

    Raises:
        FileNotFoundError: there is none.
    """
    # The shell draws the same pages without the parts of a window, which take most of the time.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        raise FileNotFoundError(
            "no Chromium found: install it, on Debian with `apt install chromium-headless-shell`"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=FLAGS, chromium_sandbox=False
        )
        yield browser
        browser.close()


def articles(browser: Browser, site: Path, names: list[str], form: str) -> list[Article]:
    """The pages of the site, prepared for `form`, "pdf" or "epub"."""
    context = browser.new_context(java_script_enabled=form == "epub", color_scheme="light")
    page = context.new_page()
    page.route(FIGURES, lambda route: route.abort())
    prepared = []
    for name in tqdm(names, desc="preparing", file=sys.stderr):
        page.goto((site / f"{name}.html").as_uri(), timeout=PATIENCE)
        if form == "epub":
            page.evaluate("window.MathJax?.startup?.promise.then(() => null)")
        options = {"form": form, "site": site.as_uri() + "/", "names": names, "name": name}
        title, text = page.evaluate(SCRIPT.read_text("utf8"), options)
        prepared.append(Article(name, title, text))
    context.close()
    return prepared


def anchor(name: str) -> str:
    """A page's name as an id and as the name of a file."""
    return name.replace("/", "-")


@contextmanager
def whole_book(browser: Browser, site: Path, names: list[str]) -> Iterator[Page]:
    """The pages as one document, as wide as paper, with live figures drawn and formulas set."""
    first = site / f"{names[0]}.html"
    head = re.search(r"<head>.*?</head>", first.read_text("utf8"), re.S)[0]
    pages = articles(browser, site, names, "pdf")
    title = f"<title>{escape(pages[0].title)}</title>"
    head = re.sub(r"<title>.*?</title>", lambda _: title, head, flags=re.S)
    body = "\n".join(page.text for page in pages)
    whole = first.with_name("_whole.html")  # beside it, so that the head finds its styles
    whole.write_text(
        f'<!DOCTYPE html><html lang="en" data-theme="light">{head}'
        f'<body class="printed"><main class="bd-content">{body}</main></body></html>',
        "utf8",
    )
    try:
        # As wide as the print, and in its styles, so that what is measured holds there.
        page = browser.new_page(color_scheme="light", viewport={"width": 657, "height": 980})
        page.emulate_media(media="print")
        page.route(FIGURES, lambda route: route.abort())  # of the first page, which has its own
        page.goto(whole.as_uri(), timeout=PATIENCE)
        page.add_script_tag(content=live.bundle())
        page.evaluate("window.MathJax?.startup?.promise.then(() => null)")
        page.evaluate(FIT)
        yield page
        page.close()
    finally:
        whole.unlink()


def write_pdf(browser: Browser, site: Path, names: list[str], target: Path) -> None:
    """Print the pages as one document, whose outline and links lead to places in it."""
    with whole_book(browser, site, names) as page:
        page.pdf(path=target, **SHEET)


def write_epub(
    browser: Browser,
    site: Path,
    toc: SiteMap,
    names: list[str],
    target: Path,
    title: str,
    author: str,
) -> None:
    """Pack pages, their pictures and a table of contents, with the levels of `toc`, as an EPUB 3.

    Source: https://www.w3.org/TR/epub-33/
    """
    pages = articles(browser, site, names, "epub")
    static = site / "_static"
    files = {"style.css": (static / "pygments.css").read_bytes() + STYLE.encode()}
    for page in pages:
        text, pictures = _with_pictures(page.text, site, site / f"{page.name}.html")
        files |= pictures
        files[f"{anchor(page.name)}.xhtml"] = _document(page.title, text).encode()
    titles = {page.name: toc[page.name].title or page.title for page in pages}
    root = toc.root.docname
    front = f"<ol>{_entry(root, titles[root], '')}" if root in titles else "<ol>"
    levels = _levels(toc, root, titles).replace("<ol>", front, 1)
    nav = f'<nav epub:type="toc" id="toc"><h1>Contents</h1>{levels}</nav>'
    files["nav.xhtml"] = _document("Contents", nav).encode()
    files["content.opf"] = _package(title, author, files, pages).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr(
            "META-INF/container.xml",
            '<?xml version="1.0"?><container version="1.0" '
            'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
            'full-path="book/content.opf" media-type="application/oebps-package+xml"/>'
            "</rootfiles></container>",
        )
        for name, content in files.items():
            archive.writestr(f"book/{name}", content)


def _levels(toc: SiteMap, parent: str, titles: dict[str, str]) -> str:
    """The pages below one as a nested list, under the captions of their parts."""
    listed = []
    for part in toc[parent].subtrees:
        names = [name for name in part.items if name in titles]
        entries = [_entry(name, titles[name], _levels(toc, name, titles)) for name in names]
        if entries and part.caption:
            entries = [f"<li><span>{escape(part.caption)}</span><ol>{''.join(entries)}</ol></li>"]
        listed += entries
    return f"<ol>{''.join(listed)}</ol>" if listed else ""


def _entry(name: str, title: str, below: str) -> str:
    return f'<li><a href="{anchor(name)}.xhtml">{escape(title)}</a>{below}</li>'


def _with_pictures(text: str, site: Path, page: Path) -> tuple[str, dict[str, bytes]]:
    """The text with its pictures under names of their own, and their bytes by these names."""
    pictures = {}

    def named(path: Path) -> str:
        return anchor(path.resolve().relative_to(site.resolve()).as_posix())

    def renamed(found: re.Match) -> str:
        # An SVG within the page has characters in its address that an EPUB forbids there.
        kind, _, content = unescape(found[2]).partition(",")
        if kind == "data:image/svg+xml":
            name = f"{named(page.with_suffix(''))}-{len(pictures) + 1}.svg"
            pictures[name] = unquote_to_bytes(content)
        elif kind.startswith("data:"):
            return found[0]
        else:
            path = page.parent / unquote(urlsplit(found[2]).path)
            name = named(path)
            pictures[name] = path.read_bytes()
        return f'{found[1]}"{name}"'

    return re.sub(r'(<img [^>]*?src=)"([^"]+)"', renamed, text), pictures


def _document(title: str, body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" '
        'xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">\n'
        f"<head><title>{escape(title)}</title>"
        '<link rel="stylesheet" type="text/css" href="style.css"/></head>\n'
        f"<body>{body}</body></html>\n"
    )


def _package(title: str, author: str, files: dict[str, bytes], pages: list[Article]) -> str:
    """What the EPUB holds, and in which order it is read."""
    items = []
    for name, content in files.items():
        kind = MEDIA.get(Path(name).suffix, "application/xhtml+xml")
        has = ["nav"] if name == "nav.xhtml" else []
        if kind.endswith("xhtml+xml"):
            has += [
                part for tag, part in ((b"<math", "mathml"), (b"<svg", "svg")) if tag in content
            ]
        properties = f' properties="{" ".join(has)}"' if has else ""
        items.append(f'<item id="{_id(name)}" href="{name}" media-type="{kind}"{properties}/>')
    order = [f'<itemref idref="{_id(anchor(page.name) + ".xhtml")}"/>' for page in pages]
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" '
        'xml:lang="en"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="id">urn:{NAME}-companion</dc:identifier>'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>{escape(author)}</dc:creator>"
        '<dc:language>en</dc:language><meta property="dcterms:modified">'
        f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}</meta></metadata>\n<manifest>{''.join(items)}</manifest>\n"
        f"<spine>{''.join(order)}</spine></package>\n"
    )


def _id(name: str) -> str:
    return "item-" + re.sub(r"[^\w.-]", "-", name)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m book._press.printed", description=__doc__)
    parser.add_argument("form", choices=("pdf", "epub"))
    form = parser.parse_args().form
    site = Path("_build/html").resolve()
    toc = parse_toc_yaml(table_of_contents(Path.cwd()))
    names = list(toc)
    if missing := [name for name in names if not (site / f"{name}.html").is_file()]:
        parser.error(f"{site} has no page {missing[0]}; build the book first: make book")
    target = Path("_build", f"{NAME}.{form}")
    with chromium() as browser:
        if form == "pdf":
            write_pdf(browser, site, names, target)
        else:
            config = yaml.safe_load(Path("_config.yml").read_text("utf8"))
            write_epub(browser, site, toc, names, target, config["title"], config["author"])
    print(target.resolve())


if __name__ == "__main__":
    main()
