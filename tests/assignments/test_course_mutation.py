"""Answers are tried in forks: what no test catches is told, and nothing an answer does spreads."""

import pytest
from course import mutation
from course.__main__ import main
from course.play import GONE, Player
from course.sources import CourseError, load
from tiny_assignment import RIGHT, WRONG, write_tiny


@pytest.fixture
def write(root, monkeypatch):
    """A function that writes the known answers to the tiny assignment."""
    monkeypatch.setattr(mutation, "SECONDS", 1.0)

    def write(wrong=WRONG, right=RIGHT):
        folder = root / mutation.MUTANTS
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a0.py").write_text(f"WRONG = {wrong!r}\nRIGHT = {right!r}\n")

    return write


def told(assignment, root):
    return "\n".join(mutation.complaints(*mutation.judged(assignment, root)))


def changed(root, name, old, new):
    """The tiny assignment with another text in one of its cells."""
    notebook = load(root / "assignments" / "a0_means.ipynb").notebook
    cell = next(cell for cell in notebook.cells if cell.id == name)
    assert old in cell.source
    cell.source = cell.source.replace(old, new)
    return load(write_tiny(root, notebook))


def test_all_wrong_answers_are_caught(write, assignment, root):
    write()
    found, chained = mutation.judged(assignment, root)
    assert mutation.complaints(found, chained) == []
    assert [score.row() for score in found] == [
        ("a0-mean", "3", "4", "4", "4", "100%", "1 of 1"),
        ("a0-spread", "2", "2", "1", "2", "100%", "1 of 1"),
    ]
    failed = found[0].wrong
    assert "expected 2.5" in failed["sum, not mean"]["a0-mean-test-1"]
    assert failed["endless"] == failed["ends Python"] == {"a0-mean-check": GONE}


def test_a_wrong_answer_that_nothing_catches_is_told(write, root):
    write()
    weak = changed(root, "a0-spread-test-2", "judge.raises(ValueError", "judge.true(True, 'x'")
    weak = changed(root, "a0-spread-test-2", ", spread, [])", ")")
    assert told(weak, root) == "a0-spread: nothing catches 'no error'"


def test_a_test_that_only_checks_shapes_is_told(write, root):
    write()
    weak = changed(root, "a0-mean-test-1", "judge.close(", "judge.shape(")
    weak = changed(root, "a0-mean-test-1", "[2.5, 1.0]", "(2,)")
    only = "a0-mean: 'sum, not mean' gets full points: only the check catches it"
    assert told(weak, root) == only


def test_a_right_answer_that_fails_is_told(write, root):
    write()
    strict = changed(root, "a0-mean-check", "bool(", "list is type(mean_of_rows([[1, 3]])) and (")
    assert "a0-mean: 'with NumPy' is right, but fails a0-mean-check: False" in told(strict, root)


def test_a_solution_that_fails_is_told(write, root):
    write()
    broken = changed(root, "a0-spread", "np.max(values) -", "np.max(values) +")
    assert "a0-spread: the solution fails a0-spread-test-1: AssertionError" in told(broken, root)


def test_questions_without_answers_are_told(write, assignment, root):
    write({"a0-mean": WRONG["a0-mean"]}, {"a0-spread": RIGHT["a0-spread"]})
    assert "a0-mean: there is no known-right answer" in told(assignment, root)
    assert "a0-spread: there is no known-wrong answer" in told(assignment, root)


def test_answers_to_no_question_are_refused(write, assignment, root):
    write({**WRONG, "a0-median": {}})
    with pytest.raises(CourseError, match=r"answers to no question of it: \['a0-median'\]"):
        mutation.scores(assignment, root)


def test_a_file_without_answers_is_asked_for(assignment, root):
    with pytest.raises(CourseError, match=r"write tests/assignments/mutants/a0.py"):
        mutation.scores(assignment, root)


def test_functions_serve_as_answers(write, assignment, root):
    def mean_of_rows(table):
        return [max(row) for row in table]

    assert mutation.text_of(mean_of_rows).startswith("def mean_of_rows(table):\n    return [max")


def test_a_question_that_needs_an_earlier_answer_is_told(write, root):
    write()
    chained = changed(root, "a0-spread-test-1", "[3.25,", "[mean_of_rows([[3.25]])[0],")
    assert told(chained, root).startswith(
        "a0-spread fails when the earlier ones were left open (a0-spread-test-1: NotImplemented"
    )


def test_answers_do_not_change_what_the_next_one_meets(assignment):
    question = assignment.questions[1]
    player = Player(assignment.notebook)
    player.play_until(question.place)
    last = player.place(question.tests[-1])
    spoil = "import builtins\nbuiltins.float = None\nmean_of_rows.spoilt = True\nspread = max"
    assert player.try_answer(spoil, last, 10).failed
    assert player.try_answer(question.solution.source, last, 10).failed == {}


def test_the_command_prints_a_table_and_fails_when_something_survives(
    write, root, monkeypatch, capsys
):
    monkeypatch.setattr(mutation.run, "__defaults__", (root,))
    write()
    assert main(["mutation", "a0"]) == 0
    table = capsys.readouterr().out
    assert "a0-mean         3      4         4         4    100%  1 of 1" in table
    write({**WRONG, "a0-spread": {"the solution": RIGHT["a0-spread"]["sorted"]}})
    assert main(["mutation"]) == 1
    assert "a0-spread: nothing catches 'the solution'" in capsys.readouterr().out
    assert main(["mutation", "a9"]) == 1
    assert "no assignment 'a9'" in capsys.readouterr().err
