"""Grade one submission, in a process of its own, which ``grade.py`` starts.

A JSON file says what to grade and how; the result is another, written at the end. The process ends
when the one that started it does, and the box of the student's code with it.
"""

import dataclasses
import json
import os
import re
import secrets
import threading
from collections import Counter
from pathlib import Path

import nbformat.v4 as v4
from notebooks import read, to_text, write_atomically

from . import hidden, written
from .execute import NoKernel, Session
from .feedback import hidden_lines, without
from .marks import GRADED, NOT_GRADED, STOPPED, STOPS, UNREADABLE, about
from .normalise import FOREIGN, NAMES, Unreadable, fit, normalise, read_submission
from .sandbox import Limits
from .sources import grade_id, questions_in, role

OPEN = "not attempted"
SLOW = "this machine may be too slow, so grade with a longer TIMEOUT"
INCOMPLETE = "the test did not run to its end"
_KEY = re.compile(r"(a\d+)-")  # how the names of an assignment's cells begin


def grade_files(files, released, source, limits, unsafe=False):
    """Take the notebook that fits best, run it and judge its tests.

    Parameters
    ----------
    files : list of paths
        What a student handed in; of files that fit alike, the last is taken.
    released, source : notebooks
        The student version and the instructor's.
    limits : Limits
    unsafe : bool
        Without a sandbox.

    Returns
    -------
    tuple
        The executed notebook (None if there is none) and a dictionary: ``status`` (``graded``,
        ``stopped`` or ``unreadable``), ``reason``, ``file``, ``notes``, and by cell in ``answers``
        and ``tests`` its ``status`` and ``message``, for tests also ``passed``.
    """
    path, submitted, left = _best(list(map(Path, files)), released)
    if submitted is None:
        return None, nothing(UNREADABLE, "; ".join(f"{name}: {why}" for name, why in left))
    normal = normalise(submitted, released, source)
    notes = normal.notes + [f"{name} was left aside: {why}" for name, why in left]
    written.gather(normal.notebook, released)
    with Session(limits, unsafe) as session:
        found, stops = _run(normal.notebook, session, released)
    found |= {"status": STOPPED if stops else GRADED, "reason": "; ".join(stops)}
    return normal.notebook, found | {"file": str(path), "notes": notes}


def nothing(status, reason):
    """What is told of a submission that did not run."""
    return {"status": status, "reason": reason, "file": "", "notes": []}


def _best(files, released):
    """The notebook to grade, as (path, notebook, [(name, why) of each file that is left])."""
    top = os.path.commonpath([path.parent for path in files])
    fits, best, submitted, left = 0, None, None, []
    for path in files:
        name = os.path.relpath(path, top)
        try:
            notebook = read_submission(path)
        except Unreadable as error:
            left.append((name, str(error)))
            continue
        fitting = fit(notebook, released)
        reason = _foreign(notebook, released, fitting)
        if reason or fitting < fits:
            left.append((name, reason or "another file has more of the assignment"))
            continue
        if best is not None:
            more = "a later one was" if fitting == fits else "one with more of the assignment was"
            left.append((os.path.relpath(best, top), f"{more} taken"))
        fits, best, submitted = fitting, path, notebook
    return best, submitted, left


def _foreign(notebook, released, fitting):
    """Why a notebook is none of this assignment, by the names of its cells; "" if it is one.

    A few cells of two assignments are alike, and students copy cells: names of another assignment
    decide only where they are more than twice as many as the cells that fit.
    """
    names = [{m[1] for m in map(_KEY.match, c.metadata[NAMES]) if m} for c in notebook.cells]
    mine = next(grade_id(cell) for cell in released.cells if role(cell)).partition("-")[0]
    others = Counter(key for keys in names for key in keys if key != mine)
    for key, count in others.most_common(1):
        if count > 2 * fitting:
            return f"this is assignment {key}, not {mine}"
    return "" if fitting else FOREIGN


def _run(notebook, session, released):
    """Run the cells in order, outputs and all; what came of them, and what was stopped.

    Visible checks run as well: later cells may use what is made there.
    """
    found, stops = {"answers": {}, "tests": {}}, []
    given = {c.source.strip() for c in released.cells if c.cell_type == "code" and not role(c)}
    names = {}
    for question in questions_in(released):
        names[question.name] = question.title
        names |= {grade_id(one): f"the check of {question.title}" for one in question.checks}
    lines = hidden_lines(notebook)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if role(cell) == "test":
            said = _judge(cell, session, lines)
            found["tests"][grade_id(cell)] = said
        else:
            result = session.run(cell.source, again=True)
            cell.outputs = result.outputs
            if result.status == "timeout" and cell.source.strip() in given:
                raise NoKernel(f"a cell that was given {result.reason}: {SLOW}")
            said = {"status": result.status, "message": without(lines, result.reason)}
            if role(cell) == "solution":
                found["answers"][grade_id(cell)] = said
        if said["status"] in STOPS:
            what = about(cell) if role(cell) == "test" else names.get(grade_id(cell), "a cell")
            stops.append(f"{what}: {said['message']}")
    return found, list(dict.fromkeys(stops))


def _judge(cell, session, lines):
    """Run a test cell; keep of its outputs the verdict alone, as they may tell what is hidden."""
    secret = secrets.token_hex(16)  # for this cell alone: none can be known beforehand
    result = session.run(hidden.guarded(cell.source, hidden.token(secret, grade_id(cell))))
    cell.outputs = result.outputs
    passed = result.status == "ok" and hidden.passed(cell, secret)
    reason = OPEN if result.reason == "NotImplementedError" else result.reason
    message = "" if passed else without(lines, reason or INCOMPLETE)
    cell.outputs = [] if passed else [_verdict(message)]
    return {"passed": passed, "status": result.status, "message": message}


def _verdict(message):
    kind, _, text = message.partition(": ")
    return v4.new_output("error", ename=kind, evalue=text, traceback=[message])


def main(job):
    """Grade what the JSON file ``job`` says, and write the result beside it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    job = Path(job)
    said = json.loads(job.read_text(encoding="utf-8"))
    limits = Limits(**said["limits"])
    released, source = read(said["released"]), read(said["source"])
    try:
        notebook, found = grade_files(said["files"], released, source, limits, said["unsafe"])
    except NoKernel as error:
        notebook, found = None, nothing(NOT_GRADED, str(error))
    if notebook is not None:
        write_atomically(job.with_name("executed.ipynb"), to_text(notebook))
    write_atomically(job.with_name("result.json"), json.dumps(found))


def job_text(files, released, source, limits, unsafe):
    """The text of a job for :func:`main`."""
    return json.dumps(
        {
            "files": [str(path) for path in files],
            "released": str(released),
            "source": str(source),
            "limits": dataclasses.asdict(limits),
            "unsafe": unsafe,
        }
    )


def _end_with_parent():
    """The parent holds the other end of standard input: it closes when that one is gone."""
    os.read(0, 1)
    os._exit(1)
