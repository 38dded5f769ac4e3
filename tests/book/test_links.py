"""Links inside the book lead somewhere: to a page, a heading, a code cell or a documented name."""

import re
from functools import cache
from itertools import chain
from pathlib import Path

import nbformat
import pytest
from myst_parser.mdit_to_docutils.base import default_slugify

from book._press.cards import with_measured
from book._press.reference import PLACE, public_names

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)")
CODE_SPAN = re.compile(r"`((?:companion|book)(?:\.\w+)+)`")


BOOK = ROOT / "book"
PAGES = [
    page
    for page in sorted(BOOK.rglob("*"))
    if page.suffix in (".md", ".ipynb") and ".ipynb_checkpoints" not in page.parts
]
page_of = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(BOOK)))


@cache
def texts(page: Path) -> list[str]:
    """What an author wrote on a page: the whole file, or the notebook's Markdown cells."""
    if page.suffix == ".md":
        return [page.read_text("utf8")]
    cells = nbformat.read(page, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


@cache
def addresses(page: Path) -> dict[str, str]:
    """What a link may name behind the # of a page: heading -> its text, cell -> its tags."""
    found = {}
    for text in texts(page):
        prose = re.sub(r"(?ms)^```.*?^```", "", text)
        for _, heading in re.findall(r"(?m)^(#{1,3}) +(.+?)\s*$", prose):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]|\$[^$]*\$", r"\1", heading)
            found[default_slugify(plain)] = plain
        for part in PLACE.findall(prose):
            found |= {f"{part}.{n}": n for names in public_names(part).values() for n in names}
    if page.suffix == ".ipynb":
        for cell in nbformat.read(page, as_version=4).cells:
            if cell.cell_type == "code":
                found[f"cell-{cell.id}"] = " ".join(cell.metadata.get("tags", []))
    return found


def links(page: Path) -> list[str]:
    """Where the links of a page lead that stay in the book."""
    found = [link for text in texts(page) for link in LINK.findall(text)]
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def landing(page: Path, link: str) -> tuple[Path, str]:
    path, _, address = link.partition("#")
    return (page.parent / path).resolve() if path else page, address


@page_of
def test_links_lead_somewhere(page):
    for link in links(page):
        target, address = landing(page, link)
        assert target.is_file(), link
        assert not address or address in addresses(target), link


@page_of
def test_names_of_the_package_exist(page):
    for name in {name for text in texts(page) for name in CODE_SPAN.findall(text)}:
        *parts, last = name.split(".")
        module = ROOT.joinpath(*parts, last)
        if module.is_dir() or module.with_suffix(".py").is_file():
            continue
        known = public_names(".".join(parts)).values()
        assert any(last in names for names in known), name


def entries(page: str) -> dict[str, str]:
    """{heading: what stands under it} of a Markdown page, without its title and opening."""
    parts = re.split(r"(?m)^##+ +(.+)$", (BOOK / page).read_text("utf8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def shown(text: str) -> list[str]:
    """Links to a heading, a cell or a name, by which an entry shows what it says."""
    return [
        link for link in LINK.findall(text) if re.match(r"((\w+/)?\w+\.ipynb|api/\w+\.md)#", link)
    ]


def test_every_term_of_the_glossary_is_shown_somewhere():
    assert not [term for term, text in entries("glossary.md").items() if not shown(text)]


def test_the_glossary_is_in_order():
    terms = [term.lower() for term in entries("glossary.md")]
    assert terms == sorted(terms)


# The paper's own headings; those of the second set only hold others.
SECTIONS = {
    "Abstract",
    *("1 Introduction", "2 Background", "3 Model Architecture", "3.1 Encoder and Decoder Stacks"),
    *("3.2 Attention", "3.2.1 Scaled Dot-Product Attention", "3.2.2 Multi-Head Attention"),
    *("3.2.3 Applications of Attention in our Model", "3.3 Position-wise Feed-Forward Networks"),
    *("3.4 Embeddings and Softmax", "3.5 Positional Encoding", "4 Why Self-Attention"),
    *("5.1 Training Data and Batching", "5.2 Hardware and Schedule", "5.3 Optimizer"),
    *("5.4 Regularization", "6.1 Machine Translation", "6.2 Model Variations"),
    *("6.3 English Constituency Parsing", "7 Conclusion", "Attention Visualizations"),
    *("Table 1", "Table 2", "Table 3", "Table 4"),
}
FRAMES = {"5 Training", "6 Results"}


def test_every_section_and_table_of_the_paper_is_answered_with_something_to_look_at():
    sections = entries("paper.md")
    assert sections.keys() == SECTIONS | FRAMES
    for section in SECTIONS:
        paper, book = sections[section].split("*In this book.*")
        assert paper.strip(), section
        assert shown(book), section


def test_every_finding_leads_to_a_claim():
    sections = entries("findings.md")
    findings = [line for text in sections.values() for line in re.split(r"(?m)^- ", text)[1:]]
    assert len(findings) > 20
    for finding in findings:
        cells = [landing(BOOK / "findings.md", link) for link in shown(finding)]
        assert cells, finding
        for page, address in cells:
            assert "claim" in addresses(page)[address].split(), (finding, address)


def test_every_chapter_has_a_finding():
    found = {re.split("[/#]", link)[0] for link in shown((BOOK / "findings.md").read_text("utf8"))}
    assert {path.parent.name for path in BOOK.glob("*/chapter.toml")} <= found


def test_the_summary_opens_on_ten_findings_each_drawn_from_its_claim():
    (_, text), *_ = entries("summary.md").items()
    findings = re.findall(r":::\{div\} found\n(.+?)\n:::", text, re.S)
    assert len(findings) == 10
    for finding in findings:
        assert len(shown(finding)) == 1 and finding.count("<!-- drawn ") == 1, finding
        page, address = landing(BOOK / "summary.md", shown(finding)[0])
        assert "claim" in addresses(page)[address].split(), finding
    drawn = with_measured((BOOK / "summary.md").read_text("utf8"), BOOK.parent)
    assert drawn.count('<table class="drawn">') == 10 and "<!-- drawn" not in drawn


def test_sayings_have_a_verdict_and_a_claim():
    sections = entries("often_said.md")
    page = with_measured((BOOK / "often_said.md").read_text("utf8"), BOOK.parent)
    assert "<!-- measured" not in page
    saying = re.compile(
        r':::\{div\} said (yes|half|no)\n"[^"]+"\n\n'
        r"\*\*(Confirmed|Half true|Not so)\*\*\n\n(.+) <!-- measured \d: .+ -->\n:::\n"
    )
    found = {heading: saying.findall(text) for heading, text in sections.items()}
    assert len(next(iter(found.values()))) == 10
    assert sum(map(len, found.values())) >= 30
    for heading, text in sections.items():
        assert text.count("said ") == len(found[heading]), heading
    for style, verdict, text in chain(*found.values()):
        assert style == {"Confirmed": "yes", "Half true": "half", "Not so": "no"}[verdict], text
        page, address = landing(BOOK / "often_said.md", shown(text)[-1])
        assert "claim" in addresses(page)[address].split(), text
