"""The book's pictures alone, for other people's talks and pages: every plot and every scene as SVG.

`python -m book._press.pictures`, in the repository's root, opens each page of the built site in
Chromium and writes `_build/transformer-pictures.zip`. A scene is drawn as it would be printed, at
its most telling step, without its controls (`pictures.js`). Each file has the title and the
description that a screen reader gets, and asks for no other file.

`python -m book._press.pictures front` photographs the front page for the README instead.
"""

import argparse
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import yaml
from playwright.sync_api import Browser
from sphinx_external_toc.parsing import parse_toc_yaml
from tqdm import tqdm

from book._press.contents import table_of_contents
from book._press.printed import NAME, PATIENCE, chromium

SCRIPT = Path(__file__).with_name("pictures.js")
LICENCE = "LICENSE-TEXT.md"
FRONT = "book/_assets/front.jpg"
OPEN = """() => {
  for (const fold of document.querySelectorAll("details")) fold.open ||= !fold.closest(".cl");
  dispatchEvent(new Event("beforeprint"));
}"""
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass(frozen=True)
class Picture:
    """Its file in the archive, where it stands in the book, and what it is."""

    file: str
    address: str
    title: str
    description: str
    svg: str


def pictures_of(browser: Browser, site: Path, names: list[str]) -> list[Picture]:
    """The pictures of the site's pages, in order."""
    page = browser.new_page(
        color_scheme="light", reduced_motion="reduce", viewport={"width": 1280, "height": 800}
    )
    found = []
    for name in tqdm(names, desc="pictures", file=sys.stderr):
        page.goto((site / f"{name}.html").as_uri(), timeout=PATIENCE)
        page.evaluate(OPEN)
        page.evaluate(DRAWN)
        for number, made in enumerate(page.evaluate(SCRIPT.read_text("utf8")), 1):
            file = f"{Path(name).name}/{number:02}-{made['name']}.svg"
            address = f"{name}.html#{made['cell']}"
            found.append(Picture(file, address, made["title"], made["description"], made["svg"]))
    page.close()
    return found


def write_archive(pictures: list[Picture], root: Path, target: Path) -> None:
    """Pack the pictures with their licence and a list of what each shows."""
    config = yaml.safe_load((root / "_config.yml").read_text("utf8"))
    lines = [
        f"# The pictures of “{config['title']}”",
        "",
        f"By {config['author']}, under CC BY 4.0 ({LICENCE}): use and change them in your talks",
        "and pages; name the book, link to the licence, and say what you have changed.",
        "",
        "Every file is an SVG on a white ground, the first rectangle in it; remove that one for a",
        "ground of your own. A scene stands at the step that its page opens with, or, where that",
        "is its first, at its last.",
    ]
    folder = None
    for picture in pictures:
        if folder != (folder := Path(picture.file).parent.name):
            lines += ["", f"## {folder}", ""]
        source = config["html"]["baseurl"] + picture.address
        where = f"[{picture.file}]({picture.file}), from [{picture.title}]({source})"
        lines.append(f"- {where}: {picture.description}")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.md", "\n".join(lines) + "\n")
        archive.write(root / LICENCE, LICENCE)
        for picture in pictures:
            archive.writestr(picture.file, picture.svg)


def photograph(browser: Browser, site: Path, target: Path) -> None:
    """The upper part of the front page, as a laptop shows it."""
    page = browser.new_page(
        color_scheme="light", reduced_motion="reduce", viewport={"width": 1280, "height": 860}
    )
    page.goto((site / "book" / "index.html").as_uri(), timeout=PATIENCE)
    page.evaluate(DRAWN)
    page.screenshot(path=target, type="jpeg", quality=70)
    page.close()


def main(root: Path) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m book._press.pictures", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("front",))
    only_front = parser.parse_args().what == "front"
    site = root / "_build" / "html"
    pages = parse_toc_yaml(table_of_contents(root))
    if missing := [name for name in pages if not (site / f"{name}.html").is_file()]:
        sys.exit(f"{site} has no page {missing[0]}; build the book first: make book")
    target = root / FRONT if only_front else root / "_build" / f"{NAME}-pictures.zip"
    with chromium() as browser:
        if only_front:
            photograph(browser, site, target)
        else:
            write_archive(pictures_of(browser, site, list(pages)), root, target)
    print(target)


if __name__ == "__main__":
    main(Path.cwd())
