"""The instructor notebooks in ``assignments/``: found, read into questions, and checked.

A question is a solution cell and what follows it up to the next one: visible checks and graded
test cells. A written question is one Markdown cell, graded by hand.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from notebooks import ROOT, assignment_files, read

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"


class CourseError(ValueError):
    """What a teacher can mend; the message says where and how."""


def role(cell):
    """What a cell is: "solution", "manual", "test", "check", "given", or "" if nbgrader ignores it.

    A manual cell is written by students and graded by hand. Checks and given cells are locked and
    carry no points; a check is one by its name, as in ``a1-softmax-check``.
    """
    marks = cell.metadata.get("nbgrader", {})
    grade, solution = bool(marks.get("grade")), bool(marks.get("solution"))
    if grade and solution:
        return "manual"
    if grade or solution:
        return "test" if grade else "solution"
    if not marks.get("locked"):
        return ""
    return "check" if "-check" in marks.get("grade_id", "") else "given"


def grade_id(cell):
    """The name by which nbgrader knows a cell; None for a cell that it does not."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")


@dataclass(frozen=True)
class Question:
    """One question: its solution (or manual) cell and the cells that judge it."""

    name: str
    title: str  # the heading it stands under, or its name where there is none
    place: int  # the index of the solution cell in the notebook
    solution: dict
    checks: tuple
    tests: tuple

    @property
    def manual(self):
        """Whether it is graded by hand."""
        return role(self.solution) == "manual"

    @property
    def points(self):
        """Points of the whole question."""
        graded = (self.solution,) if self.manual else self.tests
        return sum(cell.metadata.nbgrader.points for cell in graded)


@dataclass(frozen=True)
class Assignment:
    """One instructor notebook: ``a1_attention.ipynb`` has the key ``a1``."""

    path: Path
    notebook: dict

    @property
    def key(self):
        """The name of the assignment in nbgrader and on the command line."""
        return self.path.stem.partition("_")[0]

    @property
    def name(self):
        """The name of its notebook, which is also that of what students hand in."""
        return self.path.stem

    @property
    def title(self):
        """The first heading."""
        first = self.notebook.cells[0].source.lstrip().partition("\n")[0]
        return first.lstrip("# ").strip()

    @property
    def cell_timeout(self):
        """Seconds for a cell in grading: ``course.cell_timeout`` of the metadata, or 30."""
        return float(self.notebook.metadata.get("course", {}).get("cell_timeout", 30.0))

    @cached_property
    def questions(self):
        """Its questions, in order."""
        return questions_in(self.notebook)

    @property
    def points(self):
        """Points of the whole assignment."""
        return sum(question.points for question in self.questions)


def load(path):
    """The assignment at ``path``, unchecked."""
    return Assignment(Path(path), read(path))


def find(keys=(), root=ROOT):
    """The assignments with the given keys (all, without one), unchecked.

    Raises
    ------
    CourseError
        If a key fits no assignment, or there is none.
    """
    try:
        files = assignment_files(keys, root)
    except ValueError as error:
        raise CourseError(str(error)) from None
    if not files:
        raise CourseError(f"there are no assignments in {root / 'assignments'}")
    return [load(file) for file in files]


def questions_in(notebook):
    """The questions of a notebook, in order."""
    questions, heading = [], ""
    for place, cell in enumerate(notebook.cells):
        if role(cell) in ("solution", "manual"):
            questions.append((grade_id(cell), heading, place, cell, [], []))
        elif role(cell) in ("check", "test") and questions:
            questions[-1][4 if role(cell) == "check" else 5].append(cell)
        elif cell.cell_type == "markdown" and cell.source.startswith("## "):
            heading = cell.source.partition("\n")[0].removeprefix("## ").strip()
    return [
        Question(name, heading or name, place, cell, tuple(checks), tuple(tests))
        for name, heading, place, cell, checks, tests in questions
    ]
