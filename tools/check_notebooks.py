"""Check stored chapters without running them: python tools/check_notebooks.py [file ...]

nbval compares outputs with what the code gives now, but passes a cell that was never run. These
checks refuse that and whatever else a reader would stumble over. Each check is a function of
``(notebook, path)`` that yields ``(cell number, message)``; the message says the way out. The
checks of what a chapter says and shows stand in ``check_content.py``.
"""

import argparse
import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
from check_content import CONTENT_CHECKS
from notebooks import (
    ROOT,
    UNSTORED_KEYS,
    WIDGET_STATE,
    cell_tree,
    chapter_files,
    code_cells,
    read,
    tags,
    view_ids,
)
from prose import uneven_rows
from setup_cell import TAGS, setup_cell, setup_source
from word_use import prose_confusions

MOST_BYTES = 1_000_000
RERUN = "run `make chapters`"
FETCH = '# The solution: take the # off the next line and run.\n# solution("{}")'
LOOSEN = "what a machine may change takes the tag nbval-ignore-output and ends in an assertion"


@dataclass(frozen=True)
class Finding:
    """One fault: where it is, which check found it and what to do about it."""

    path: Path
    cell: int | None
    check: str
    message: str

    def __str__(self):
        place = f"{self.path.name}, cell {self.cell}" if self.cell else self.path.name
        return f"{place}: {self.message} [{self.check}]"


def valid(notebook, path):
    """The file is a notebook by nbformat's own schema, each cell with an id."""
    try:
        nbformat.validate(notebook, relax_add_props=False)
    except nbformat.ValidationError as error:
        yield None, f"not a valid notebook: {str(error).splitlines()[0]}"


def executed(notebook, path):
    """Every code cell was run, from top to bottom in one go."""
    for count, (number, cell) in enumerate(code_cells(notebook), start=1):
        if cell.execution_count is None:
            yield number, f"the cell was not run: {RERUN}"
        elif cell.execution_count != count:
            yield number, f"run as number {cell.execution_count} instead of {count}: {RERUN}"


def no_errors(notebook, path):
    """No stored output is an error."""
    for number, cell in code_cells(notebook):
        for output in cell.outputs:
            if output.output_type == "error":
                yield number, f"the stored output is an error ({output.ename}): mend it and {RERUN}"


def no_missing_outputs(notebook, path):
    """A cell that plainly shows something has an output. (What it shows is nbval's matter.)"""
    for number, cell in code_cells(notebook):
        if cell.execution_count is not None and not cell.outputs and _shows(cell.source):
            yield number, f"the cell shows something, but no output is stored: {RERUN}"


def _shows(source):
    """Whether a cell surely shows something: a top-level print or display, or a last value.

    Calls other than these two may return None, so a last line that is a call does not count.
    """
    body = cell_tree(source).body
    if not body:
        return False
    statements = [s for s in body if isinstance(s, ast.Expr)]
    for loop in body:
        if isinstance(loop, ast.For | ast.With):
            statements += [s for s in loop.body if isinstance(s, ast.Expr)]
    calls = [s.value for s in statements if isinstance(s.value, ast.Call)]
    if any(isinstance(c.func, ast.Name) and c.func.id in ("print", "display") for c in calls):
        return True
    last = body[-1]
    if source.rstrip().endswith(";") or not isinstance(last, ast.Expr):
        return False
    is_none = isinstance(last.value, ast.Constant) and last.value.value in (None, ...)
    return not isinstance(last.value, ast.Call | ast.Await) and not is_none


def compared(notebook, path):
    """No cell is kept from nbval, unless it ends in an assertion on its claim."""
    for number, cell in code_cells(notebook):
        used = set(tags(cell)) & {"nbval-skip", "raises-exception", "nbval-raises-exception"}
        if used or "NBVAL_" in cell.source:
            yield number, f"kept from the comparison ({', '.join(used) or 'comment'}): {LOOSEN}"
        elif "nbval-ignore-output" in tags(cell):
            last = cell_tree(cell.source).body[-1:]
            if not last or not isinstance(last[0], ast.Assert):
                yield number, "tagged nbval-ignore-output, but its last line is no assertion"


def setup_is_canonical(notebook, path):
    """The first code cell is the set-up cell, word for word."""
    found = setup_cell(notebook)
    if found is None or not set(TAGS) <= set(tags(found[1])):
        yield found and found[0], f"the first code cell must be the set-up cell, tagged {TAGS}"
    elif found[1].source != setup_source(notebook):
        yield found[0], "not the current set-up cell: run `python tools/setup_cell.py`"


def widgets_are_stored(notebook, path):
    """Every widget shown has its inputs stored, and none its code."""
    models = notebook.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    for model in models.values():
        stale = [key for key in UNSTORED_KEYS if key in model["state"]]
        if stale:
            yield None, f"the state of a widget stores {', '.join(stale)}: {RERUN}"
    for number, cell in code_cells(notebook):
        for model in view_ids(cell.outputs):
            if model not in models:
                yield number, f"a widget without its stored inputs: {RERUN}"


def exercises_are_whole(notebook, path):
    """An exercise is three cells in a row: a stub, its check, and one that fetches the solution."""
    cells, parts = notebook.cells, ("exercise", "check", "solution")
    kinds = [next((part for part in parts if part in tags(cell)), None) for cell in cells]
    for i, kind in enumerate(kinds):
        if kind is None:
            continue
        first = i - parts.index(kind)
        if first < 0 or tuple(kinds[first : first + 3]) != parts:
            yield i + 1, f"a cell tagged {kind!r} outside a row of {parts}"
        elif kind == "solution":
            wanted = FETCH.format(*re.findall(r'^check\("(.*?)"', cells[i - 1].source))
            if cells[i].source != wanted:
                yield i + 1, f"the cell of a solution holds two lines: {wanted!r}"


def small(notebook, path):
    """The file is at most 1 MB."""
    size = path.stat().st_size
    if size > MOST_BYTES:
        yield None, f"{size / 1e6:.2f} MB; at most 1 MB: draw fewer or simpler figures"


CHECKS = (
    valid,
    executed,
    no_errors,
    no_missing_outputs,
    compared,
    setup_is_canonical,
    widgets_are_stored,
    exercises_are_whole,
    small,
    *CONTENT_CHECKS,
)


def check(path):
    """All findings of all checks on the notebook at ``path``."""
    notebook = read(path)
    return [
        Finding(Path(path), number, function.__name__, message)
        for function in CHECKS
        for number, message in function(notebook, Path(path))
    ]


def check_page(path):
    """The findings on a page that is no notebook: its words, as in the glossary, and its tables."""
    source = Path(path).read_text(encoding="utf-8")
    found = [("words_as_defined", f"{what!r}: {how}") for what, how in prose_confusions(source)]
    found += [("tables_are_even", message) for message in uneven_rows(source)]
    return [Finding(Path(path), None, *one) for one in found]


def main(arguments=None):
    """Check the files named on the command line, or every chapter and page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    named = parser.parse_args(arguments).files
    files = named or [*chapter_files(), *sorted(ROOT.glob("book/*.md")), ROOT / "README.md"]
    findings = [f for file in files for f in (check_page if file.suffix == ".md" else check)(file)]
    print(*findings, sep="\n", end="\n" if findings else "")
    print(f"{len(files)} files checked, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
