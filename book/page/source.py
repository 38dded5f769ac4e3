"""The package's own code, shown on the page that introduces it."""

import ast
import inspect
import textwrap

from IPython.display import Markdown


def show_source(definition) -> Markdown:
    """The source of a function, class or module as a code block, without its docstring.

    Args:
        definition: a function, method, class or module whose source file can be found.

    Returns:
        A Markdown object, which Jupyter, Colab and the book show highlighted.
    """
    source = textwrap.dedent(inspect.getsource(definition))
    lines = source.splitlines()
    tree = ast.parse(source)
    defined = tree if inspect.ismodule(definition) else tree.body[0]
    if ast.get_docstring(defined) is not None:
        del lines[defined.body[0].lineno - 1 : defined.body[0].end_lineno]
    return Markdown("```python\n" + "\n".join(lines) + "\n```")
