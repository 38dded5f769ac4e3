"""The pinned environment, and the wheel that installs beside any torch and changes nothing."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.metadata import distributions, packages_distributions, version
from pathlib import Path

import nbformat
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import companion
from book._press.execute import notebooks
from book._press.imports import read_code, read_notebook

# What a notebook service has had installed: other releases than our pins, older ones among them.
ELSEWHERE = {
    "torch": "2.6.0+cu124",
    "numpy": "1.26.4",
    "tqdm": "4.66.6",
    "safetensors": "0.4.5",
    "tokenizers": "0.20.3",
    "huggingface-hub": "0.26.2",
    "jinja2": "3.1.4",
    "gguf": "0.17.1",  # added where it is missing: pure Python, and content with an old numpy
}

DISTRIBUTIONS = packages_distributions()  # what has a module of this name


def requirements(path):
    """The requirements in a file, without their hashes and those for other platforms."""
    lines = [line.partition(" #")[0].rstrip(" \\") for line in path.read_text("utf8").splitlines()]
    found = [Requirement(line) for line in lines if line and not line.startswith((" ", "#"))]
    return [each for each in found if each.marker is None or each.marker.evaluate()]


def pins(root):
    """{name: version} of requirements.txt, without what is for other platforms."""
    kept = requirements(root / "requirements.txt")
    found = {}
    for pin in kept:
        match = re.fullmatch(r"==([\w.]+)", str(pin.specifier))
        assert match and pin.name == canonicalize_name(pin.name), f"not an exact pin: {pin}"
        found[pin.name] = match[1]
    assert len(found) == len(kept), "a package is pinned twice"
    return found


def bounds(root, extra=None):
    """The requirements that pyproject.toml declares, for everybody or as an extra."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf8"))["project"]
    lines = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return [Requirement(line) for line in lines]


def imported(paths):
    """The distributions that modules import, those inside functions included."""
    return distributions_of(set().union(*(read_code(p.read_text("utf8")).imports for p in paths)))


def distributions_of(names):
    """The distributions that modules with these dotted names are in, but for our own."""
    modules = {name.split(".")[0] for name in names} - {
        "companion",
        "book",
        "",
        *sys.stdlib_module_names,
    }
    return {canonicalize_name(DISTRIBUTIONS[module][0]) for module in modules}


def test_what_the_book_asks_for_is_pinned(root):
    for asked in requirements(root / "requirements.in"):
        assert asked.specifier.contains(pins(root)[asked.name]), asked


def test_the_readme_installs_the_pinned_torch(root):
    assert f"pip install torch=={pins(root)['torch']} " in (root / "README.md").read_text("utf8")


def test_nothing_brings_torchvision_or_cuda(root):
    assert not [name for name in pins(root) if re.match("torchvision|nvidia|cuda", name)]


def test_what_is_pinned_is_installed(root):
    installed = {name: version(name).split("+")[0] for name in pins(root)}
    assert installed == pins(root)


def test_what_is_installed_is_pinned(root):
    """But for pip, the package itself, and the libraries that torch's build for CUDA pins."""
    site = [sysconfig.get_path("purelib")]  # not what setuptools adds to sys.path for itself
    installed = {canonicalize_name(found.name) for found in distributions(path=site)}
    installed -= {"pip", "transformer-companion"}
    installed = {name for name in installed if not re.match("nvidia-|cuda-", name)}
    peers = {peer.name for peer in requirements(root / "benchmarks" / "requirements.txt")}
    assert installed - peers <= pins(root).keys()


def test_the_package_asks_for_lower_bounds_only_and_the_pins_meet_them(root):
    extras = [bounds(root, extra) for extra in ("book", "grading", "transformers", "triton")]
    for bound in sum(extras, bounds(root)):
        assert {spec.operator for spec in bound.specifier} == {">="}, bound
        assert bound.specifier.contains(pins(root)[canonicalize_name(bound.name)]), bound


def test_what_the_packages_import_is_declared(root):
    declared = {extra: names(bounds(root, extra)) for extra in ("book", "grading", "triton")}
    always = names(bounds(root))
    kernels = {*root.glob("companion/kernels/*.py")}
    digits = {root / "companion/data/digits.py"}  # come with scikit-learn, and say so
    assert imported({*root.glob("companion/**/*.py")} - kernels - digits) <= always
    assert imported(digits) <= always | {"scikit-learn"}
    assert imported(kernels) <= always | declared["triton"]
    assert imported(root.glob("book/[!_]*/**/*.py")) <= always | declared["book"]
    assert imported(root.glob("book/_grading/*.py")) <= set().union(always, *declared.values())


def names(bounds):
    return {bound.name for bound in bounds}


def test_the_set_up_line_installs_what_a_notebook_imports(root):
    for path in notebooks(root):
        notebook = nbformat.read(path, as_version=4)
        set_up = next(cell.source for cell in notebook.cells if cell.cell_type == "code")
        (extras,) = re.findall(r'"transformer-companion\[([\w,]+)\] @', set_up)
        declared = names(bounds(root)).union(*(names(bounds(root, x)) for x in extras.split(",")))
        assert distributions_of(read_notebook(notebook).imports) <= declared, path


def test_what_cites_the_book_agrees(root):
    cited = yaml.safe_load((root / "CITATION.cff").read_text("utf8"))
    deposit = json.loads((root / ".zenodo.json").read_text("utf8"))
    for field in ("title", "keywords"):
        assert deposit[field] == cited[field]
    assert deposit["license"] == cited["license"].lower()
    assert deposit["creators"] == cited["authors"]
    assert cited["version"] == companion.__version__


def test_a_development_container_makes_the_environment_that_it_opens(root):
    container = json.loads((root / ".devcontainer" / "devcontainer.json").read_text("utf8"))
    install, make = container["postCreateCommand"].split(" && ")
    assert (root / install.removeprefix("sudo ")).is_file()
    ready = make.removeprefix("make ")
    assert f"READY := {ready.replace('.venv', '$(VENV)')}" in (root / "Makefile").read_text()
    opened = container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert opened.endswith(f"/{ready.split('/')[0]}/bin/python")


def test_nothing_installs_the_bare_name(root):
    bare = re.compile(r"pip3? install[^\n]*?[\s\"']companion(?![\w-])")
    written = {".md", ".ipynb", ".yml", ".py", ".toml", ".txt"}
    ours = [*root.glob(".github/**/*.yml"), *root.glob("*.*")]
    for folder in ("book", "companion", "tests", "benchmarks"):
        ours += root.glob(f"{folder}/**/*.*")
    for path in ours:
        if path.suffix in written:
            assert not bare.search(path.read_text("utf8")), path


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """The wheel, built from a copy so that nothing is left in the repository."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(root / name, source)
    for name in ("companion", "book"):
        shutil.copytree(root / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", "."]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = (source / "dist").glob("*.whl")
    return wheel


def test_the_wheel_holds_both_packages_and_nothing_to_print_or_to_grade(root, wheel):
    assert re.fullmatch(r"transformer_companion-[\d.]+-py3-none-any\.whl", wheel.name)
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if "dist-info" not in name}
    ours = {path for name in ("companion", "book") for path in (root / name).rglob("*.*")}
    kept = {".py", ".js", ".css", ".typed", ".json", ".wasm"}
    ours = {path for path in ours if path.suffix in kept or path.name == "quiz.toml"}
    ours -= {path for path in ours if path.name in ("claims.json", "oxlint.json", "tsconfig.json")}
    ours = {path.relative_to(root).as_posix() for path in ours}
    assert packed == {
        path
        for path in ours
        if not path.startswith(("book/_press", "book/_grading", "book/_assets"))
    }


def environment(folder):
    """An empty virtual environment; its interpreter and its site-packages."""
    venv.create(folder, with_pip=False, symlinks=True)
    scheme = {"base": str(folder), "platbase": str(folder)}
    return folder / "bin" / "python", Path(sysconfig.get_path("purelib", "venv", vars=scheme))


def would_install(python, wheel):
    """Names that pip would install or replace for the wheel, with no index to fetch from."""
    pip = [sys.executable, "-m", "pip", "--python", python]
    command = [*pip, "install", "--dry-run", "--no-index", "--quiet", "--report", "-", wheel]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {item["metadata"]["name"] for item in json.loads(done.stdout)["install"]}


@pytest.fixture
def other_environment(tmp_path):
    """An environment whose torch and numpy are of other releases than ours, on paper."""
    python, packages = environment(tmp_path / "other")
    for name, installed in ELSEWHERE.items():
        folder = f"{name.replace('-', '_')}-{installed}.dist-info"
        (info := packages / folder).mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {installed}\n"
        )
        (info / "INSTALLER").write_text("pip\n")
        (info / "RECORD").write_text("")
    return python


def test_an_environment_that_has_torch_is_not_changed(wheel, other_environment):
    assert would_install(other_environment, wheel) == {"transformer-companion"}


@pytest.mark.long
def test_the_installed_wheel_works_alone(wheel, tmp_path):
    """Beside this environment's packages, without the repository: the wheel holds everything."""
    python, packages = environment(tmp_path / "alone")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not re.match("transformer_companion|__editable__", entry.name):
            (packages / entry.name).symlink_to(entry)
    assert would_install(python, wheel) == {"transformer-companion"}
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    code = (
        "from book import self_attention; from book.page import live, quiz;"
        "quiz(self_attention); from book.self_attention import checks;"
        "checks.attention(lambda q, k, v: q); print(live.__file__, len(live.bundle()))"
    )
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(packages))
