"""Modules joined into one script; what the script does is tried in Node where there is one."""

import json
import re
import shutil
import subprocess

import pytest

from book.page.linker import exports, linked


@pytest.fixture
def write(tmp_path):
    """`write({"a/b.js": text})` -> the folder with these files."""

    def write(files: dict[str, str]):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, "utf8")
        return tmp_path

    return write


SCENE = """import { one, double as twice } from "../kit/numbers.js";
import { answer } from "../kit/answer.js";
import table from "../kit/table.json" with { type: "json" };

const other = "of the scene";
/** @type {string[]} */ ([other]).sort();
/** What it shows. */
export default { shown: [one, twice(answer), table.a, other] };
"""
NUMBERS = """export const one = 1;
const other = "of numbers";

/** Twice a number, which
    @param {number} x */
export function double(x) {
  return 2 * x;
}
"""
ANSWER = """import {
  double,
  one,
} from "./numbers.js";
export const answer = double(20) + one + one;
"""
FILES = {
    "scenes/scene.js": SCENE,
    "kit/numbers.js": NUMBERS,
    "kit/answer.js": ANSWER,
    "kit/table.json": '{"a": "é"}\n',
}


def test_each_module_stands_once_behind_what_it_imports(write):
    folder = write(FILES | {"scenes/second.js": SCENE, "kit/unused.js": "export const x = 1;"})
    text = linked(folder / "scenes/scene.js", folder / "scenes/second.js")
    names = re.findall(r"(?m)^modules\['(.+)'\]", text)
    assert names == ["numbers.js", "answer.js", "table.json", "scene.js", "second.js"]
    assert not re.search(r"(?m)^\s*(import|export)\b", text)
    assert "@param" not in text and "\n\nfunction double" in text


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node to run it in")
def test_the_script_gives_what_the_modules_export(write):
    text = linked(write(FILES) / "scenes/scene.js")
    text += 'console.log(JSON.stringify(load("scene.js").shown));'
    done = subprocess.run(["node", "-e", text], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [1, 84, "é", "of the scene"]


def test_exports_of_a_module(write):
    text = "export async function a() {}\nexport class B {}\nexport const c = 1;\nconst d = 2;\n"
    folder = write({"a.js": text, "b.js": "export default {};\n"})
    assert exports(folder / "a.js") == ["a", "B", "c"]
    assert exports(folder / "b.js") == ["default"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"kit/answer.js": 'import { o } from "./none.js";\n'},
            "answer.js imports ./none.js, and there is no",
        ),
        (
            {"kit/numbers.js": "export const one = 1;\n"},
            "scene.js imports double, which numbers.js does not",
        ),
        (
            {"kit/numbers.js": 'import { answer } from "./answer.js";\n' + NUMBERS},
            "import each other: numbers.js → answer.js → numbers.js",
        ),
        (
            {
                "scenes/answer.js": "export const a = 1;",
                "scenes/scene.js": 'import { a } from "./answer.js";\n' + SCENE,
            },
            "two files of one name: .*scenes/answer.js and .*kit/answer.js",
        ),
        (
            {"kit/numbers.js": NUMBERS + "export default {};\n"},
            "names or one default; got one, double, default",
        ),
        (
            {"kit/numbers.js": "export default {};\nexport default {};\n"},
            "one default; got default, default",
        ),
        (
            {"kit/numbers.js": NUMBERS + "  export const y = 1;\n"},
            "numbers.js has what .*: export const y = 1;",
        ),
        (
            {"kit/numbers.js": NUMBERS + "export { one };\n"},
            "numbers.js has what .*: export { one };",
        ),
        (
            {"kit/numbers.js": NUMBERS + "export let y = 1;\n"},
            "numbers.js has what .*: export let y",
        ),
        (
            {"kit/answer.js": 'import all from "./numbers.js";\n' + ANSWER},
            "answer.js has what .*: import all",
        ),
        (
            {"kit/answer.js": ANSWER + 'const x = import("./x.js");\n'},
            "answer.js has what .*: import\\(",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused_by_name(write, changed, message):
    folder = write(FILES)
    linked(folder / "scenes/scene.js")
    write(changed)
    with pytest.raises(ValueError, match=message):
        linked(folder / "scenes/scene.js")
