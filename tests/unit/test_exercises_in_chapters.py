"""The exercises as the chapters show them: a stub that runs, a check, a solution that passes."""

import ast
import re

import pytest
from notebooks import chapter_files, read, tags

from minitransformer import exercises

CHECK = re.compile(r'check\("(?P<name>\w+)", (?P<function>\w+)\)')
WORTH_HIDING = 25  # letters: a shorter line, such as a return of one name, gives nothing away


def triples(notebook):
    """Each exercise of a notebook: its stub, its check and the cell that fetches the solution."""
    cells = notebook.cells
    return [cells[i : i + 3] for i, cell in enumerate(cells) if "exercise" in tags(cell)]


def imports(notebook):
    """What the cells import, the set-up cell left out; solutions may use it."""
    codes = [c.source for c in notebook.cells if c.cell_type == "code" and "setup" not in tags(c)]
    trees = [ast.parse("\n".join(li for li in c.splitlines() if li[:1] != "%")) for c in codes]
    kept = [n for tree in trees for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    return "\n".join(map(ast.unparse, kept))


WITH_EXERCISES = [path for path in chapter_files() if triples(read(path))]
each_chapter = pytest.mark.parametrize("path", WITH_EXERCISES, ids=lambda path: path.stem)


def test_every_exercise_stands_in_a_chapter():
    found = [CHECK.fullmatch(t[1].source)["name"] for p in WITH_EXERCISES for t in triples(read(p))]
    # A dot stands in the names of assignments' questions.
    assert sorted(found) == sorted(name for name in exercises.names() if "." not in name)


@each_chapter
def test_every_stub_is_open_and_every_solution_passes(path):
    notebook = read(path)
    stubs, solved = {}, {}
    exec(imports(notebook), stubs)
    exec(imports(notebook), solved)
    for stub, check, _ in triples(notebook):
        call = CHECK.fullmatch(check.source)
        assert call, check.source
        assert "check" in tags(check)
        exec(stub.source, stubs)
        assert exercises.check(call["name"], stubs[call["function"]]).status == "open"
        code = exercises.solution(call["name"]).code
        assert len(code.splitlines()) <= 8
        exec(code, solved)
        result = exercises.check(call["name"], solved[call["function"]])
        assert result, repr(result)


@each_chapter
def test_the_last_cell_of_an_exercise_fetches_its_solution_once_uncommented(path):
    for stub, check, fetch in triples(read(path)):
        space = dict(vars(exercises))
        comment, call = fetch.source.splitlines()
        assert comment.startswith("# ")
        shown = eval(call.removeprefix("# "), space)
        assert shown.name == CHECK.fullmatch(check.source)["name"]
        [solved], [asked] = ast.parse(repr(shown)).body, ast.parse(stub.source).body[-1:]
        assert (solved.name, ast.dump(solved.args)) == (asked.name, ast.dump(asked.args))


@each_chapter
def test_the_stored_answers_are_those_to_a_stub(path):
    for _, check, _ in triples(read(path)):
        name = CHECK.fullmatch(check.source)["name"]

        def stub(*arguments):
            raise NotImplementedError

        [output] = check.outputs
        result = exercises.check(name, stub)
        assert output.data["text/plain"] == repr(result)
        assert output.data["text/html"] == result._repr_html_()


def given_away(notebook):
    """The lines of solutions, less their spaces, that stand below the first exercise."""
    asked = triples(notebook)
    beginning = next(i for i, cell in enumerate(notebook.cells) if "exercise" in tags(cell))
    text = " ".join(
        " ".join([cell.source, *map(str, cell.get("outputs", []))])
        for cell in notebook.cells[beginning:]
    )
    readable = re.sub(r"\s+", "", text)
    codes = [
        exercises.solution(CHECK.fullmatch(check.source)["name"]).code for _, check, _ in asked
    ]
    bodies = [line for code in codes for line in code.splitlines()[1:]]
    lines = [re.sub(r"\s+", "", line) for line in bodies]
    return {line for line in lines if len(line) >= WORTH_HIDING and line in readable}


@each_chapter
def test_no_solution_is_given_away(path):
    assert given_away(read(path)) == set()


@each_chapter
def test_a_solution_that_is_given_away_is_found(path):
    notebook = read(path)
    [_, check, fetch] = triples(notebook)[-1]
    code = exercises.solution(CHECK.fullmatch(check.source)["name"]).code
    longest = max(code.splitlines()[1:], key=len)
    fetch.source += f"\n{longest.replace(' = ', '  =  ')}"
    assert given_away(notebook) == {re.sub(r"\s+", "", longest)}
