"""The archive of pictures, of one chapter."""

import html
import re
import zipfile
from xml.etree import ElementTree

import pytest

from book._press.pictures import pictures_of, write_archive

pytestmark = pytest.mark.browser

CHAPTER = "book/self_attention/self_attention"
SCENES = ["hook", "word", "attention", "geometry", "masks", "pronoun"]
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
# As much of what is drawn as is neither white nor transparent.
INKED = """async (svg) => {
  const picture = new Image();
  picture.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 300, height: 200 });
  const brush = canvas.getContext("2d");
  brush.drawImage(picture, 0, 0, 300, 200);
  const { data } = brush.getImageData(0, 0, 300, 200);
  let inked = 0;
  for (let i = 0; i < data.length; i += 4)
    inked += data[i + 3] > 200 && Math.min(data[i], data[i + 1], data[i + 2]) < 200;
  return inked / 60000;
}"""


@pytest.fixture(scope="module")
def files(browser, site, root, tmp_path_factory):
    """The files of the archive, by name."""
    target = tmp_path_factory.mktemp("pictures") / "pictures.zip"
    write_archive(pictures_of(browser, site, [CHAPTER]), root, target)
    with zipfile.ZipFile(target) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.fixture(scope="module")
def pictures(files):
    return {name: text for name, text in files.items() if name.endswith(".svg")}


def test_the_archive_has_every_scene_and_plot_with_the_licence(files, pictures, site):
    names = [re.sub(r".*/\d\d-(\w+)\.svg", r"\1", name) for name in pictures]
    page = (site / f"{CHAPTER}.html").read_text("utf8")
    assert [name for name in names if name != "plot"] == SCENES
    assert names.count("plot") == page.count('class="companion-figure"') > 0
    assert "CC BY 4.0" in files["LICENSE-TEXT.md"]
    assert all(f"]({name})" in files["README.md"] for name in pictures)


def test_every_picture_says_what_it_shows(pictures, site):
    page = html.unescape((site / f"{CHAPTER}.html").read_text("utf8"))
    for name, text in pictures.items():
        root = ElementTree.fromstring(text)
        title, description = root.find(f"{SVG}title").text, root.find(f"{SVG}desc").text
        assert len(title) > 3 and len(description.split()) > 5, name
        assert "plot" not in name or f'alt="{description}"' in page


def test_no_picture_asks_for_another_file(pictures):
    for name, text in pictures.items():
        for node in ElementTree.fromstring(text).iter():
            link = node.get("href", node.get(HREF, "#"))
            assert link.startswith(("#", "data:")), name
            assert not {*node.attrib} & {"class", "style"} or "plot" in name
        assert not re.search(r"@import|var\(|oklab|color-mix|url\((?!#|'#|\"#)|<!DOCTYPE", text)


def test_every_picture_shows_something_where_it_stands_alone(pictures, browser):
    page = browser.new_page()
    for name, text in pictures.items():
        assert page.evaluate(INKED, text) > 0.005, name
    page.close()


def test_a_scene_has_its_words_and_numbers(pictures):
    """HTML is drawn again, fields for numbers too; controls are not."""
    (text,) = [text for name, text in pictures.items() if name.endswith("-attention.svg")]
    said = " ".join("".join(node.itertext()) for node in ElementTree.fromstring(text).iter())
    assert {"animal", "street", "queries", "0.58", "10"} <= {*said.split()}
    assert "Reset" not in said
