"""No solution and no hidden test can be read where students look."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from course import release
from course.sources import find
from leaks import leaks, lines_of, readable, secrets
from nbformat import v4
from notebooks import ROOT, read, to_text
from tiny_assignment import write_tiny

HTML = ROOT / "_build" / "html"


@pytest.fixture(scope="module")
def secret():
    """The secret lines of the real assignments."""
    return secrets()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The library as students install it."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [file] = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def handouts(tmp_path_factory):
    """The student versions of all assignments, and the seconds they took the processor."""
    folder = tmp_path_factory.mktemp("course")
    began = sum(os.times()[:4])
    for assignment in find():
        release.release(assignment, ROOT, folder / "course", folder / "handouts")
    return folder / "handouts", sum(os.times()[:4]) - began


def test_every_question_has_secrets(secret):
    """Otherwise nothing could be found below."""
    for assignment in find():
        for question in assignment.questions:
            for cell in (question.solution, *question.tests):
                assert lines_of(cell.source) & secret, f"{cell.id} has no line of its own"


@pytest.mark.course
def test_student_versions_have_no_secrets(handouts, secret):
    folder, _ = handouts
    assert len(list(folder.iterdir())) == len(find())
    assert leaks([folder], secret) == []


@pytest.mark.course
def test_student_versions_take_at_most_20_seconds(handouts):
    assert handouts[1] <= 20


def test_the_site_has_no_secrets(secret):
    if not (HTML / "index.html").is_file():
        pytest.fail(f"the site is not built: no {HTML}/index.html. Run `make book` first.")
    assert list(HTML.glob("_sources/chapters/*.ipynb"))
    assert leaks([HTML], secret) == []


def test_the_wheel_has_no_secrets(wheel, secret):
    names = zipfile.ZipFile(wheel).namelist()
    assert "minitransformer/exercises/__init__.py" in names
    assert not [name for name in names if name.startswith(("assignments", "tests", "tools"))]
    assert leaks([wheel], secret) == []


def code_page(line):
    """A line of code as the site shows it, in coloured pieces."""
    pieces = "".join(f'<span class="n">{word}</span> ' for word in line.split(" "))
    return f"<pre>{pieces}\n<span>x</span></pre>".replace("'", "&#39;")


SECRET = "totals_of_the_rows = [sum(row) for row in table]"
PLANTED = {
    "page.html": code_page(SECRET),
    "searchindex.js": f'Search.setIndex({{"text": "first\\n    {SECRET}\\nlast"}})',
    "chapter.ipynb": to_text(v4.new_notebook(cells=[v4.new_code_cell(f"def f():\n    {SECRET}")])),
    "state.json": f'{{"deep": [{{"text": "    {SECRET}"}}]}}',
    "checks.py": f"def reference(table):\n        {SECRET}\n",
    "words.html": "<p>The mean <em>forgets</em> how far the values lie apart from each other.</p>",
    "hidden.txt": "judge.close(mean_of_rows([[1.0, 2.5, 4.0], [0.5, 0.5, 2.0]]), [2.5, 1.0])",
}


@pytest.fixture
def tiny_secrets(root):
    (root / "src").mkdir()
    return secrets(root)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_leak_is_found(name, tiny_secrets, tmp_path):
    file = tmp_path / "out" / "deep" / name
    file.parent.mkdir(parents=True)
    file.write_text(PLANTED[name], encoding="utf-8")
    found = leaks([tmp_path / "out"], tiny_secrets)
    assert {Path(path).name for path, _, _ in found} == {name}


def test_a_leak_in_a_wheel_is_found(tiny_secrets, tmp_path):
    with zipfile.ZipFile(tmp_path / "library.whl", "w") as archive:
        archive.writestr("library/checks.py", PLANTED["checks.py"])
    [(_, name, _)] = leaks([tmp_path / "library.whl"], tiny_secrets)
    assert name == "library.whl/library/checks.py"


def test_a_leak_in_a_student_version_is_found(tiny_secrets, root, tmp_path):
    notebook = read(root / "assignments" / "a0_means.ipynb")
    cell = next(c for c in notebook.cells if c.id == "a0-mean")
    cell.source = cell.source.replace("### BEGIN SOLUTION\n", "", 1)
    handed_out = tmp_path / "a0_means.ipynb"
    handed_out.write_text(to_text(notebook), encoding="utf-8")
    assert leaks([handed_out], tiny_secrets)


def test_what_stands_in_the_open_is_no_secret(root):
    """A line that the prose shows, or the library has, tells nothing; the checks' lines do."""
    (root / "src").mkdir()
    before = secrets(root)
    line = SECRET.replace("*", "")
    (root / "src" / "assignment_0.py").write_text(line)
    assert secrets(root) == before
    (root / "src" / "other.py").write_text(line)
    assert before - secrets(root) == lines_of(line)
    notebook = read(root / "assignments" / "a0_means.ipynb")
    notebook.cells[2].source += "\n\nThe mean forgets how far the values lie apart from each other."
    write_tiny(root, notebook)
    assert len(before - secrets(root)) == 2


def test_pictures_are_passed_over(tmp_path):
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\xff")
    assert list(readable(tmp_path / "picture.png")) == []
