"""Play a notebook's cells in this process, and try answers to a question in forks of it.

A kernel for each of a few hundred answers would take an hour. Here the cells up to a question run
once; each answer then runs in a fork, which starts from that state in milliseconds.
"""

import ast
import contextlib
import io
import math
import os
import resource
import signal
import time
from dataclasses import dataclass, field
from multiprocessing import Pipe

from notebooks import cell_tree

from . import hidden
from .sources import grade_id, role

OPEN = "raise NotImplementedError"
GONE = "ended Python, or never came back"
PATIENCE = 10  # seconds to wait for one of processor time
SHORT = 160  # letters of a reason


@dataclass
class Outcome:
    """What an answer failed, with the reasons, and the seconds of processor time that it took."""

    failed: dict = field(default_factory=dict)
    seconds: float = 0.0


class Player:
    """A notebook that is played from its first cell on, in one namespace."""

    def __init__(self, notebook):
        self._cells, self._next = notebook.cells, 0
        self._namespace = {"__name__": "__main__"}

    def place(self, cell):
        """The index of a cell."""
        return next(n for n, one in enumerate(self._cells) if one is cell)

    def play_until(self, place):
        """Run the cells before ``place`` that have not run; errors of theirs are passed over."""
        with _quiet():
            while self._next < place:
                cell = self._cells[self._next]
                self._next += 1
                if cell.cell_type == "code" and role(cell) != "test":
                    with contextlib.suppress(Exception):
                        run_cell(cell.source, self._namespace)

    def leave_open(self, place):
        """Run the solution cell at ``place`` as a student has it who did not answer."""
        self.play_until(place)
        self._next = place + 1
        with _quiet(), contextlib.suppress(Exception):
            run_cell(_opened(self._cells[place].source), self._namespace)

    def try_answer(self, text, last, limit):
        """Run ``text`` for the next cell, then the cells up to ``last``, in a fork of this process.

        The checks and tests among them say what came of it. The state here does not change. The
        limit is in seconds of processor time, since a machine may be busy with something else.
        """
        here, there = Pipe(duplex=False)
        child = os.fork()
        if child == 0:
            _answer_and_exit(lambda: self._answer(text, last, there.send), limit)
        there.close()
        try:
            failed = _heard(here, time.monotonic() + PATIENCE * limit)
        finally:
            here.close()
            os.kill(child, signal.SIGKILL)  # not waited for yet, so the number is still its own
            _, _, used = os.wait4(child, 0)
        return Outcome(failed, used.ru_utime + used.ru_stime)

    def _answer(self, text, last, tell):
        """Run the answer and what judges it; tell of each check and test when it starts and ends.

        After the first test that fails the others are left out.
        """
        tell((grade_id(self._cells[self._next]), None))
        with contextlib.suppress(Exception):
            run_cell(text, self._namespace)
        for cell in self._cells[self._next + 1 : last + 1]:
            if cell.cell_type != "code":
                continue
            kind = role(cell)
            if kind in ("check", "test"):
                tell((grade_id(cell), None))
            reason = _reason(cell, kind, self._namespace)
            if kind in ("check", "test"):
                tell((grade_id(cell), reason))
            if kind == "test" and reason:
                break
        tell(None)


def _reason(cell, kind, namespace):
    """Run a cell; why it failed, "" if it did not."""
    try:
        value = run_cell(hidden.guarded(cell.source) if kind == "test" else cell.source, namespace)
    except BaseException as error:  # an answer may raise SystemExit
        return f"{type(error).__name__}: {error}"[:SHORT]
    return repr(value)[:SHORT] if kind == "check" and not value else ""


def _heard(connection, end):
    """What a fork told until ``end``: the cells that failed, with the reasons."""
    failed = {}
    at = "the answer"
    with contextlib.suppress(EOFError):
        while connection.poll(max(0.0, end - time.monotonic())):
            told = connection.recv()
            if told is None:
                return failed
            at, reason = told
            if reason:
                failed[at] = reason
    return {**failed, at: GONE}


def run_cell(source, namespace):
    """Run a cell as IPython would; the value of its last line if that is an expression."""
    tree = cell_tree(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    if last is not None:
        return eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    return None


def _opened(source):
    """A solution cell as students get it."""
    kept, inside = [], False
    for line in source.split("\n"):
        if "BEGIN SOLUTION" in line:
            kept.append(line[: len(line) - len(line.lstrip())] + OPEN)
        inside = "BEGIN SOLUTION" in line or (inside and "END SOLUTION" not in line)
        if not inside and "END SOLUTION" not in line:
            kept.append(line)
    return "\n".join(kept)


def _answer_and_exit(call, limit):
    """Make a call in a fork, and end without any of the parent's clean-up."""
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit)))
        with _quiet():
            call()
    finally:
        os._exit(0)


@contextlib.contextmanager
def _quiet():
    """What cells print or draw is not shown."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield
