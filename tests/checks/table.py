"""The page of the book that shows what the checks have been tried on.

python -m tests.checks.table      writes book/exercises/strength.md
"""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from companion.checks import Verdict
from tests.checks.answers import CORE, RIGHT, WRONG, Answer, chapters

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "book/exercises/strength.md"
INTRO = """\
# What the checks have been tried on

A check is only as good as the wrong answers that it sees through, and as the right ones that it
lets pass. Every check of this book comes with both: wrong answers of kinds that learners really
give, each with the mistake that it has to be told, and right answers that go about it in different
ways. The tests run them all, and this page is made from what the checks said.

There are {checks} checks, {rights} right answers and {wrongs} wrong ones. A check has at least two
right and three wrong answers, that of a core exercise at least six wrong ones. All of them, in
full, are in the repository, in `tests/checks/answers_<chapter>.py`; its `CONTRIBUTING.md` says how
to add one. Has a check told you something untrue, or let a mistake pass? Then your answer is still
missing here.
"""


def page(verdict_on: Callable[[Answer], Verdict]) -> str:
    """The page in Markdown; `verdict_on` says what the check of a wrong answer says of it."""
    names = _in_the_order_of_the_book()
    checks = {answer.check for answer in RIGHT}
    lines = [INTRO.format(checks=len(checks), rights=len(RIGHT), wrongs=len(WRONG))]
    for chapter in names:
        lines += [f"## {chapter.replace('_', ' ').capitalize()}", ""]
        of_chapter = [answer for answer in RIGHT if _home(answer) == chapter]
        for check in dict.fromkeys(answer.check for answer in of_chapter):
            lines += _table(check, verdict_on)
    return "\n".join(lines)


def _in_the_order_of_the_book() -> list[str]:
    toc = (ROOT / "_toc.yml").read_text("utf8")
    names = [module.__name__.rpartition(".answers_")[2] for module in chapters()]
    return sorted(names, key=lambda name: (toc + f"book/{name}\n").index(f"book/{name}\n"))


def _home(answer: Answer) -> str:
    return answer.check.__module__.rpartition(".")[2]


def _table(check: Callable, verdict_on: Callable[[Answer], Verdict]) -> Iterator[str]:
    """One check: what it asks, the right answers in a line, the wrong ones in a folded table."""
    name = check.__name__
    rights, wrongs = ([a for a in group if a.check is check] for group in (RIGHT, WRONG))
    core = " (core)" if name in CORE else ""
    asks = inspect.getdoc(check).partition("\n\n")[0].removeprefix("Check ").replace("\n", " ")
    yield f"### {name}{core}\n"
    yield f"{_escaped(asks)}\n"
    yield f"Accepted: {', '.join(f'`{a.answer.__name__}`' for a in rights)}.\n"
    yield f"<details><summary>{len(wrongs)} wrong answers, and what they are told</summary>\n"
    yield "| wrong answer | is told |\n|---|---|"
    for answer in wrongs:
        yield f"| `{answer.answer.__name__}` | {_escaped(_told(verdict_on(answer)))} |"
    yield "\n</details>\n"


def _told(verdict: Verdict) -> str:
    """The mistake; of an exception its type only, since Python words its message by version."""
    return re.sub(r"^(it raised \w+): .*", r"\1, with its message and its line", verdict.mistake)


def _escaped(text: str) -> str:
    """Text in which Markdown means nothing but backticks."""
    parts = re.split(r"(`[^`]+`)", text)
    parts[::2] = [re.sub(r"([\\*_|<>~$\[\]])", r"\\\1", part) for part in parts[::2]]
    return "".join(part.replace("|", r"\|") if "`" in part else part for part in parts)


if __name__ == "__main__":
    PAGE.write_text(page(lambda answer: answer.check(answer.answer)), "utf8")
    print(f"wrote {PAGE.relative_to(ROOT).as_posix()}")
