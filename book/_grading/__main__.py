"""What authors and instructors run: python -m book._grading student, assignment, grade, quizzes."""

import argparse
from pathlib import Path

from book._grading import assignment, grade, quizzes, student


def main(root: Path, arguments: list[str] | None = None) -> None:
    """Run the command that the arguments name, in the repository `root`."""
    parser = argparse.ArgumentParser(prog="python -m book._grading", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="student, assignment, grade or quizzes")
    derive = commands.add_parser("student", help="derive the students' copies of the exercises")
    derive.add_argument("names", nargs="*", metavar="page", help="all, where none is named")
    derive.set_defaults(run=student.main)
    hand_out = commands.add_parser("assignment", help="build the student release of a chapter")
    hand_out.set_defaults(run=assignment.main)
    take_in = commands.add_parser(
        "grade", help="grade a folder of submissions", description=grade.__doc__
    )
    take_in.set_defaults(run=grade.main)
    for command in (hand_out, take_in):
        command.add_argument("chapter")
        command.add_argument("--course", type=Path, default=assignment.COURSE, help="its folder")
    take_in.add_argument("submissions", type=Path, help="their folder")
    take_in.add_argument("--due", type=grade.end_of, help="2026-10-01, or '2026-10-01 18:00'")
    export = commands.add_parser(
        "quizzes", help="write the quizzes for Moodle, as QTI 2.1 and for Anki"
    )
    export.add_argument("folder", type=Path, nargs="?", default=Path("quizzes"))
    export.set_defaults(run=quizzes.main)
    options = vars(parser.parse_args(arguments))
    try:
        options.pop("run")(root, **options)
    except (ValueError, RuntimeError) as error:
        parser.exit(2, f"error: {error}\n")


if __name__ == "__main__":
    main(Path.cwd())
