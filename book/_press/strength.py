"""The page that shows what the checks have been tried on: every answer of the tests.

The page says in Markdown what that is about, with the numbers {checks}, {rights} and {wrongs}, and
`<!-- checks -->` where the answers are to stand. What the checks say is kept in
`_build/executed/checks`, as the outputs of notebooks are.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from book._press.execute import keep, key
from book._press.imports import Code, dependencies, read_code
from tests.book.answers import RIGHT, WRONG, Answer, chapters, core_checks, ladders

ROOT = Path(__file__).parents[2]
PLACE = "<!-- checks -->"


def with_answers(page: str, told: Callable[[], list[str]]) -> str:
    """The Markdown of a page with all answers where it asks for them.

    Args:
        page: Markdown.
        told: gives what the check of each wrong answer says of it, in their order.
    """
    if PLACE not in page:
        return page
    names = _in_the_order_of_the_book()
    checks = {answer.check for answer in RIGHT}
    of_each = list(zip(WRONG, told(), strict=True))
    lines = []
    for chapter in names:
        lines += [f"## {chapter.replace('_', ' ').capitalize()}", ""]
        of_chapter = [answer for answer in RIGHT if _home(answer) == chapter]
        for check in dict.fromkeys(answer.check for answer in of_chapter):
            lines += _table(check, [(a, text) for a, text in of_each if a.check is check])
    known = sum(len(ladder.mistakes) for ladder in ladders().values())
    page = page.format(checks=len(checks), rights=len(RIGHT), wrongs=len(WRONG) + known)
    return page.replace(PLACE, "\n".join(lines))


def told(root: Path = ROOT) -> list[str]:
    """What the check of each wrong answer says of it, or said when nothing was different yet."""
    chapters()  # importing them fills the lists
    answers = [*(root / "tests" / "book").glob("**/answers.py")]
    imports = set().union(*(read_code(file.read_text("utf8")).imports for file in answers))
    files = dependencies(Code(frozenset(imports), frozenset()), root)
    file = root / "_build" / "executed" / "checks" / f"{key(root, [], [*answers, *files])}.json"
    if not file.exists():
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            keep(file, {"told": [*pool.map(_told, range(len(WRONG)), chunksize=40)]})
    return json.loads(file.read_text("utf8"))["told"]


def _in_the_order_of_the_book() -> list[str]:
    toc = (ROOT / "_toc.yml").read_text("utf8")
    names = [module.__name__.split(".")[2] for module in chapters()]
    return sorted(names, key=lambda name: (toc + f"book/{name}/").index(f"book/{name}/"))


def _home(answer: Answer) -> str:
    return answer.check.__module__.split(".")[1]


def _table(check: Callable, wrongs: list[tuple[Answer, str]]) -> Iterator[str]:
    """One check: what it asks, the right answers in a line, the wrong ones in a folded table."""
    name = check.__name__
    rights = [answer for answer in RIGHT if answer.check is check]
    core = " (core)" if check in core_checks() else ""
    asks = inspect.getdoc(check).partition("\n\n")[0].removeprefix("Check ").replace("\n", " ")
    yield f"### {name}{core}\n"
    yield f"{_escaped(asks)}\n"
    yield f"Accepted: {', '.join(f'`{a.answer.__name__}`' for a in rights)}.\n"
    known = ladders()[check].mistakes if check in ladders() else {}
    total = len(wrongs) + len(known)
    yield f"<details><summary>{total} wrong answers, and what they are told</summary>\n"
    yield "| wrong answer | is told |\n|---|---|"
    for mistake in known:
        yield f"| a mistake that the check knows | {_escaped(mistake)} |"
    for answer, text in wrongs:
        yield f"| `{answer.answer.__name__}` | {_escaped(text)} |"
    yield "\n</details>\n"


def _told(number: int) -> str:
    """The mistake; of an exception its type only, since Python words its message by version."""
    chapters()  # in a process that has not imported them yet
    answer = WRONG[number]
    mistake = answer.check(answer.answer).mistake
    return re.sub(r"^(it raised \w+): .*", r"\1, with its message and its line", mistake)


def _escaped(text: str) -> str:
    """Text in which Markdown means nothing but backticks."""
    parts = re.split(r"(`[^`]+`)", text)
    parts[::2] = [re.sub(r"([\\*_|<>~$\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(part.replace("|", r"\|") if "`" in part else part for part in parts)
