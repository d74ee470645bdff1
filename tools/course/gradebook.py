"""nbgrader's gradebook of a course: one writer, and no score of an earlier hand-in left in it.

Points stand there so that nbgrader's formgrader shows them and takes those given by hand. Whoever
is graded again is taken out first; a run that is killed then leaves a gap, never an old score.
"""

import contextlib
from dataclasses import dataclass
from pathlib import Path

from .release import course_api
from .sources import CourseError


@dataclass(frozen=True)
class Score:
    """The points of one graded cell; ``points`` is None until somebody has given them."""

    points: float | None
    by_hand: bool  # whether somebody gave or changed them
    comment: str


class Book:
    """The gradebook of the course folder ``course``; ``close`` it, or use it in a ``with``."""

    def __init__(self, course):
        course_api(course)  # says what to do where nbgrader is missing
        from nbgrader.api import Gradebook

        self.url = f"sqlite:///{Path(course).resolve() / 'gradebook.db'}"
        self._book = Gradebook(self.url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._book.close()

    def check(self):
        """Let SQLite look through the file.

        Raises
        ------
        CourseError
            If it finds a fault.
        """
        from sqlalchemy import text

        said = self._book.db.execute(text("PRAGMA integrity_check")).scalar()
        self._book.db.commit()
        if said != "ok":
            raise CourseError(f"the gradebook is damaged, restore a copy of it: {self.url}\n{said}")

    def refresh(self):
        """Read anew what others have written."""
        self._book.db.expire_all()

    def knows(self, key, name):
        """Whether an assignment has been entered."""
        from nbgrader.api import MissingEntry

        with contextlib.suppress(MissingEntry):
            return bool(self._book.find_notebook(name, key))
        return False

    def forget(self, key, student):
        """Remove what a student handed in for an assignment, and its scores."""
        from nbgrader.api import MissingEntry

        with contextlib.suppress(MissingEntry):
            self._book.remove_submission(key, student)

    def students(self, key):
        """Who has handed in an assignment."""
        from nbgrader.api import MissingEntry

        with contextlib.suppress(MissingEntry):
            return sorted(one.student.id for one in self._book.assignment_submissions(key))
        return []

    def enter(self, key, name, student, notebook):
        """Read the scores off an executed notebook; without one, all of them are 0."""
        from nbgrader.preprocessors import SaveAutoGrades

        self._book.update_or_create_student(student)
        with self._book.db.no_autoflush:  # nbgrader adds parts of it before the whole
            self._book.update_or_create_submission(key, student)
        if notebook is None:
            for grade in self._grades(key, name, student):
                grade.auto_score, grade.needs_manual_grade = 0.0, False
            self._book.db.commit()
            return
        about = {"notebook": name, "assignment": key, "student": student, "db_url": self.url}
        SaveAutoGrades().preprocess(notebook, {"nbgrader": about})
        self.refresh()

    def scores(self, key, name, student):
        """The points of a student's graded cells, by the cells' names."""
        comments = self._comments(key, name, student)
        return {
            grade.name: Score(
                None if grade.needs_manual_grade and grade.manual_score is None else grade.score,
                grade.manual_score is not None or bool(grade.extra_credit),
                comments.get(grade.name) or "",
            )
            for grade in self._grades(key, name, student)
        }

    def give(self, key, name, student, cell, points, comment):
        """Enter points that somebody gave, or with None take them back.

        Whether the comment was entered as well: nbgrader has none on tests.
        """
        grade = self._book.find_grade(cell, name, key, student)
        grade.manual_score, grade.extra_credit = points, None
        grade.needs_manual_grade = points is None and grade.auto_score is None
        commented = cell in self._comments(key, name, student)
        if commented:
            self._book.find_comment(cell, name, key, student).manual_comment = comment or None
        self._book.db.commit()
        return commented

    def _grades(self, key, name, student):
        return self._book.find_submission_notebook(name, key, student).grades

    def _comments(self, key, name, student):
        found = self._book.find_submission_notebook(name, key, student).comments
        return {comment.name: comment.manual_comment for comment in found}
