"""What is kept about graded hand-ins, and the tables and pages made of it.

Of each hand-in the course folder keeps a record, ``results/<assignment>/<student>.json``, which is
written last; the file as it came in, under ``submitted/``; and the executed notebook, under
``autograded/``, where nbgrader's formgrader looks for it.
"""

import contextlib
import json
import os
import re
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from notebooks import read, to_text, write_atomically

from . import export, feedback, manual, marks, written


@dataclass(frozen=True)
class Store:
    """What a course folder keeps about one assignment."""

    course: Path
    key: str
    name: str  # of its notebook

    def record(self, student):
        """What is known of a student's hand-in; None if nothing is."""
        with contextlib.suppress(OSError, ValueError):
            return json.loads(self._file(student).read_text(encoding="utf-8"))
        return None

    def executed(self, student):
        """The executed notebook; None if there is none."""
        path = self.place("autograded", student)
        return read(path) if path.exists() else None

    def remove(self, student):
        """Forget a hand-in: first the record, so that a killed run starts with it again."""
        self._file(student).unlink(missing_ok=True)
        for kind in ("submitted", "autograded"):
            shutil.rmtree(self.place(kind, student).parent, ignore_errors=True)

    def keep(self, student, record, executed):
        """Keep a hand-in, last the record of it."""
        if record["file"]:
            submitted = self.place("submitted", student)
            submitted.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(record["file"], submitted)
        if executed is not None:
            path = self.place("autograded", student)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, to_text(_without_tags(executed)))
        self._file(student).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._file(student), json.dumps(record, indent=1) + "\n")

    def scores(self, book, student):
        """The scores of a hand-in, with the comments that nbgrader has no place for."""
        said = (self.record(student) or {}).get("comments", {})
        scores = book.scores(self.key, self.name, student)
        return {
            cell: replace(score, comment=said.get(cell, score.comment))
            for cell, score in scores.items()
        }

    def comment(self, student, cell, text):
        """Keep what somebody said of a test cell."""
        record = self.record(student)
        record["comments"] = record.get("comments", {}) | {cell: text}
        write_atomically(self._file(student), json.dumps(record, indent=1) + "\n")

    def work(self, student):
        """An empty folder to grade a hand-in in."""
        folder = self.course / "work" / self.key / student
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _file(self, student):
        return self.course / "results" / self.key / f"{student}.json"

    def place(self, kind, student):
        """Where a student's notebook of a kind is kept, such as ``"autograded"``."""
        return self.course / kind / student / self.key / f"{self.name}.ipynb"


class Results:
    """The graded hand-ins of a run, and everything that is written about them.

    Parameters
    ----------
    assignment : Assignment
    store : Store
    book : gradebook.Book
    found : list of collect.Submission
    """

    def __init__(self, assignment, store, book, found):
        self.assignment, self._store = assignment, store
        self._records, self._rows = {}, {}
        for one in found:
            names = {"shown": one.shown, "moodle": one.moodle, "canvas": one.canvas}
            record = store.record(one.student) | names
            graded = record["status"] != marks.NOT_GRADED
            scores = store.scores(book, one.student) if graded else {}
            self._records[one.student] = record
            self._rows[one.student] = marks.rows(assignment, record, scores)

    def complete(self):
        """Whether all could be graded, as far as programs can."""
        return all(record["status"] != marks.NOT_GRADED for record in self._records.values())

    def write_tables(self, out):
        """Write grades.csv, moodle.csv and canvas.csv."""
        out.mkdir(parents=True, exist_ok=True)
        totals = self._totals()
        export.write_grades(
            out / "grades.csv", [row for rows in self._rows.values() for row in rows]
        )
        export.write_moodle(out / "moodle.csv", totals)
        export.write_canvas(
            out / "canvas.csv", totals, self.assignment.title, self.assignment.points
        )

    def write_pages(self, folder, hold):
        """Write the students' pages, or with ``hold`` only remove those of earlier runs."""
        pages = {}
        for student, record in {} if hold else self._records.items():
            executed = self._store.executed(student)
            rows = self._rows[student]
            pages[student] = feedback.student_page(self.assignment, record, rows, executed)
        feedback.write_pages(folder, pages)

    def write_manual(self, out, given):
        """Write what those need who grade by hand: the answers, and a table for the points."""
        asked = [
            manual.Row(
                student, row.question, row.question, None, row.max, "", record["submission"][:12]
            )
            for student, record in self._records.items()
            for row in self._rows[student]
            if row.status == marks.BY_HAND
        ]
        rows = manual.joined(asked, given)
        if rows or (out / "manual.csv").exists():
            manual.write(out / "manual.csv", rows)
        if any(question.manual for question in self.assignment.questions):
            answers = [self._answers(student, out) for student in self._records]
            page = feedback.answers_page(self.assignment, answers)
            write_atomically(out / "answers.html", page)

    def _answers(self, student, out):
        executed = self._store.executed(student)
        return feedback.Answers(
            self._records[student]["shown"],
            written.texts(executed),
            written.own_code(executed, self.assignment),
            os.path.relpath(self._store.place("autograded", student), out) if executed else "",
        )

    def report(self, aside, unused):
        """What was taken for whom and what came of it; what was left aside, and why.

        Also which rows of manual.csv were ``unused``, as they are about nobody.
        """
        lines = []
        for total, (student, record) in zip(self._totals(), self._records.items(), strict=True):
            points = "–" if total.points is None else f"{total.points:g}"
            took = Path(record["file"]).name if record["file"] else "no file"
            states = Counter(row.status for row in self._rows[student])
            status = ", ".join(sorted(states)) if set(states) != {marks.GRADED} else ""
            told = filter(None, (status, record["reason"], *record["notes"]))
            about = f"{student}: {points} of {self.assignment.points:g}, {took}"
            lines.append("; ".join((about, *told)))
        lines += [f"left aside: {path.name}: {reason}" for path, reason in aside]
        lines += [
            f"not used: {row.points:g} points for {row.cell} of {row.student!r} in manual.csv: "
            "nobody of this name has handed in"
            for row in unused
        ]
        return [line.encode("utf-8", "replace").decode() for line in lines]

    def _totals(self):
        return [
            marks.total(self.assignment, record, self._rows[student])
            for student, record in self._records.items()
        ]


def _without_tags(executed):
    """A notebook whose texts have no HTML: the formgrader would run a student's scripts."""
    for cell in executed.cells:
        if cell.cell_type == "markdown":
            cell.source = re.sub(r"<(?=[a-zA-Z/!?])", "&lt;", cell.source)
    return executed
