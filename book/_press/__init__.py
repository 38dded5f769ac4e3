"""What prints the book: it executes the notebooks, repeats their claims and makes the pages.

None of it is in the wheel, and no chapter imports it. Its commands are run in the repository's
root, `python -m book._press.execute`; the Makefile has them all.
"""
