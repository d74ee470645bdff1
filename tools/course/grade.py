"""Grade a folder of submissions: run each in a box, and write the tables and the pages.

What was found out about a submission is kept together with a digest of all it depends on. The next
run grades only what is new or has changed, also after having been killed. Of whoever is graded
again the old scores are removed before.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

from notebooks import ROOT, read, to_text, write_atomically
from tqdm import tqdm

from . import attempt, hidden, manual, marks, sandbox
from .collect import collect
from .faults import find_checked
from .gradebook import Book
from .release import COURSE, graders_copy, release
from .results import Results, Store
from .sources import CourseError, find, grade_id, role
from .validate import validate

AT_ONCE = 2
SLACK = 240  # seconds for a process to start, and to end after its time
ENGINE = ("attempt", "execute", "normalise", "sandbox", "written")  # what points depend on as well

# jsonschema, which nbformat imports, would spend a second on the grammar of web addresses.
_START = """
import sys
sys.modules["rfc3987_syntax"] = None
from course.attempt import main
main(sys.argv[1])
"""


@dataclass(frozen=True)
class Settings:
    """Where the course is, and how to grade."""

    course: Path
    root: Path = ROOT
    limits: sandbox.Limits = field(default_factory=sandbox.Limits)
    unsafe: bool = False  # without a sandbox
    hold: bool = False  # no pages for students
    bar: bool = True


def grade(key, submissions, out, settings):
    """Grade the folder ``submissions`` for the assignment ``key``.

    Writes ``grades.csv``, ``moodle.csv``, ``canvas.csv``, ``report.txt`` and ``feedback/`` into
    ``out``, and ``manual.csv`` and ``answers.html`` where there are written answers.

    Returns
    -------
    tuple
        Whether all could be graded, and the lines of the report.

    Raises
    ------
    CourseError
        If something is missing that a teacher can supply; nothing is graded then.
    """
    if not settings.unsafe and (reason := sandbox.trouble()):
        raise CourseError(f"{reason}\n{sandbox.NOT_ISOLATED}")
    (assignment,) = find_checked([key], settings.root)
    found, aside = collect(submissions, assignment.name)
    out = Path(out)
    with _alone(settings.course), Book(settings.course) as book:
        book.check()
        run = _Run(assignment, settings, book)
        given, unused = run.points_given(out / "manual.csv", found)
        run.prepare()
        run.grade(found)
        run.give(given)
        results = Results(assignment, run.store, book, found)
        results.write_tables(out)
        results.write_pages(out / "feedback", settings.hold)
        results.write_manual(out, given)
        lines = results.report(aside, unused)
        write_atomically(out / "report.txt", "\n".join(lines) + "\n")
        book.check()
    return results.complete(), lines


class _Run:
    """One run over the submissions of one assignment."""

    def __init__(self, assignment, settings, book):
        self._assignment, self._settings, self._book = assignment, settings, book
        self._key, self._name = assignment.key, assignment.name
        self.store = Store(settings.course, self._key, self._name)
        self._released = settings.course / "release" / self._key / f"{self._name}.ipynb"

    def points_given(self, table, found):
        """The points given by hand so far, and the rows of the table that are about nobody.

        They are those of the table and those of the formgrader, less what was taken back.
        """
        graded = [c for c in self._assignment.notebook.cells if role(c) in ("test", "manual")]
        largest = {grade_id(cell): float(cell.metadata.nbgrader.points) for cell in graded}
        present = {one.student: _digest(one)[:12] for one in found}
        rows = [
            replace(row, submission=row.submission or present.get(row.student, ""))
            for row in manual.read(table, largest)
        ]
        known = present.keys() | self._book.students(self._key)
        unused = [row for row in rows if row.points is not None and row.student not in known]
        back = {(one.key, one.points) for one in manual.taken_back(table, rows, largest)}
        entered = [row for row in self._entered(largest) if (row.key, row.points) not in back]
        return manual.joined(rows, entered), unused

    def _entered(self, largest):
        """The points given by hand that are in the gradebook."""
        for student in self._book.students(self._key):
            record = self.store.record(student)
            for cell, score in self._scores(student).items() if record else ():
                if score.by_hand and cell in largest:
                    about = (student, self._question(cell), cell, score.points, largest[cell])
                    yield manual.Row(*about, score.comment, record["submission"][:12])

    def prepare(self):
        """See to it that the gradebook and the student version are those of the source."""
        settings = self._settings
        copied = to_text(
            graders_copy(self._assignment, hidden.course_secret(settings.course), settings.root)
        )
        source = settings.course / "source" / self._key / self._assignment.path.name
        current = source.exists() and source.read_text(encoding="utf-8") == copied
        if current and self._released.exists() and self._book.knows(self._key, self._name):
            return
        validate([self._assignment], settings.course, settings.root, settings.bar)
        for student in self._book.students(self._key):  # all are graded anew, and nbgrader
            self._book.forget(self._key, student)  # changes no assignment with submissions
        release(self._assignment, settings.root, settings.course)
        self._book.refresh()

    def grade(self, found):
        """Grade whoever was not graded with the same digest before."""
        pending = []
        for submission in found:
            handed = _digest(submission)
            state = self._state(handed)
            record = self.store.record(submission.student)
            if record is None or record["state"] != state:
                self.store.remove(submission.student)
                self._book.forget(self._key, submission.student)
                pending.append((submission, handed, state))
        shown = bool(pending) and self._settings.bar
        with (
            tqdm(total=len(pending), unit="submission", disable=not shown) as bar,
            ThreadPoolExecutor(AT_ONCE) as pool,
        ):
            futures = {pool.submit(self._attempt, one[0]): one for one in pending}
            try:
                for future in as_completed(futures):
                    self._enter(*futures[future], *future.result())
                    bar.update()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def give(self, rows):
        """Make the points given by hand in the gradebook those of the rows."""
        given = {row.key: row for row in rows if row.points is not None}
        for student in self._book.students(self._key):
            record = self.store.record(student)
            if record is None or record["status"] not in (marks.GRADED, marks.STOPPED):
                continue
            for cell, score in self._scores(student).items():
                row = given.get((student, cell, record["submission"][:12]))
                wanted = (row.points, row.comment) if row else (None, "")
                has = (score.points, score.comment) if score.by_hand else (None, "")
                about = (student, cell)
                if has != wanted and not self._book.give(self._key, self._name, *about, *wanted):
                    self.store.comment(*about, wanted[1])

    def _state(self, handed):
        """A digest of all that a submission's points depend on."""
        digest = hashlib.sha256(handed.encode())
        digest.update(to_text(self._assignment.notebook).encode())
        digest.update(self._released.read_bytes())
        digest.update(hidden.preamble().encode())
        digest.update(f"{self._settings.limits} {self._settings.unsafe}".encode())
        for module in ENGINE:
            digest.update(Path(__file__).with_name(f"{module}.py").read_bytes())
        return digest.hexdigest()

    def _attempt(self, submission):
        """Grade one submission in a process of its own: (result, executed notebook or None)."""
        folder, settings = self.store.work(submission.student), self._settings
        files = [file.resolve() for file in submission.files]
        source = (self._released, self._assignment.path, settings.limits, settings.unsafe)
        (folder / "job.json").write_text(attempt.job_text(files, *source))
        try:
            return _finished(folder, settings.limits.submission + SLACK)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _enter(self, submission, handed, state, result, executed):
        """Enter a result: into the gradebook, and last into what is kept."""
        if result["status"] == marks.NOT_GRADED:
            state = ""  # the next run tries again
        else:
            self._book.enter(self._key, self._name, submission.student, executed)
        graded = datetime.now(timezone.utc).isoformat(timespec="seconds")
        told = {"student": submission.student, "submission": handed, "state": state}
        self.store.keep(submission.student, result | told | {"graded": graded}, executed)

    def _scores(self, student):
        return self.store.scores(self._book, student)

    def _question(self, cell):
        return next(
            question.name
            for question in self._assignment.questions
            if cell in (question.name, *map(grade_id, question.tests))
        )


def _finished(folder, seconds):
    """Run the job in ``folder`` and read what it left."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tools"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _START, str(folder / "job.json")]
    with open(folder / "errors.txt", "wb") as errors:
        # Its standard input stays open as long as this process lives: it ends with this one.
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=errors, stderr=errors
        )
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return _not_graded(f"the grader gave up after {seconds:g} s"), None
        finally:
            process.kill()
            process.wait()
            process.stdin.close()
    if process.returncode or not (folder / "result.json").exists():
        told = (folder / "errors.txt").read_text(errors="replace").strip().split("\n")[-1]
        return _not_graded(f"the grader failed: {told or process.returncode}"), None
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    executed = folder / "executed.ipynb"
    return result, read(executed) if executed.exists() else None


def _not_graded(reason):
    return attempt.nothing(marks.NOT_GRADED, reason)


def _digest(submission):
    """A digest of the files that a student handed in."""
    digest = hashlib.sha256()
    for file in submission.files:
        digest.update(file.name.encode("utf-8", "surrogateescape") + b"\0")
        with open(file, "rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


@contextlib.contextmanager
def _alone(course):
    """Hold the course folder: two runs at once would write over each other."""
    course.mkdir(parents=True, exist_ok=True)
    with open(course / ".grading", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CourseError(f"{course} is being graded already") from None
        yield


def add_arguments(parser):
    """The arguments of ``grade``."""
    parser.add_argument("assignment", metavar="a1")
    parser.add_argument("submissions", help="the folder with the submissions")
    parser.add_argument("--out", help="where to write (_build/course/grades/a1)")
    parser.add_argument("--hold", action="store_true", help="write no pages for students yet")
    parser.add_argument("--unsafe", action="store_true", help="grade without a sandbox")
    told = "seconds for a cell (what the assignment sets, or 30)"
    parser.add_argument("--timeout", type=float, help=told)


def run(options, root=ROOT):
    """Grade a folder of submissions."""
    if not (options.assignment and options.submissions):
        raise CourseError("say what to grade: make grade ASSIGNMENT=a1 SUBMISSIONS=folder")
    [assignment] = find([options.assignment], root)
    limits = replace(sandbox.Limits(), cell=options.timeout or assignment.cell_timeout)
    course = root / COURSE
    settings = Settings(course, root, limits, options.unsafe, options.hold)
    out = Path(options.out or course / "grades" / options.assignment)
    began = time.monotonic()
    complete, lines = grade(options.assignment, options.submissions, out, settings)
    print("\n".join(lines))
    print(f"{out}: grades.csv and more, in {time.monotonic() - began:.0f} s")
    return 0 if complete else 1
