"""Join JavaScript modules into one script: a browser refuses to import modules from `file://`.

A module imports from files at relative addresses, `import { a, b as c } from "./other.js";`, or a
table, `import a from "./other.json" with { type: "json" };`. It writes `export` before what others
may import, or has one `export default`. In the script each module is a function, which runs when
`load("other.js")` first asks for it and returns what it exports, so that the names of two modules
cannot clash. Doc comments are left out.
"""

import re
from pathlib import Path

IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.M)
TABLE = re.compile(r'^import (\w+) from "([^"]+\.json)" with \{ type: "json" \};\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|function\*?|class) (\w+))", re.M)
DEFAULT = re.compile(r"^export default\b", re.M)
DOC = re.compile(r"^[ \t]*/\*\*(?:(?!\*/).)*\*/\n", re.M | re.S)  # for those who read the module
OTHER = re.compile(r"^[ \t]*(?:import|export)\b.*|\bimport\s*\(.*", re.M)  # none of these

START = """const modules = {},
  loaded = {};
const load = (name) => (loaded[name] ??= modules[name]());
"""


def linked(*entries: Path) -> str:
    """The text of a script that can `load` the entries: these, and what they import, each once.

    Raises:
        ValueError: a file imports what is not there, or what imports it; two files have one name;
            a file imports or exports in another way.
    """
    modules: dict[Path, str] = {}
    for entry in entries:
        _add(entry.resolve(), modules, ())
    names: dict[str, Path] = {}
    for file in modules:
        if (other := names.setdefault(file.name, file)) != file:
            raise ValueError(f"a script cannot have two files of one name: {other} and {file}")
    return START + "".join(modules.values())


def exports(file: Path) -> list[str]:
    """The names that a module exports; "default" for an `export default`."""
    text = file.read_text("utf8")
    return EXPORT.findall(text) + ["default" for _ in DEFAULT.findall(text)]


def _add(file: Path, modules: dict[Path, str], importers: tuple[Path, ...]) -> None:
    """Put a file behind all that it imports, unless it is there."""
    if file in importers:
        circle = (*importers[importers.index(file) :], file)
        raise ValueError(f"these import each other: {' → '.join(one.name for one in circle)}")
    if file not in modules:
        if file.suffix == ".json":
            body = f"return {file.read_text('utf8').strip()};\n"
        else:
            body = _body(file, modules, (*importers, file))
        modules[file] = f"modules['{file.name}'] = () => {{\n{body}}};\n"


def _body(file: Path, modules: dict[Path, str], importers: tuple[Path, ...]) -> str:
    """The text of a module as that of a function, after those that it imports are added."""

    def add(address: str) -> Path:
        other = (file.parent / address).resolve()
        if not other.is_file():
            raise ValueError(f"{file.name} imports {address}, and there is no such file")
        _add(other, modules, importers)
        return other

    def names_of(line: re.Match) -> str:
        other = add(line[2])
        for name in re.findall(r"(\w+)(?: as \w+)?", line[1]):
            if name not in exports(other):
                raise ValueError(f"{file.name} imports {name}, which {other.name} does not export")
        return f'const {{{line[1].replace(" as ", ": ")}}} = load("{other.name}");\n'

    def table_of(line: re.Match) -> str:
        return f'const {line[1]} = load("{add(line[2]).name}");\n'

    own = exports(file)
    if "default" in own and own != ["default"]:
        raise ValueError(f"{file.name} must export names or one default; got {', '.join(own)}")
    body = DOC.sub("", file.read_text("utf8"))
    body = TABLE.sub(table_of, IMPORT.sub(names_of, body))
    body = EXPORT.sub("", DEFAULT.sub("return", body))
    if other := OTHER.search(body):
        raise ValueError(f"{file.name} has what a script cannot hold: {other[0].strip()}")
    return body if "default" in own else f"{body}return {{ {', '.join(own)} }};\n"
