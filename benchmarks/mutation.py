"""Whether the checks notice every change of a right answer: cosmic-ray's mutations of the answers.

    python -m venv /tmp/cosmic && /tmp/cosmic/bin/pip install cosmic-ray==8.7.0
    PYTHONPATH=.:$(echo /tmp/cosmic/lib/python3*/site-packages) \
        .venv/bin/python benchmarks/mutation.py [chapter ...] > mutants.md

The right answers of tests/book/<chapter>/answers.py are changed in one place at a time (an
operator, a comparison, a number, True and False, a loop left out), and given to their check. A
mutant is killed when its check does not pass it. Survivors are printed with what was changed.
"""

import argparse
import ast
import contextlib
import difflib
import io
import linecache
import signal
import sys
import warnings
from collections import Counter
from pathlib import Path

import parso
from cosmic_ray.mutating import MutationVisitor
from cosmic_ray.operators.provider import OperatorProvider

from tests.book import answers

FOLDER = Path(answers.__file__).parent
SECONDS = 5  # of computing
# These ask for arguments (variables), or change what only marks an answer.
LEFT_OUT = {"VariableReplacer", "VariableInserter", "RemoveDecorator", "ExceptionReplacer"}


class TooLong(BaseException):
    """A mutant that does not end."""


def mutants(source: str):
    """Every form of a definition with one change."""
    provider, seen = OperatorProvider(), {source}
    for name in sorted(set(provider) - LEFT_OUT):
        for occurrence in range(10_000):
            visitor = MutationVisitor(occurrence, provider[name]())
            changed = visitor.walk(parso.parse(source)).get_code()
            if not visitor.mutation_applied:
                break
            if changed not in seen:
                seen.add(changed)
                yield changed


def definitions(path: Path) -> dict[str, str]:
    """The sources of what a module of answers holds, without the wrong answers, by name."""
    source = path.read_text("utf8")
    lines, found = source.splitlines(keepends=True), {}
    for i, node in enumerate(ast.parse(source).body):
        marks = getattr(node, "decorator_list", [])
        if any(ast.unparse(mark).startswith("wrong(") for mark in marks):
            continue
        first = min([node.lineno, *(mark.lineno for mark in marks)])
        text = "".join(lines[first - 1 : node.end_lineno])
        found[getattr(node, "name", f"statement {i}")] = text
    return found


def reached(parts: dict[str, str], name: str) -> set[str]:
    """The names of the definitions that use this one, directly or not, and its own."""
    uses = {
        part: {x.id for x in ast.walk(ast.parse(text)) if isinstance(x, ast.Name)}
        for part, text in parts.items()
    }
    found = {name}
    while more := {part for part, used in uses.items() if used & found} - found:
        found |= more
    return found


def right_answers(parts: dict[str, str], names: set[str], known: dict) -> list[answers.Answer]:
    """The right answers among these definitions, made anew."""
    keep = answers.RIGHT[:], answers.WRONG[:]
    answers.RIGHT.clear()
    try:
        for name, text in parts.items():
            if name in names:
                linecache.cache[name] = len(text), None, text.splitlines(True), name
                exec(compile(text, name, "exec"), known)
        return answers.RIGHT[:]
    finally:
        answers.RIGHT[:], answers.WRONG[:] = keep


def verdict(answer: answers.Answer) -> str:
    """What the check says of a mutant: its status, or what went wrong."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return answer.check(answer.answer).status
    except TooLong:
        return "does not end"
    except Exception as error:
        return f"the check raised {type(error).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def report(chapter: str) -> None:
    """Print how many mutants of a chapter's right answers were killed, and each that was not."""
    parts = definitions(FOLDER / f"answers_{chapter}.py")
    known = {"__name__": "answers"}
    right_answers(parts, set(parts), known)
    made, killed, survivors, raised = Counter(), Counter(), [], []
    for name, text in parts.items():
        if name.startswith("statement"):
            continue
        names = reached(parts, name)
        for changed in mutants(text):
            try:
                found = right_answers(parts | {name: changed}, names, dict(known))
            except Exception:  # it does not even come to be a function
                continue
            for answer in found:
                check = answer.check.__name__
                made[check] += 1
                said = verdict(answer)
                killed[check] += said != "passed"
                if said == "passed" or said.startswith("the check raised"):
                    diff = difflib.unified_diff(
                        text.splitlines(), changed.splitlines(), lineterm="", n=0
                    )
                    lines = [x for x in diff if x[0] in "+-" and x[:3] not in ("+++", "---")]
                    to = survivors if said == "passed" else raised
                    to.append((f"{check}: {answer.answer.__name__}", said, lines))
    print(f"## {chapter}\n\n| exercise | mutants | killed |\n|---|---|---|")
    for check, number in made.items():
        print(f"| `{check}` | {number} | {killed[check]} |")
    print()
    for name, said, lines in survivors + raised:
        print(
            f"- {name} ({said})", *(f"  `{line[0]} {line[1:].strip()}`" for line in lines), sep="\n"
        )
    print(flush=True)


def main() -> None:
    """Report on the chapters that are named, or on all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chapter", nargs="*")
    known = sorted(path.stem.removeprefix("answers_") for path in FOLDER.glob("answers_*.py"))

    def stop(*_):
        raise TooLong

    signal.signal(signal.SIGPROF, stop)
    for chapter in parser.parse_args().chapter or known:
        print(chapter, file=sys.stderr)
        report(chapter)


if __name__ == "__main__":
    main()
