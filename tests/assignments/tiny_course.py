"""A repository with the tiny assignment, its submissions, and what the grader writes."""

import csv
import sqlite3
from contextlib import closing
from dataclasses import replace

from course import grade
from notebooks import read, to_text
from submissions import answered
from tiny_assignment import RIGHT, WRONG

KEY, NAME = "a0", "a0_means"
HAND_INS = {
    "ada": RIGHT,
    "bo": WRONG,
    "cleo": {"a0-mean": RIGHT["a0-mean"], "a0-spread": WRONG["a0-spread"]},
}
POINTS = {"ada": ("3", "2", ""), "bo": ("1", "1", ""), "cleo": ("3", "1", "")}


def texts(answers):
    """The first known answer to each question, and some words."""
    return {name: next(iter(known.values())) for name, known in answers.items()} | {
        "a0-words": "The mean forgets <b>everything</b>."
    }


class Course:
    """A repository, its submissions, and what the grader writes."""

    def __init__(self, root):
        self.root, self.course = root, root / "_build" / "course"
        self.hand_ins, self.out = root / "submissions", root / "out"
        self.settings = grade.Settings(self.course, root, bar=False)

    def hand_in(self, student, answers):
        """Put a student's notebook into the folder of submissions."""
        released = read(self.course / "release" / KEY / f"{NAME}.ipynb")
        self.hand_ins.mkdir(exist_ok=True)
        path = self.hand_ins / f"{student}_{NAME}.ipynb"
        path.write_text(to_text(answered(released, answers)), encoding="utf-8")

    def grade(self, **changes):
        """Grade all submissions."""
        settings = replace(self.settings, **changes)
        return grade.grade(KEY, self.hand_ins, self.out, settings)

    def table(self, name="grades.csv"):
        """The rows of a table."""
        with open(self.out / name, newline="", encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def points(self):
        """The points by student, in the order of the questions."""
        found = {}
        for row in self.table():
            found.setdefault(row["student"], []).append(row["points"])
        return {student: tuple(points) for student, points in found.items()}

    def set_points(self, student, points, comment=""):
        """Fill in the table of points given by hand."""
        rows = self.table("manual.csv")
        for row in rows:
            if row["student"] == student:
                row |= {"points": points, "comment": comment}
        with open(self.out / "manual.csv", "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, rows[0])
            table.writeheader()
            table.writerows(rows)

    def page(self, student):
        """A student's page; None if there is none."""
        path = self.out / "feedback" / f"{student}.html"
        return path.read_text(encoding="utf-8") if path.exists() else None

    def integrity(self):
        """What SQLite says of the gradebook."""
        with closing(sqlite3.connect(self.course / "gradebook.db")) as base:
            return base.execute("PRAGMA integrity_check").fetchone()[0]
