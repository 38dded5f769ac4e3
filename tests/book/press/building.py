"""`jupyter-book build .` for a tiny book, in a fork of the tests: two thirds of it are imports."""

import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import book._press.sphinx_ext  # noqa: F401 (with all that it imports)


def build(folder: Path, *options: str) -> tuple[int, str]:
    """Build the book in this folder alone; its exit status, and all that was printed."""
    with warnings.catch_warnings():  # those of pytest are errors
        warnings.simplefilter("ignore")
        from jupyter_book.cli.main import main  # a second, which no other tests need

        with tempfile.TemporaryFile("w+") as said:
            if (child := os.fork()) == 0:
                status = 1
                sys.stdout = sys.stderr = said
                os.chdir(folder)
                try:
                    main(["build", ".", "-W", "-n", *options])
                except SystemExit as end:
                    status = end.code or 0
                except Exception:
                    traceback.print_exc()
                finally:
                    said.flush()
                    os._exit(status)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            said.seek(0)
            return status, said.read()
