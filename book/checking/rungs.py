"""A ladder: inputs, each of which isolates one idea, and the mistakes that are known.

    @ladder(_halve)
    def HALVE(halve):
        '''half of 4 is 2'''
        yield halve(torch.tensor([4.0]))

        '''each number by itself'''
        x = torch.tensor([1.0, 3.0])
        yield halve(x)


    HALVE.mistakes |= {
        "it doubles": lambda x: 2 * x,
        "it takes the root of what it should halve": edited(_halve, "x / 2", "x.sqrt()"),
    }

The function is read, not called: its source is what a learner is shown and can run again.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import NamedTuple


class Rung(NamedTuple):
    """One idea, and an input on which it alone decides.

    Args:
        idea: what holds on this input, in words; a learner reads it where it does not.
        code: what a learner can run again, in the words of the exercise; torch and np are there.
            Its last line is an expression, whose value is judged. The lines before the first one
            that names the answer make its inputs, which must stay as they are.
    """

    idea: str
    code: str


@dataclass
class Ladder:
    """What an answer is tried on, and what is known of wrong ones.

    Args:
        right: the right answer, which is called as the learner's is; several results are a tuple.
        name: the name that the answer has in the rungs.
        rungs: from the simplest input to the hardest; the first is tried once more at the end.
        optional: how many of the last results an answer may leave out.
        mistakes: a mistake by name -> an answer that makes it, in the form of the right one.
    """

    right: Callable
    name: str
    rungs: Sequence[Rung]
    optional: int = 0
    mistakes: dict[str, Callable] = field(default_factory=dict)

    def mapped(self, change: Callable[..., Callable], **named) -> "Ladder":
        """The same ladder, where the right answer and the known mistakes are `change`d."""
        mistakes = {text: change(wrong, **named) for text, wrong in self.mistakes.items()}
        return replace(self, right=change(self.right, **named), mistakes=mistakes)


def ladder(right: Callable, *, optional: int = 0) -> Callable[[FunctionType], Ladder]:
    """Make a ladder of a function of the answer: an idea, a string, the code, what to `yield`.

    Lines in front of the first idea belong to the code of every rung. What the code takes from the
    module, torch and np aside, it shows how to import, or how it is defined there.
    """

    def read(steps: FunctionType) -> Ladder:
        [name] = inspect.signature(steps).parameters
        return Ladder(right, name, _rungs(steps, name), optional)

    return read


def _rungs(steps: FunctionType, answer: str) -> list[Rung]:
    source = dedent(inspect.getsource(steps))
    lines = source.splitlines()
    [function] = ast.parse(source).body
    ideas = [x for x in function.body if _text(x)]
    ends = [*(x.lineno - 1 for x in ideas), len(lines)]
    setup = _code(lines[function.body[0].lineno - 1 : ends[0]])
    rungs = []
    for x, end in zip(ideas, ends[1:], strict=True):
        code = _code(lines[x.end_lineno : end])
        last = ast.parse(code or "...").body[-1]
        if not isinstance(getattr(last, "value", None), ast.Yield):
            raise ValueError(f"{steps.__name__} is no ladder: nothing is yielded for {_text(x)!r}")
        shown = code.splitlines()
        shown[last.lineno - 1] = shown[last.lineno - 1].removeprefix("yield ")
        code = "\n".join([*setup.splitlines(), *shown])
        rungs.append(Rung(_text(x), _before(steps, code, answer) + code))
    if not rungs:
        raise ValueError(f"{steps.__name__} is no ladder: it has no idea, a string in a line")
    return rungs


def _text(statement: ast.stmt) -> str:
    """The text of a statement that is a bare string; "" of any other."""
    match statement:
        case ast.Expr(ast.Constant(str(text))):
            return " ".join(text.split())
    return ""


def _code(lines: list[str]) -> str:
    """Lines of a function as they stand in a notebook."""
    return dedent("\n".join(lines)).strip("\n")


def _before(steps: FunctionType, code: str, answer: str) -> str:
    """What a notebook runs before this code: imports, and what the ladder's module defines."""
    modules, names, own = {}, {}, {}

    def add(source: str, given: set[str]) -> None:
        nodes = [*ast.walk(ast.parse(source))]
        named = [x for x in nodes if isinstance(x, ast.Name)]
        given |= {x.id for x in named if isinstance(x.ctx, ast.Store)} | {"torch", "np", answer}
        given |= {x.arg for x in nodes if isinstance(x, ast.arg)}
        given |= {x.name for x in nodes if isinstance(x, ast.FunctionDef | ast.ClassDef)}
        for name in sorted({x.id for x in named} & steps.__globals__.keys() - given):
            thing = steps.__globals__[name]
            if isinstance(thing, ModuleType):
                path = thing.__name__
                modules[name] = f"import {path}" + f" as {name}" * (path != name) + "\n"
            elif (home := _home(thing, steps)) != steps.__module__:
                names.setdefault(home, set()).add(name)
            elif name not in own:
                own[name] = ""
                add(text := _definition(name, steps), {name})
                own[name] = own.pop(name) + text + "\n\n"  # behind what it needs itself

    add(code, set())
    froms = [f"from {module} import {', '.join(sorted(x))}\n" for module, x in names.items()]
    return "".join([*modules.values(), *froms, *own.values()])


def _home(thing, steps: FunctionType) -> str:
    """The module in which a function or class is defined; of a constant, that of the ladder."""
    has_home = inspect.isfunction(thing) or inspect.isclass(thing)
    return thing.__module__ if has_home else steps.__module__


def _definition(name: str, steps: FunctionType) -> str:
    """The statement of the ladder's module that defines a name."""
    source = inspect.getsource(sys.modules[steps.__module__])
    for x in ast.parse(source).body:
        targets = {getattr(target, "id", "") for target in getattr(x, "targets", [])}
        if name in targets | {getattr(x, "name", "")}:
            return ast.unparse(x)
    raise ValueError(f"{steps.__module__} does not define {name!r}, of which {steps.__name__} asks")


def edited(right: Callable, *changes: str) -> Callable:
    """The right answer with a piece of its source changed: old, new, and if need be once more.

    Args:
        right: a plain function or a class; what it needs is in its module.
        changes: each old piece, which occurs once in the source of `right`, and the new one.
    """
    source = original = dedent(inspect.getsource(right))
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        replaced_once(original, old, new)
        source = replaced_once(source, old, new)
    names: dict[str, Callable] = {}
    exec(
        compile(source, f"<{right.__name__}, changed>", "exec"),
        vars(sys.modules[right.__module__]),
        names,
    )
    return names[right.__name__]


def replaced_once(source: str, old: str, new: str) -> str:
    """A source with one place changed.

    Raises:
        ValueError: the old text does not occur there exactly once.
    """
    if source.count(old) != 1:
        raise ValueError(f"{old!r} stands {source.count(old)} times in the source; expected once")
    return source.replace(old, new)
