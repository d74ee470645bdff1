"""Run code that may do anything: raise, exit, print for ever or never come back.

The call runs in a thread of its own while the caller waits. When the time is up, an exception is
sent into that thread. This needs no signal, so it works in the kernel of a notebook, on Windows and
wherever else the caller is not the main thread. It cannot end a call that stays outside Python (a
long sleep): such a thread is left behind, as a daemon. Code that holds the interpreter's lock all
the while (``9 ** 9 ** 9``) holds up the caller as well.

Where no thread can start, as in a browser, the call runs directly, and Python looks at the clock at
each of its lines. Then only lines of Python are stopped, and only once: code that catches the
exception goes on.
"""

import contextlib
import io
import sys
import threading
import time
from dataclasses import dataclass

__all__ = ["Outcome", "TimeUp", "run"]

_LONGEST_PRINT = 1000  # characters kept of what was printed
_GRACE = 0.5  # seconds for a thread to end once it was told to
_PAUSE = 0.05  # seconds between two tries: the code may catch the first exception


class TimeUp(BaseException):
    """Raised inside a call whose time is up; no ``except Exception`` catches it."""


@dataclass
class Outcome:
    """What became of a call: a value, or the error that it ended in, and what it printed."""

    value: object = None
    error: BaseException | None = None
    left_behind: bool = False
    printed: str = ""


def run(function, seconds):
    """Call a function, for at most so many seconds.

    Parameters
    ----------
    function : callable without arguments
    seconds : float

    Returns
    -------
    Outcome
        Its ``error`` is a :class:`TimeUp` when the time was up, and ``left_behind`` is true when
        the call did not end even then. Nothing the function raises gets past this one.

    Examples
    --------
    >>> run(lambda: 6 * 7, seconds=5).value
    42
    >>> run(lambda: 1 / 0, seconds=5).error
    ZeroDivisionError('division by zero')
    """
    printed = _Beginning()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        outcome = _run_in_thread(function, seconds)
    outcome.printed = printed.text()
    return outcome


def _run_in_thread(function, seconds):
    outcome, finished = Outcome(), threading.Event()

    def work():
        try:
            _call(function, outcome)
        finally:
            finished.set()

    thread = threading.Thread(target=work, name="attempt", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no threads here
        return _run_line_by_line(function, seconds)
    try:
        # Not thread.join: interrupted, it takes a running thread for a stopped one (Python 3.11).
        in_time = finished.wait(seconds)
    finally:  # also when the reader interrupts the wait
        give_up = time.monotonic() + _GRACE
        while not finished.is_set() and time.monotonic() < give_up:
            _send(TimeUp, thread)
            finished.wait(_PAUSE)
        thread.join(_PAUSE)
    if in_time:
        return outcome
    if finished.is_set() and isinstance(outcome.error, TimeUp):
        return outcome  # its traceback says where the call was
    return Outcome(error=TimeUp(), left_behind=thread.is_alive())


def _run_line_by_line(function, seconds):
    end = time.monotonic() + seconds

    def look(frame, event, argument):
        if time.monotonic() > end:
            raise TimeUp
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        return _call(function, Outcome())
    finally:
        sys.settrace(before)


def _call(function, outcome):
    try:
        outcome.value = function()
    except BaseException as error:  # SystemExit too: an attempt must not end the session
        if isinstance(error, KeyboardInterrupt) and _in_main_thread():
            raise  # the reader's own
        outcome.error = error
    return outcome


def _in_main_thread():
    return threading.current_thread() is threading.main_thread()


def _send(error, thread):
    with contextlib.suppress(ImportError, AttributeError):  # an interpreter without C
        import ctypes

        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(error)
        )


class _Beginning(io.TextIOBase):
    """A stream that keeps only the beginning of what is written to it."""

    def __init__(self):
        self._parts, self._room, self._cut = [], _LONGEST_PRINT, False

    def writable(self):
        return True

    def write(self, text):
        kept = text[: self._room]
        if kept:
            self._parts.append(kept)
        self._room -= len(kept)
        self._cut = self._cut or len(kept) < len(text)
        return len(text)

    def text(self):
        return "".join(self._parts) + (" ... (and more)" if self._cut else "")
