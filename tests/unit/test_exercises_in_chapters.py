"""The exercises as the chapters show them: a stub that runs, a check, a solution that passes."""

import ast
import re

import pytest
from notebooks import chapter_files, read, tags

from minitransformer import exercises

SOLUTION = re.compile(
    r"<details>\n<summary>Solution</summary>\n\n```python\n(?P<code>.*?)\n```\n\n</details>",
    re.DOTALL,
)
CHECK = re.compile(r'check\("(?P<name>\w+)", (?P<function>\w+)\)')


def triples(notebook):
    """Each exercise of a notebook: its stub, its check and the Markdown cell below them."""
    cells = notebook.cells
    return [cells[i : i + 3] for i, cell in enumerate(cells) if "exercise" in tags(cell)]


def imports(notebook):
    """What the cells import, the set-up cell left out; solutions may use it."""
    codes = [c.source for c in notebook.cells if c.cell_type == "code" and "setup" not in tags(c)]
    trees = [ast.parse("\n".join(li for li in c.splitlines() if li[:1] != "%")) for c in codes]
    kept = [n for tree in trees for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, kept))


WITH_EXERCISES = [path for path in chapter_files() if triples(read(path))]


def test_the_worked_example_has_its_exercises():
    assert "03_worked_example" in [path.stem for path in WITH_EXERCISES]
    for path in WITH_EXERCISES:
        checks = [c for c in read(path).cells if "check" in tags(c)]
        assert len(checks) == len(triples(read(path)))


@pytest.mark.parametrize("path", WITH_EXERCISES, ids=lambda path: path.stem)
def test_every_stub_is_open_and_every_solution_passes(path):
    notebook = read(path)
    stubs, solved = {}, {}
    exec(imports(notebook), stubs)
    exec(imports(notebook), solved)
    for stub, check, below in triples(notebook):
        call = CHECK.fullmatch(check.source)
        assert call, check.source
        assert "check" in tags(check)
        exec(stub.source, stubs)
        assert exercises.check(call["name"], stubs[call["function"]]).status == "open"
        solution = SOLUTION.match(below.source)
        assert solution, below.source
        exec(solution["code"], solved)
        result = exercises.check(call["name"], solved[call["function"]])
        assert result, repr(result)


@pytest.mark.parametrize("path", WITH_EXERCISES, ids=lambda path: path.stem)
def test_the_stored_answers_are_those_to_a_stub(path):
    for _, check, _ in triples(read(path)):
        name = CHECK.fullmatch(check.source)["name"]

        def stub(*arguments):
            raise NotImplementedError

        [output] = check.outputs
        result = exercises.check(name, stub)
        assert output.data["text/plain"] == repr(result)
        assert output.data["text/html"] == result._repr_html_()
