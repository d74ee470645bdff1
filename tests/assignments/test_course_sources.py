"""Instructor notebooks are read into questions, and what is wrong with them is named."""

import nbformat.v4 as v4
import pytest
from course.faults import faults, find_checked
from course.sources import CourseError, find, load
from tiny_assignment import check, graded, solution, write_tiny


def cell(notebook, name):
    return next(c for c in notebook.cells if c.id == name)


def test_questions_are_found_with_their_points(assignment):
    found = [(q.name, q.points, len(q.checks), len(q.tests)) for q in assignment.questions]
    assert found == [("a0-mean", 3, 1, 2), ("a0-spread", 2, 1, 2), ("a0-words", 3, 0, 0)]
    assert [q.manual for q in assignment.questions] == [False, False, True]
    assert (assignment.key, assignment.name, assignment.points) == ("a0", "a0_means", 8)
    assert assignment.title == "A0 · Means and spreads"


def test_a_whole_assignment_has_no_faults(tiny):
    assert faults(tiny) == []


def test_assignments_are_found_by_key(root):
    assert [one.key for one in find(["a0"], root)] == ["a0"]
    with pytest.raises(CourseError, match=r"no assignment 'a7'; there are: a0"):
        find(["a7"], root)
    (root / "assignments" / "a0_means.ipynb").unlink()
    with pytest.raises(CourseError, match="there are no assignments in"):
        find([], root)


def same_id(nb):
    cell(nb, "a0-spread-check").id = "a0-mean-check"


def same_grade_id(nb):
    cell(nb, "a0-mean-test-2").metadata.nbgrader.grade_id = "a0-mean-test-1"


def no_points(nb):
    del cell(nb, "a0-mean-test-1").metadata.nbgrader["points"]


def points_for_a_check(nb):
    cell(nb, "a0-mean-check").metadata.nbgrader.points = 2


def negative_points(nb):
    cell(nb, "a0-words").metadata.nbgrader.points = -1


def no_hidden_region(nb):
    cell(nb, "a0-mean-test-1").source = "# Grades it.\njudge.close(1.0, 1.0)"


def hidden_region_without_end(nb):
    test = cell(nb, "a0-mean-test-1")
    test.source = test.source.replace("### END HIDDEN TESTS", "")


def code_after_the_region(nb):
    cell(nb, "a0-mean-test-1").source += "\nprint('done')"


def no_first_comment(nb):
    test = cell(nb, "a0-mean-test-1")
    test.source = test.source.partition("\n")[2]


def empty_region(nb):
    source = "# Grades it.\n### BEGIN HIDDEN TESTS\n\n### END HIDDEN TESTS"
    cell(nb, "a0-mean-test-1").source = source


def no_judge(nb):
    test = cell(nb, "a0-mean-test-1")
    test.source = test.source.replace("judge.close(", "print(")


def hidden_region_in_a_check(nb):
    cell(nb, "a0-mean-check").source += "\n### BEGIN HIDDEN TESTS\n### END HIDDEN TESTS"


def assert_in_a_test(nb):
    test = cell(nb, "a0-mean-test-1")
    test.source = test.source.replace("judge.close", "assert judge.close")


def allclose_in_a_test(nb):
    test = cell(nb, "a0-spread-test-1")
    test.source = test.source.replace("judge.close(", "judge.true(np.allclose(")


def long_string_in_a_test(nb):
    test = cell(nb, "a0-spread-test-1")
    test.source = test.source.replace("judge.close", 'text = """one\ntwo"""\njudge.close')


def a_name_of_a_student_in_a_test(nb):
    test = cell(nb, "a0-spread-test-1")
    test.source = test.source.replace("4.75", "mean_of_rows([[4.75]])[0]")


def no_marks(nb):
    task = cell(nb, "a0-mean")
    task.source = "\n".join(line for line in task.source.split("\n") if "###" not in line)


def marks_the_wrong_way_round(nb):
    task = cell(nb, "a0-mean")
    task.source = task.source.replace("END SOL", "X SOL").replace("BEGIN SOL", "END SOL")
    task.source = task.source.replace("X SOL", "BEGIN SOL")


def solution_in_a_check(nb):
    cell(nb, "a0-mean-check").source += "\n### BEGIN SOLUTION\n1\n### END SOLUTION"


def an_output(nb):
    cell(nb, "a0-mean-check").outputs = [v4.new_output("stream", text="[2.0]")]


def an_execution_count(nb):
    cell(nb, "a0-mean").execution_count = 4


def old_metadata(nb):
    cell(nb, "a0-mean").metadata.nbgrader.schema_version = 1


def unlocked_test(nb):
    cell(nb, "a0-mean-test-2").metadata.nbgrader.locked = False


def manual_code(nb):
    cell(nb, "a0-mean").metadata.nbgrader |= {"grade": True, "points": 2}


def no_check(nb):
    nb.cells.remove(cell(nb, "a0-spread-check"))


def one_test(nb):
    nb.cells.remove(cell(nb, "a0-spread-test-2"))


def five_tests(nb):
    at = nb.cells.index(cell(nb, "a0-mean-test-1"))
    nb.cells[at:at] = [graded(f"a0-mean-test-{n}", "More.", "judge.shape(1, ())") for n in "567"]


def graded_after_another_question(nb):
    nb.cells.append(nb.cells.pop(nb.cells.index(cell(nb, "a0-mean-test-2"))))


def no_python(nb):
    cell(nb, "a0-spread").source += "\n)"


def other_setup(nb):
    cell(nb, "setup").source += "\n%pip install --quiet nbgrader"


def no_setup(nb):
    cell(nb, "setup").metadata.tags = []


PLANTED = {
    same_id: "2 cells have the id 'a0-mean-check'",
    same_grade_id: "2 cells have the grade_id 'a0-mean-test-1'",
    no_points: "(a0-mean-test-1): is graded and needs points above 0",
    points_for_a_check: "(a0-mean-check): carries 2 points but is not graded",
    negative_points: "(a0-words): is graded and needs points above 0",
    no_hidden_region: "(a0-mean-test-1): needs one hidden region",
    hidden_region_without_end: "(a0-mean-test-1): needs one hidden region",
    code_after_the_region: "must be the last line",
    no_first_comment: "its first line must be a comment that says what the cell grades",
    empty_region: "its hidden region is empty",
    no_judge: "never asks the judge",
    hidden_region_in_a_check: "(a0-mean-check): has a hidden region, but is no test cell",
    assert_in_a_test: "uses assert: judge.true gives a message",
    allclose_in_a_test: "compares with allclose, which students can patch",
    long_string_in_a_test: "has a string over several lines",
    a_name_of_a_student_in_a_test: "uses mean_of_rows, which a student may have replaced",
    no_marks: "(a0-mean): needs its solution between '### BEGIN SOLUTION'",
    marks_the_wrong_way_round: "(a0-mean): needs its solution between '### BEGIN SOLUTION'",
    solution_in_a_check: "(a0-mean-check): has a solution in it, but is no solution cell",
    an_output: "(a0-mean-check): has outputs or an execution count: clear all outputs",
    an_execution_count: "(a0-mean): has outputs or an execution count: clear all outputs",
    old_metadata: "(a0-mean): needs nbgrader metadata of schema 3",
    unlocked_test: "(a0-mean-test-2): is graded but not locked",
    manual_code: "(a0-mean): is graded by hand, so it must be a Markdown cell",
    no_check: "(a0-spread): no check follows",
    one_test: "(a0-spread): 1 graded tests follow; it needs 2 to 4",
    five_tests: "(a0-mean): 5 graded tests follow; it needs 2 to 4",
    graded_after_another_question: "comes after 'a0-words': its name must begin with that",
    no_python: "(a0-spread): is no Python: unmatched ')'",
    other_setup: "its set-up cell is not the current one: run `python tools/setup_cell.py`",
    no_setup: "the first code cell must be the set-up cell",
}


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_each_fault_is_named(plant, tiny):
    plant(tiny)
    assert any(PLANTED[plant] in fault for fault in faults(tiny)), faults(tiny)


def test_faults_of_a_file_stop_every_command(tiny, tmp_path):
    no_points(tiny)
    write_tiny(tmp_path, tiny)
    with pytest.raises(CourseError, match=r"a0_means.ipynb: cell 6 \(a0-mean-test-1\): is graded"):
        find_checked(root=tmp_path)


def test_given_cells_may_stand_anywhere(tiny):
    given = check("a0-imports", "import math")
    tiny.cells.insert(2, given)
    assert faults(tiny) == []


def test_a_second_solution_begins_a_question(tiny, tmp_path):
    tiny.cells.append(solution("a0-more", "### BEGIN SOLUTION\nx = 1\n### END SOLUTION"))
    path = write_tiny(tmp_path, tiny)
    assert load(path).questions[-1].name == "a0-more"
    assert any("(a0-more): no check follows" in fault for fault in faults(tiny))
