"""A bench: controls whose setting Python answers; the static book has one recorded answer."""

import html
import sys
from collections.abc import Callable

import ipywidgets
from markdown_it import MarkdownIt


class Bench(ipywidgets.VBox):
    """Controls, a button, and what a function answers; made by `bench`."""

    def __init__(self, title: str, answer: Callable[..., str], controls: dict) -> None:
        self.title, self.answer, self.controls = title, answer, controls
        self.output = ipywidgets.HTML()
        self.button = ipywidgets.Button(description="Run", button_style="primary")
        self.button.on_click(lambda _: self.run())
        for name, control in controls.items():
            control.description = control.description or name
            control.style.description_width = "initial"
        self.run()
        heading = ipywidgets.HTML(f"<b>{html.escape(title)}</b>")
        super().__init__([heading, *controls.values(), self.button, self.output])

    def said(self) -> str:
        """The answer to the current setting, or what is wrong with it, in Markdown."""
        try:
            return self.answer(**{name: control.value for name, control in self.controls.items()})
        except ValueError as error:
            return str(error)

    def run(self) -> None:
        """Ask, and show the answer in place of the last one."""
        self.output.value = MarkdownIt().enable("table").render(self.said())

    def to_html(self) -> str:
        """What the static book shows: the current setting, and the answer to it."""
        settings = ", ".join(
            f"{html.escape(name)}: <b>{html.escape(str(control.value))}</b>"
            for name, control in self.controls.items()
        )
        return (
            f'<section class="bench" aria-label="With a kernel"><p class="kind">With a kernel: '
            f'{html.escape(self.title)}</p><p class="settings">{settings}</p>{self.output.value}'
            f'<p class="settings">Recorded. In Jupyter or Colab you set {_listed(self.controls)} '
            "yourself.</p></section>"
        )

    def _repr_mimebundle_(self, **kwargs) -> dict:
        data = super()._repr_mimebundle_(**kwargs)
        data = data | {"text/plain": f"<Bench {self.title}>"}  # without a memory address
        if "google.colab" not in sys.modules:  # Colab would show the HTML instead of the widget
            data["text/html"] = self.to_html()
        return data


def _listed(names) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def bench(title: str, answer: Callable[..., str], **controls: ipywidgets.ValueWidget) -> Bench:
    """Let the reader ask Python: controls, a button, and what `answer` says.

    Without a kernel, as in the static book, the page has the answer to the initial setting.

    Args:
        title: what can be asked.
        answer: takes the controls' values by name and returns Markdown. Its ValueError is a
            sentence about bad input, which is shown like an answer.
        controls: ipywidgets, as `Text` and `Dropdown`, by the names of `answer`'s arguments.

    Raises:
        ValueError: there is no control.
    """
    if not controls:
        raise ValueError("bench() needs controls for the reader to set, got none")
    return Bench(title, answer, controls)
