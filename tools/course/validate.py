"""Run the solved notebooks: nbgrader's ``generate_assignment`` would release a wrong solution.

Each notebook runs in a kernel of its own, two at a time. A stamp of everything that can change the
outcome is kept in the course folder, so what was found in order is not run again.
"""

import copy
import hashlib
import os
import platform
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from execute_chapters import execute
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from notebooks import ROOT, code_cells, to_text, write_atomically
from tqdm import tqdm

from . import hidden
from .sources import CourseError, grade_id, role

AT_ONCE = 2
STAMPS = "validated"
PACKAGES = ("numpy", "torch", "ipykernel")


def validate(assignments, course, root=ROOT, bar=True):
    """Run every solved notebook that was not run in its present state; the seconds of each.

    Raises
    ------
    CourseError
        If a cell of a solved notebook raises, a check says no, or a hidden test does not pass.
    """
    course = Path(course)
    pending = [(one, stamp(one, root)) for one in assignments]
    pending = [(one, mark) for one, mark in pending if _stamped(course, one) != mark]
    if not pending:
        return {}
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # two kernels share the processor
    total = sum(len(code_cells(one.notebook)) for one, _ in pending)
    with (
        tqdm(total=total, desc="running the solutions", unit="cell", disable=not bar) as progress,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        runs = list(pool.map(lambda pair: _validate(pair[0], progress), pending))
    for (one, mark), (_, problems) in zip(pending, runs, strict=True):
        if not problems:
            (course / STAMPS).mkdir(parents=True, exist_ok=True)
            write_atomically(course / STAMPS / f"{one.key}.txt", mark)
    names = [one.path.name for one, _ in pending]
    wrong = [f"{n}, {p}" for n, (_, ps) in zip(names, runs, strict=True) for p in ps]
    if wrong:
        raise CourseError("The solutions do not pass their own tests:\n" + "\n".join(wrong))
    return {one.key: seconds for (one, _), (seconds, _) in zip(pending, runs, strict=True)}


def stamp(assignment, root=ROOT):
    """A digest of what the outcome of a solved notebook depends on."""
    digest = hashlib.sha256(to_text(assignment.notebook).encode())
    digest.update(hidden.preamble().encode())
    for file in sorted((root / "src").rglob("*.py")):
        digest.update(file.read_bytes())
    digest.update(platform.python_version().encode())
    for package in PACKAGES:
        digest.update(version(package).encode())
    return digest.hexdigest() + "\n"


def solved(assignment, secret):
    """The notebook with its solutions and its guarded hidden tests."""
    notebook = copy.deepcopy(assignment.notebook)
    for cell in notebook.cells:
        if role(cell) == "test":
            cell.source = hidden.guarded(cell.source, hidden.token(secret, grade_id(cell)))
    return notebook


def problems_of(notebook, secret):
    """What is wrong with a solved notebook that was run with ``allow_errors``, as lines of text."""
    for _, cell in code_cells(notebook):
        name = grade_id(cell) or cell.id
        errors = [output for output in cell.outputs if output.output_type == "error"]
        if errors:
            yield f"{name}: {errors[0].ename}: {errors[0].evalue[:200]}"
        elif role(cell) == "test" and not hidden.passed(cell, secret):
            yield f"{name}: did not run to its end"
        elif role(cell) == "check" and not check_agrees(cell.outputs):
            yield f"{name}: the check does not say that the solution is right"


def check_agrees(outputs):
    """Whether a check's outputs show a tick (or a plain True) at their end."""
    shown = [o.data.get("text/plain", "") for o in outputs if o.output_type == "execute_result"]
    return bool(shown) and (shown[-1].startswith("✓") or shown[-1] == "True")


def _validate(assignment, progress):
    """Run one solved notebook; its seconds and problems."""
    secret = hashlib.sha256(os.urandom(16)).hexdigest()
    notebook = solved(assignment, secret)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        try:
            execute(
                notebook, folder, allow_errors=True, on_cell_executed=lambda **_: progress.update()
            )
        except (CellTimeoutError, DeadKernelError) as error:
            return time.perf_counter() - began, [str(error).strip().splitlines()[0]]
    return time.perf_counter() - began, list(problems_of(notebook, secret))


def _stamped(course, assignment):
    path = course / STAMPS / f"{assignment.key}.txt"
    return path.read_text(encoding="utf-8") if path.exists() else None
