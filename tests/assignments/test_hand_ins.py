"""What is taken of a student's hand-in, what is left aside, and what a person gets to read."""

import json

import nbformat.v4 as v4
import pytest
from course import attempt, written
from course.sources import grade_id
from notebooks import read, to_text
from submissions import answered
from tiny_assignment import RIGHT, WRONG
from tiny_course import KEY, NAME, texts

pytestmark = [pytest.mark.course, pytest.mark.sandbox]


@pytest.fixture
def released(base):
    """The student version."""
    return read(base / "_build" / "course" / "release" / KEY / f"{NAME}.ipynb")


def of_another(notebook):
    """The same notebook as one of assignment a7, with other tasks."""
    for cell in notebook.cells:
        cell["id"] = cell.id.replace("a0-", "a7-")
        cell.source = cell.source.replace("mean_of_rows", "sums").replace("spread", "width")[::-1]
        if grade_id(cell):
            cell.metadata.nbgrader["grade_id"] = grade_id(cell).replace("a0-", "a7-")
    return notebook


def place(notebook, name):
    """Where the cell of a name stands."""
    return next(n for n, cell in enumerate(notebook.cells) if cell.id == name)


def below(notebook, name, *cells):
    """Put new cells below another, and return the notebook."""
    at = place(notebook, name) + 1
    notebook.cells[at:at] = cells
    return notebook


def best(folder, released, files):
    """The name of the notebook that is taken of some files, and why others are not."""
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content if isinstance(content, str) else to_text(content))
    path, _, left = attempt._best([folder / name for name in files], released)
    return path and path.relative_to(folder).as_posix(), dict(left)


def test_a_notebook_of_another_assignment_is_told_by_its_name(tmp_path, released):
    other = of_another(answered(released, {}))
    told = "this is assignment a7, not a0"
    assert best(tmp_path, released, {"a.ipynb": other}) == (None, {"a.ipynb": told})
    for cell in other.cells:  # as in a browser: some cells are alike in all assignments
        if cell.id == "words-task" or cell.id == "mean-task":
            cell.source = released.cells[place(released, cell.id)].source
    assert best(tmp_path, released, {"a.ipynb": other}) == (None, {"a.ipynb": told})


def test_cells_copied_from_another_assignment_do_no_harm(tmp_path, released):
    mine = answered(released, texts(RIGHT))
    others = of_another(answered(released, {})).cells
    mine.cells += [cell for cell in others if cell.id.startswith("a7-")][-4:]
    assert best(tmp_path, released, {"a.ipynb": mine}) == ("a.ipynb", {})
    for cell in mine.cells[:-4]:  # and where a program has lost the names
        cell.metadata.pop("nbgrader", None)
        cell["id"] = v4.new_code_cell().id
    assert best(tmp_path, released, {"a.ipynb": mine}) == ("a.ipynb", {})


def test_of_files_that_were_not_taken_it_is_told_why(tmp_path, released):
    mine = answered(released, texts(RIGHT))
    part = v4.new_notebook(cells=mine.cells[: place(mine, "a0-spread")])
    files = {
        "a.ipynb": part,
        "b.ipynb": mine,
        "c/b.ipynb": mine,
        "d.ipynb": part,
        "e.ipynb": of_another(answered(released, {})),
        "f.ipynb": "no notebook",
    }
    taken, left = best(tmp_path, released, files)
    assert taken == "c/b.ipynb"
    assert left.pop("f.ipynb")
    assert left == {
        "a.ipynb": "one with more of the assignment was taken",
        "b.ipynb": "a later one was taken",
        "d.ipynb": "another file has more of the assignment",
        "e.ipynb": "this is assignment a7, not a0",
    }


def gathered(notebook, released):
    """The written answer of a notebook, and its cells."""
    written.gather(notebook, released)
    return written.texts(notebook)["a0-words"], notebook.cells


def test_a_written_answer_below_its_cell_belongs_to_it(released):
    cells = v4.new_markdown_cell("It forgets."), v4.new_code_cell("print(1)")
    untouched = below(answered(released, {}), "a0-words", *cells)
    assert gathered(untouched, released)[0] == "It forgets.\n\n```\nprint(1)\n```"
    assert [cell.source for cell in untouched.cells[-1:]] == ["print(1)"]
    begun = below(answered(released, {"a0-words": "First."}), "a0-words", cells[0])
    assert gathered(begun, released)[0] == "First.\n\nIt forgets."


def test_what_stands_below_another_given_cell_is_no_written_answer(released):
    for name in ("words-task", "a0-spread-test-2"):
        notebook = below(answered(released, {}), name, v4.new_markdown_cell("A note."))
        before = len(notebook.cells)
        text, cells = gathered(notebook, released)
        assert text == released.cells[place(released, "a0-words")].source.strip()
        assert len(cells) == before


def test_a_report_in_new_cells_is_graded_by_hand_and_read_with_its_code(course, released):
    cells = v4.new_code_cell("print(6 * 7, '<b>')"), v4.new_markdown_cell("A report of my own.")
    notebook = below(answered(released, texts(RIGHT) | {"a0-words": ""}), "a0-words", *cells)
    (course.hand_ins / f"dirk_{NAME}.ipynb").write_text(to_text(notebook))
    (course.hand_ins / f"eve_{NAME}.ipynb").write_text(to_text(of_another(notebook)))
    (course.hand_ins / f"finn_{NAME}.ipynb").write_text(to_text(answered(released, {})))
    _, report = course.grade()
    assert course.points()["dirk"] == ("3", "2", "")
    assert "dirk" in {row["student"] for row in course.table("manual.csv")}
    told = f"eve_{NAME}.ipynb: this is assignment a7, not a0"
    assert f"eve: 0 of 8, no file; unreadable; {told}" in report
    page = (course.out / "answers.html").read_text(encoding="utf-8")
    assert "A report of my own." in page
    assert "<pre>42 &lt;b&gt;</pre>" in page
    path = f"../_build/course/autograded/dirk/{KEY}/{NAME}.ipynb"
    assert f'href="{path}"' in page
    assert (course.out / path).exists()
    assert {row["comment"] for row in course.table() if row["student"] == "eve"} == {told}
    [said] = [row for row in course.table("moodle.csv") if row["Full name"] == "eve"]
    assert said["Feedback comments"] == told
    [_, spread, _] = [row["comment"] for row in course.table() if row["student"] == "finn"]
    assert "not attempted" in spread
    assert "NotImplementedError" not in spread.split("; ", 1)[1]


def test_what_stopped_is_told_in_words(course, released):
    course.hand_in("gus", texts(RIGHT) | {"a0-mean": WRONG["a0-mean"]["ends Python"]})
    course.grade()
    record = json.loads((course.course / "results" / KEY / "gus.json").read_text())
    assert "Grades two rows, within 1e-6: the code ended Python" in record["reason"]
    assert record["reason"].startswith("the check of 1. Means: the code ended Python")
    assert "a0-" not in record["reason"]
