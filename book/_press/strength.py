"""The page that shows what the checks have been tried on: every answer of the tests.

The page says in Markdown what that is about, with the numbers {checks}, {rights} and {wrongs}, and
`<!-- checks -->` where the answers are to stand.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from companion.checks import Verdict
from tests.checks.answers import RIGHT, WRONG, Answer, chapters, core_checks

ROOT = Path(__file__).parents[2]
PLACE = "<!-- checks -->"


def with_answers(
    page: str, verdict_on: Callable[[Answer], Verdict] = lambda answer: answer.check(answer.answer)
) -> str:
    """The Markdown of a page with all answers where it asks for them.

    Args:
        page: Markdown.
        verdict_on: what the check of a wrong answer says of it.
    """
    if PLACE not in page:
        return page
    names = _in_the_order_of_the_book()
    checks = {answer.check for answer in RIGHT}
    lines = []
    for chapter in names:
        lines += [f"## {chapter.replace('_', ' ').capitalize()}", ""]
        of_chapter = [answer for answer in RIGHT if _home(answer) == chapter]
        for check in dict.fromkeys(answer.check for answer in of_chapter):
            lines += _table(check, verdict_on)
    page = page.format(checks=len(checks), rights=len(RIGHT), wrongs=len(WRONG))
    return page.replace(PLACE, "\n".join(lines))


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
    core = " (core)" if check in core_checks() else ""
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
