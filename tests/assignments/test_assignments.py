"""The six assignments: well made, and solved by their solutions."""

import check_content
import check_notebooks
import pytest
from course.faults import faults
from course.release import COURSE
from course.sources import find
from course.validate import validate
from notebooks import ROOT

ASSIGNMENTS = find()
KEYS = ["a1", "a2", "a3", "a4", "a5", "a6"]
each = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda one: one.key)

# What holds for chapters as well; the checks of stored outputs do not apply.
WELL_MADE = (
    check_notebooks.valid,
    check_notebooks.setup_is_canonical,
    check_notebooks.small,
    check_content.portable,
    check_content.pictures_have_text,
    check_content.words_as_defined,
)


def test_there_are_six():
    assert [one.key for one in ASSIGNMENTS] == KEYS


@each
def test_it_has_no_faults(assignment):
    assert faults(assignment.notebook) == []


@each
@pytest.mark.parametrize("check", WELL_MADE, ids=lambda check: check.__name__)
def test_it_reads_like_a_chapter(assignment, check):
    assert list(check(assignment.notebook, assignment.path)) == []


@each
def test_it_has_four_to_six_questions_and_says_their_points(assignment):
    assert 4 <= len(assignment.questions) <= 6
    text = "\n".join(c.source for c in assignment.notebook.cells if c.cell_type == "markdown")
    rows = [line.split("|")[2].strip() for line in text.split("\n") if line.count("|") == 3]
    listed = [float(cell) for cell in rows if cell.replace(".", "").isdigit()]
    assert listed[: len(assignment.questions)] == [q.points for q in assignment.questions]


@each
def test_its_solutions_pass_in_a_kernel(assignment):
    validate([assignment], ROOT / COURSE, bar=False)
