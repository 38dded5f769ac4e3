"""What an author and an instructor run: python -m companion.grading student [chapter ...]."""

import argparse
from pathlib import Path

from companion.grading import student


def command_line() -> argparse.ArgumentParser:
    """The commands and what each is told."""
    parser = argparse.ArgumentParser(prog="python -m companion.grading", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    derive = commands.add_parser("student", help="derive the students' copies of the exercises")
    derive.add_argument("chapters", nargs="*", metavar="chapter", help="all, where none is named")
    derive.set_defaults(run=lambda root, options: student.main(root, options.chapters))
    return parser


def main(root: Path, arguments: list[str] | None = None) -> None:
    """Run the command that the arguments name, in the repository `root`."""
    parser = command_line()
    options = parser.parse_args(arguments)
    try:
        options.run(root, options)
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main(Path.cwd())
