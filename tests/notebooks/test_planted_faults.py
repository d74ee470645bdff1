"""The checks of notebooks can fail: a copy with one planted fault makes its check fail, no other.

Each fault is planted in a copy of the tiny chapter and, where it fits, of every real one. `LINT`
holds those that the stored file shows; `RERUN` those that only running the code shows, which the
first group of checks must pass.
"""

import base64
import io
import re
import shutil

import nbformat.v4 as v4
import pytest
from check_notebooks import check
from matplotlib.figure import Figure
from notebooks import ROOT, WIDGET_STATE, chapter_files, code_cells, read, to_text
from tiny_chapter import cell, run_nbval

CHAPTERS = chapter_files()


def first_code(notebook, wanted=lambda cell: True):
    """The first code cell after the set-up cell of which ``wanted`` holds."""
    return next(c for _, c in code_cells(notebook)[1:] if wanted(c))


def prints(cell):
    return any(o.output_type == "stream" for o in cell.outputs) and "print(" in cell.source


def add_markdown(text):
    return lambda nb: nb.cells.append(v4.new_markdown_cell(text, id="planted"))


def unexecuted(nb):
    last = code_cells(nb)[-1][1]
    last.execution_count, last.outputs = None, []


def out_of_order(nb):
    (_, one), (_, two) = code_cells(nb)[1:3]
    one.execution_count, two.execution_count = two.execution_count, one.execution_count


def stored_error(nb):
    error = v4.new_output("error", ename="ValueError", evalue="", traceback=[])
    first_code(nb).outputs = [error, *first_code(nb).outputs]


def deleted_output(nb):
    nb.cells.append(v4.new_code_cell("print('planted')", id="planted"))
    nb.cells[-1].execution_count = len(code_cells(nb))


def no_alternative_text(nb):
    shown = first_code(nb, lambda c: any("image" in str(o.get("metadata")) for o in c.outputs))
    for output in shown.outputs:
        if "metadata" in output:  # what a cell prints beside its picture has none
            output.metadata = {}


def confused_alternative_text(nb):
    shown = first_code(nb, lambda c: any("alt" in str(o.get("metadata")) for o in c.outputs))
    for output in shown.outputs:
        for about in output.get("metadata", {}).values():
            about["alt"] += " These are softmax scores."


def long_cell(nb):
    first_code(nb).source += "\n# " * 30


def skipped(nb):
    first_code(nb).metadata["tags"] = ["nbval-skip"]


def ignored_without_assertion(nb):
    first_code(nb, lambda c: "assert" not in c.source).metadata["tags"] = ["nbval-ignore-output"]


def stale_setup(nb):
    setup = code_cells(nb)[0][1]
    setup.source = setup.source.replace("@main", "@old")


def no_setup(nb):
    code_cells(nb)[0][1].metadata.pop("tags")


def widgets(nb):
    return nb.metadata["widgets"][WIDGET_STATE]["state"]


def stored_code(nb):
    next(iter(widgets(nb).values()))["state"]["_esm"] = "export default {}"


def lost_state(nb):
    del nb.metadata["widgets"]


def too_big(nb):
    nb.metadata["planted"] = "x" * 1_000_000


def lone_stub(nb):
    nb.cells.append(v4.new_code_cell("def my_sum(x): ...", id="planted"))
    nb.cells[-1].metadata["tags"] = ["exercise"]
    nb.cells[-1].execution_count = len(code_cells(nb))


def solution_in_the_notebook(nb):
    lone_stub(nb)
    for tag, source in (("check", 'check("sum", my_sum)'), ("solution", "# return sum(x)")):
        nb.cells.append(v4.new_code_cell(source, id=tag, metadata={"tags": [tag]}))
        nb.cells[-1].execution_count = len(code_cells(nb))


def no_id(nb):
    nb.cells[-1].metadata["tags"] = "no list"


LINT = {
    "unexecuted cell": (unexecuted, "executed"),
    "count out of order": (out_of_order, "executed"),
    "error as output": (stored_error, "no_errors"),
    "output deleted": (deleted_output, "no_missing_outputs"),
    "cell kept from nbval": (skipped, "compared"),
    "output ignored without assertion": (ignored_without_assertion, "compared"),
    "stale set-up cell": (stale_setup, "setup_is_canonical"),
    "no set-up cell": (no_setup, "setup_is_canonical"),
    "widget code stored": (stored_code, "widgets_are_stored"),
    "widget without inputs": (lost_state, "widgets_are_stored"),
    "stub without check": (lone_stub, "exercises_are_whole"),
    "solution in the notebook": (solution_in_the_notebook, "exercises_are_whole"),
    "file too big": (too_big, "small"),
    "tags that are no list": (no_id, "valid"),
    "wrong number": (add_markdown("The weight is 0.9753."), "numbers_have_sources"),
    "wrong number in a formula": (add_markdown("$$w = 0.9753$$"), "numbers_have_sources"),
    "wrong number in a table": (
        add_markdown("| w |\n|---|\n| 0.9753 |"),
        "numbers_have_sources",
    ),
    "cell without a column": (
        add_markdown("| a | b |\n|---|---|\n| 1 | 2 | 3 |"),
        "tables_are_even",
    ),
    "MyST fence": (add_markdown("```{note}\nText.\n```"), "portable"),
    "MyST colon fence": (add_markdown(":::{note}\nText.\n:::"), "portable"),
    "MyST role": (add_markdown("See {doc}`that`."), "portable"),
    "relative link": (add_markdown("See [that](02_library_metaphor.ipynb)."), "portable"),
    "picture beside the notebook": (add_markdown("![Five tokens in a row](five.png)"), "portable"),
    "picture on another host": (add_markdown("![Five tokens](https://a.b/c.png)"), "portable"),
    "HTML": (add_markdown('<div class="x">Text.</div>'), "portable"),
    "picture without alternative text": (no_alternative_text, "pictures_have_text"),
    "long code": (long_cell, "short"),
    "long prose": (add_markdown("word " * 121), "short"),
    "long list": (add_markdown("- word\n" * 201), "short"),
    "scores after the softmax": (
        add_markdown("The attention scores sum to 1."),
        "words_as_defined",
    ),
    "weights before the softmax": (
        add_markdown("The weights are masked before the softmax."),
        "words_as_defined",
    ),
    "a matrix without a name": (
        add_markdown("- The attention matrix has ten rows."),
        "words_as_defined",
    ),
    "confusion in alternative text": (confused_alternative_text, "words_as_defined"),
}


@pytest.mark.parametrize("fault", LINT)
@pytest.mark.parametrize("base", ["tiny", *CHAPTERS], ids=lambda b: getattr(b, "stem", b))
def test_a_stored_fault_fails_its_check_alone(base, fault, tiny_file, tmp_path):
    original = tiny_file if base == "tiny" else base
    notebook = read(original)
    plant, expected = LINT[fault]
    try:
        plant(notebook)
    except (KeyError, StopIteration):
        assert base != "tiny", "the tiny chapter has a place for every fault"
        pytest.skip(f"{original.stem} has no cell of the kind this fault needs")
    path = tmp_path / original.name
    path.write_text(to_text(notebook), encoding="utf-8")
    before = {(f.check, f.cell, f.message) for f in check(original)}
    new = {f.check for f in check(path) if (f.check, f.cell, f.message) not in before}
    assert new == {expected}


def test_the_tiny_chapter_without_a_fault_has_no_finding(tiny_file):
    assert check(tiny_file) == []


def changed_digit(nb):
    stream = cell(nb, "prints").outputs[0]
    stream.text = stream.text.replace("0.042", "0.043")
    return "prints"


def change_svg(nb, pattern, new):
    data = cell(nb, "svg").outputs[0].data
    before = data["image/svg+xml"]
    data["image/svg+xml"] = re.sub(pattern, new, before, count=1)
    assert data["image/svg+xml"] != before


def changed_svg(nb):
    change_svg(nb, r"(?<=fill: #)f", "e")
    return "svg"


def moved_svg(nb):
    change_svg(nb, r"(?<=width=\")(?=\d)", "1")
    return "svg"


def changed_png(nb):
    figure = Figure((2.0, 1.0))
    figure.add_subplot().plot([1, 3, 2.2])
    figure.savefig(buffer := io.BytesIO(), format="png")
    cell(nb, "png").outputs[0].data["image/png"] = base64.b64encode(buffer.getvalue()).decode()
    return "png"


def changed_alt(nb):
    cell(nb, "png").outputs[0].metadata["image/png"]["alt"] = "A line that falls, then rises."
    return "png"


def changed_input(nb):
    next(iter(widgets(nb).values()))["state"]["angle"] = 31
    return "widget"


def raising(nb):
    cell(nb, "prints").source += "\nraise ValueError('planted')"
    return "prints"


def output_gone(nb):
    cell(nb, "prints").outputs = cell(nb, "prints").outputs[:1]
    return "prints"


RERUN = {
    "digit": changed_digit,
    "colour_in_svg": changed_svg,
    "place_in_svg": moved_svg,
    "png": changed_png,
    "alternative_text": changed_alt,
    "widget_input": changed_input,
    "raising": raising,
    "lost_result": output_gone,
}


@pytest.fixture(scope="module")
def rerun(tiny_file, tmp_path_factory):
    """nbval's answer for each fault that needs running, and for a copy without one."""
    folder = tmp_path_factory.mktemp("rerun")
    (folder / "none.ipynb").write_text(to_text(read(tiny_file)), encoding="utf-8")
    expected = {"none.ipynb": set()}
    for name, plant in RERUN.items():
        notebook = read(tiny_file)
        faulty = plant(notebook)
        codes = [c.id for _, c in code_cells(notebook)]
        expected[f"{name}.ipynb"] = {codes.index(faulty)}
        (folder / f"{name}.ipynb").write_text(to_text(notebook), encoding="utf-8")
    found, printed = run_nbval(folder)
    return expected, found, printed, folder


@pytest.mark.parametrize("fault", ["none", *RERUN])
def test_a_stale_output_fails_its_cell_alone(fault, rerun):
    expected, found, _, folder = rerun
    name = f"{fault}.ipynb"
    assert found[name] == expected[name]
    assert check(folder / name) == []


def test_nbval_says_how_to_go_on(rerun):
    assert "make chapters" in rerun[2]


@pytest.mark.skipif(not CHAPTERS, reason="there is no chapter yet")
def test_a_change_in_the_library_makes_stored_outputs_stale(tmp_path):
    """A softmax of scores 1 % larger: the chapter's comparison fails, without being told of it."""
    chapter = next((c for c in CHAPTERS if c.name.startswith("03")), CHAPTERS[0])
    source = tmp_path / "source"
    shutil.copytree(ROOT / "src" / "minitransformer", source / "minitransformer")
    with (source / "minitransformer" / "reference.py").open("a", encoding="utf-8") as file:
        file.write(
            "\n_exact = softmax\n\n\ndef softmax(scores, axis=-1, mask=None):\n"
            "    return _exact(1.01 * np.asarray(scores), axis, mask)\n"
        )
    (tmp_path / "copies").mkdir()
    notebook = read(chapter)
    (tmp_path / "copies" / chapter.name).write_text(to_text(notebook), encoding="utf-8")
    failed, printed = run_nbval(tmp_path / "copies", source)
    assert failed[chapter.name], printed
