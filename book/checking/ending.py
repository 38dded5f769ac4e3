"""A check ends, whatever the answer does: endless loops, endless printing, questions.

A thread watches the clock. When an answer has used up its time, `Ended` is raised in it again and
again until it has left, since an `except:` of its own may catch it. Python code in any thread
notices that at once. For a call in C that waits (`time.sleep`), the main thread gets a signal as
well. A loop in C that does not come back to Python (`sum(itertools.count())`) notices nothing.

A worker process with a deadline, as in the grading, would be simpler, but a notebook cannot have
one. A process that is spawned, the only kind on Windows, has no `__main__` in which the learner's
functions are. One that is forked hangs in torch's first parallel loop if the kernel has run one
before, and cannot use the GPU that the kernel uses.
"""

import builtins
import ctypes
import linecache
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

CALL = 20.0  # seconds for one call of the answer; the slowest right answer takes 3
CHECK = 50.0  # seconds for a whole check, of which the slowest takes 5; grading gives a cell 60
PRINTED = 100_000  # letters that an answer may print in a check
LOOK_EVERY = 0.1  # seconds

# Raise a class of exception in a thread, or take back what it has not yet noticed. It keeps the
# interpreter's lock, so that nothing happens between a condition and a call that follows it.
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_in.argtypes = (ctypes.c_ulong, ctypes.py_object)
_NOTHING = ctypes.py_object()


class Ended(BaseException):
    """Raised in an answer that has taken too much, to get out of it."""


class Watch:
    """One run of a check: what is being tried, since when, and why it was ended, if it was.

    Args:
        own: whether a file of this name holds the learner's code.
    """

    def __init__(self, own: Callable[[str], bool]) -> None:
        self.own = own
        self.thread = threading.get_ident()
        self.reason = ""  # why it was ended
        self.interrupted = False  # by the learner
        self.shown, self.trying, self.printed = "", "", 0
        self.inside = False
        # One that is caught and dropped comes back: its end raises it anew, behind the `except:`.
        self.ended = type("Ended", (Ended,), {})
        self.ended.__del__ = partial(_raise_in, self.thread, self.ended)
        self._over = threading.Event()
        self.call_began = math.inf
        self._began = time.monotonic()

    def run(self, check: Callable, answer) -> str:
        """What the check returns.

        Raises:
            Ended: the answer has taken too much; `reason` says of what.
        """
        main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGINT) if main else None
        self._heard_before = before
        watcher = threading.Thread(target=self._watch, daemon=True)
        streams, ask = (sys.stdout, sys.stderr), builtins.input
        unraisable = sys.unraisablehook
        try:
            watcher.start()
            if before not in (None, signal.SIG_DFL):
                signal.signal(signal.SIGINT, self._hear)
            sys.stdout, sys.stderr = (_Counted(stream, self) for stream in streams)
            builtins.input = self._ask
            sys.unraisablehook = partial(_unless_ended, unraisable)
            _WATCHES.append(self)
            try:
                self.inside = True
                return check(answer)
            finally:  # these lines make no call in which they could be interrupted themselves
                self.inside = False
                del self.ended.__del__
                _raise_in(self.thread, _NOTHING)
        finally:
            if self in _WATCHES:
                _WATCHES.remove(self)
            sys.unraisablehook = unraisable
            builtins.input = ask
            sys.stdout, sys.stderr = streams
            self._over.set()
            watcher.join()
            if before not in (None, signal.SIG_DFL):
                signal.signal(signal.SIGINT, before)

    def end(self, reason: str) -> None:
        """End the answer that calls this."""
        self.reason = self.reason or reason
        raise self.ended

    def _watch(self) -> None:
        looks = 0  # since it was ended
        while not self._over.wait(LOOK_EVERY):
            self.reason = self.reason or self._overdue()
            if not self.reason:
                continue
            looks += 1
            if self.inside:
                _raise_in(self.thread, self.ended)
            if looks > 2:
                self._wake()

    def _overdue(self) -> str:
        now = time.monotonic()
        if now < min(self.call_began + CALL, self._began + CHECK):
            return ""
        whole = now >= self._began + CHECK
        what = f"in {CHECK:g} seconds the check has not come to an end"
        what = what if whole else f"it did not come back within {CALL:g} seconds"
        place = self._place()
        return f"{what}{self.trying}{place and f'; it was {place}'}; does a loop never end?"

    def _place(self) -> str:
        """The innermost line of the learner's that is being run."""
        frame = sys._current_frames().get(self.thread)
        while frame:
            code, line = frame.f_code, frame.f_lineno
            if self.own(code.co_filename):
                text = linecache.getline(code.co_filename, line, frame.f_globals).strip()
                return f"in {code.co_name}, line {line}: {text}".removesuffix(": ")
            frame = frame.f_back
        return ""

    def _wake(self) -> None:
        """Interrupt a call that waits: in the main thread, as Ctrl-C does."""
        if signal.getsignal(signal.SIGINT) != self._hear or not self.inside:
            return
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(self.thread, signal.SIGINT)
        else:  # Windows, where it reaches the main thread from any
            signal.raise_signal(signal.SIGINT)

    def _hear(self, number: int, frame) -> None:
        """SIGINT: of `_wake`, or of the learner, to whom it does what it did before."""
        if self.reason:
            if self.inside:
                raise self.ended
        else:
            self.interrupted = True
            if callable(self._heard_before):
                self._heard_before(number, frame)

    def _ask(self, prompt: object = "", /) -> str:
        self.end("it asks for input, and nobody is there to type it while a check runs")


def _unless_ended(hook: Callable, unraisable) -> None:
    """Say nothing of an end that fell into a destructor or a callback: it comes back."""
    if not issubclass(unraisable.exc_type, Ended):
        hook(unraisable)


class _Counted:
    """A stream that ends the answer when it has written more than `PRINTED` letters."""

    def __init__(self, stream, watch: Watch) -> None:
        self._stream, self._watch = stream, watch

    def write(self, text: str) -> int:
        left = PRINTED - self._watch.printed
        self._watch.printed += len(text)
        if self._watch.printed > PRINTED:
            self._stream.write(text[: max(left, 0)])
            self._watch.end(
                f"it printed more than {PRINTED} letters{self._watch.trying}; "
                "does a loop never end? The rest is left out"
            )
        return self._stream.write(text)

    def writelines(self, lines) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str):
        return getattr(self._stream, name)


_WATCHES: list[Watch] = []  # of the checks that run; one that another calls stands behind it


@contextmanager
def calling(shown: str, trying: str = "") -> Iterator[None]:
    """Tell the check that runs, if any, that what is done inside is a call of the answer.

    Args:
        shown: what a verdict shows of it; and, until the next one, of what is done with its result.
        trying: which idea it tries, as a part of a sentence.
    """
    if _WATCHES:
        watch = _WATCHES[-1]
        watch.shown, watch.trying, watch.call_began = shown, trying, time.monotonic()
    try:
        yield
    finally:
        if _WATCHES:
            _WATCHES[-1].call_began = math.inf
