"""The package's own code, shown on the page that introduces it."""

import ast
import inspect
import textwrap

from IPython.display import Markdown


def show_source(definition) -> Markdown:
    """The source of a function or class as a code block, without its docstring.

    Args:
        definition: a function, method or class whose source file can be found.

    Returns:
        A Markdown object, which Jupyter, Colab and the book show highlighted.
    """
    source = textwrap.dedent(inspect.getsource(definition))
    lines = source.splitlines()
    body = ast.parse(source).body[0].body
    if ast.get_docstring(ast.parse(source).body[0]) is not None:
        del lines[body[0].lineno - 1 : body[0].end_lineno]
    return Markdown("```python\n" + "\n".join(lines) + "\n```")
