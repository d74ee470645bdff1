"""Attempts that loop, raise or exit are answered in time and leave nothing behind."""

import contextlib
import os
import re
import signal
import sys
import threading
import time

import numpy as np
import pytest

from minitransformer.exercises import _check, _running, check

LIMIT = 0.4


@pytest.fixture
def short(monkeypatch):
    """A time limit that a test can wait for."""
    monkeypatch.setattr(_check, "TIME_LIMIT", LIMIT)


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def timed(attempt):
    start = time.monotonic()
    result = check("softmax", attempt)
    return result, time.monotonic() - start


def attempts_alive():
    return [thread for thread in threading.enumerate() if thread.name == "attempt"]


# --- errors --------------------------------------------------------------------------------------


def test_an_error_is_shown_with_its_line():
    def attempt(scores):
        total = 0
        return scores / {}["total"] / total

    result = check("softmax", attempt)
    line = attempt.__code__.co_firstlineno + 2
    assert result.status == "wrong"
    assert dict(result.details)["The error"] == (
        f"KeyError: 'total'\nin line {line}: return scores / {{}}[\"total\"] / total"
    )
    assert dict(result.details)["Tried on two rows of three scores"].startswith("scores =\n[[ 0.2")


def test_an_error_in_a_function_of_the_reader_is_shown_where_it_is():
    def helper(scores):
        return scores.maximum()

    result = check("softmax", lambda scores: helper(scores))
    assert "return scores.maximum()" in repr(result)


def test_an_error_below_numpy_shows_the_line_of_the_reader():
    def attempt(scores):
        return np.concatenate(scores, axis=4)

    assert "return np.concatenate(scores, axis=4)" in repr(check("softmax", attempt))


def test_wrong_parameters_are_told_the_call():
    result = check("softmax", lambda: 1)
    assert "It is called as softmax(scores)." in result.message
    assert "takes 0 positional arguments but 1 was given" in repr(result)


class Unspeakable(Exception):
    def __str__(self):
        raise ValueError("no text")


def endless_recursion(scores):
    return endless_recursion(scores)


def raiser(error):
    def attempt(scores):
        raise error

    return attempt


@pytest.mark.parametrize(
    ("attempt", "told"),
    [
        (raiser(Unspeakable()), "Unspeakable"),
        (raiser(ValueError("x" * 100_000)), "ValueError: xxx"),
        (raiser(KeyboardInterrupt()), "KeyboardInterrupt"),
        (raiser(GeneratorExit()), "GeneratorExit"),
        (raiser(BaseException("bare")), "BaseException: bare"),
        (endless_recursion, "RecursionError"),
        (lambda scores: sys.exit(3), "leave out exit()"),
        (raiser(SystemExit()), "leave out exit()"),
        (np.linalg.cholesky, "LinAlgError"),
    ],
)
def test_whatever_is_raised_is_an_answer(attempt, told):
    result = check("softmax", attempt)
    assert result.status == "wrong"
    assert told in repr(result)
    assert len(repr(result)) < 2000


# --- loops ---------------------------------------------------------------------------------------


def loop(scores):
    while True:
        pass


def loop_that_catches(scores):
    while True:
        with contextlib.suppress(Exception):
            time.sleep(0.001)


def loop_that_catches_everything(scores):
    for _ in range(3):
        try:
            loop(scores)
        except BaseException as error:
            scores = error


def loop_in_numpy(scores):
    while True:
        scores = scores + 0


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    "attempt", [loop, loop_that_catches, loop_in_numpy, loop_that_catches_everything]
)
def test_a_loop_ends_in_time_and_its_thread_with_it(attempt):
    result, seconds = timed(attempt)
    assert result.status == "wrong"
    assert "not done after 0.4 seconds" in result.message
    assert "still runs" not in result.message
    assert seconds <= LIMIT + 1
    assert attempts_alive() == []
    assert check("softmax", softmax)


@pytest.mark.usefixtures("short")
def test_a_loop_is_shown_with_its_line():
    assert re.fullmatch(
        r"in line \d+: (while True:|pass)", dict(check("softmax", loop).details)["Stopped"]
    )


@pytest.mark.usefixtures("short")
def test_a_loop_over_what_was_returned_is_stopped_too():
    class Endless:
        def __array__(self, dtype=None, copy=None):
            loop(None)

    result, seconds = timed(lambda scores: Endless())
    assert "not done after 0.4 seconds" in result.message
    assert seconds <= LIMIT + 1


@pytest.mark.usefixtures("short")
def test_all_inputs_share_one_limit():
    def attempt(scores):
        time.sleep(0.3)
        return softmax(scores)

    result, seconds = timed(attempt)
    assert "not done after" in result.message
    assert seconds <= LIMIT + 1


@pytest.mark.usefixtures("short")
def test_a_call_outside_python_is_left_behind_and_harms_no_later_check():
    release = threading.Event()

    def attempt(scores):
        release.wait()
        print("late")
        return scores

    result, seconds = timed(attempt)
    assert "still runs" in result.message
    assert seconds <= LIMIT + 1
    assert len(attempts_alive()) == 1
    assert attempts_alive()[0].daemon
    assert check("softmax", softmax)
    release.set()
    attempts_alive()[0].join(2)
    assert attempts_alive() == []
    assert check("softmax", softmax)


@pytest.mark.usefixtures("short")
def test_many_loops_leave_no_thread_behind():
    before = threading.active_count()
    for _ in range(5):
        check("softmax", loop)
    assert threading.active_count() == before


@pytest.fixture
def interrupts_arrive():
    """Ctrl-C raises KeyboardInterrupt: a process that a shell runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts_arrive")
def test_the_readers_own_interrupt_stops_the_attempt_and_gets_through():
    def attempt(scores):
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)
        loop(scores)

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        check("softmax", attempt)
    assert time.monotonic() - start < 2
    assert attempts_alive() == []


def test_works_outside_the_main_thread():
    results = []
    thread = threading.Thread(target=lambda: results.append(check("softmax", softmax)))
    thread.start()
    thread.join()
    assert results[0]


@pytest.fixture
def no_threads(monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_running.threading.Thread, "start", start)


@pytest.mark.usefixtures("no_threads")
def test_without_threads_attempts_run_directly():
    assert check("softmax", softmax)
    assert check("softmax", raiser(NotImplementedError())).status == "open"
    assert "leave out exit()" in check("softmax", lambda scores: sys.exit()).message
    with pytest.raises(KeyboardInterrupt):
        check("softmax", raiser(KeyboardInterrupt()))


class Hangs(BaseException):
    """What the attempt was doing when the limit was long past."""


@pytest.fixture
def alarm():
    """Fail what would otherwise run for ever."""

    def ring(number, frame):
        raise Hangs

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 10)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("no_threads", "short", "alarm")
@pytest.mark.parametrize("attempt", [loop, loop_that_catches, loop_in_numpy])
def test_without_threads_a_loop_ends_in_time_as_well(attempt):
    before = sys.gettrace()
    result, seconds = timed(attempt)
    assert result.status == "wrong"
    assert "not done after 0.4 seconds" in result.message
    assert "in line" in dict(result.details)["Stopped"]
    assert seconds < 2
    assert sys.gettrace() is before
    assert check("softmax", softmax)
