"""The theme's icons: of two thousand, the site keeps those that it shows."""

import re
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FONTS = ("fa-solid-900", "fa-regular-400")  # of brands there is none: see sphinx_ext.PAGE_EDITS
RULE = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"[^"]*"\}')
FACE = re.compile(r'src:url\([^)]*\.woff2\) format\("woff2"\),')
PRIVATE = re.compile(r"[\ue000-\uf8ff]")  # where the font has its signs
ESCAPED = re.compile(r"\\([ef][0-9a-f]{3})\b")


def keep_icons(static: Path, names: set[str]) -> None:
    """Drop from a site's style sheets and icon fonts what no page shows.

    Args:
        static: the folder `_static` of the built site.
        names: classes of the icons on its pages, as "fa-bars".
    """

    def shown(rule: re.Match) -> str:
        return rule[0] if names & set(re.findall(r"fa-[\w-]+", rule[1])) else ""

    theme = static / "styles" / "pydata-sphinx-theme.css"
    # The fonts come as TrueType: to write WOFF2 would take one package more.
    theme.write_text(FACE.sub("src:", RULE.sub(shown, theme.read_text("utf8"))), "utf8")
    sheets = "".join(sheet.read_text("utf8") for sheet in static.rglob("*.css"))
    signs = {ord(sign) for sign in PRIVATE.findall(sheets)}
    signs |= {int(code, 16) for code in ESCAPED.findall(sheets)}
    for file in (static / "vendor" / "fontawesome" / "webfonts").glob("fa-*"):
        if file.suffix == ".ttf" and file.stem in FONTS:
            font = TTFont(file)
            chosen = subset.Subsetter(subset.Options(hinting=False))
            chosen.populate(unicodes=signs)
            chosen.subset(font)
            font.save(file)
        else:
            file.unlink()
