"""A tiny chapter that has one of everything, and a way to run nbval on copies of it."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ET

import nbformat.v4 as v4
import setup_cell
from notebooks import ROOT

NBVAL = [
    "-q",
    "--nbval",
    "--nbval-current-env",
    "--color=no",
    "-p",
    "nbval_complete",
    "-p",
    "no:cacheprovider",
]

PRINTS = """\
from minitransformer.reference import softmax

weights = softmax([1.0, 2.0, 4.0])
print(weights.round(4))
float(weights.sum())"""

SVG = """\
from minitransformer.plots import heatmap, show

show(heatmap([weights], ["geht"], ["Karina", "geht", "in"]), alt="Heat map: 'in' is darkest.")"""

PNG = """\
import io

from IPython.display import Image, display
from matplotlib.figure import Figure

figure = Figure((2.0, 1.0))
figure.add_subplot().plot([1, 3, 2])
figure.savefig(buffer := io.BytesIO(), format="png")
display(Image(buffer.getvalue(), metadata={"alt": "A line that rises and falls."}))"""

WIDGET = """\
import anywidget
import traitlets


class Dial(anywidget.AnyWidget):
    _esm = "export default { render() {} }"
    angle = traitlets.Int(30).tag(sync=True)


Dial()"""


def tiny_chapter():
    """A chapter of nine cells, not yet run."""
    setup = {"tags": list(setup_cell.TAGS)}
    notebook = v4.new_notebook(
        cells=[
            v4.new_markdown_cell("# A tiny chapter\n\nIt shows one of everything.", id="title"),
            v4.new_code_cell(metadata=setup, id="setup"),
            v4.new_markdown_cell("The last of three scores takes most: 0.844.", id="claim"),
            v4.new_code_cell(PRINTS, id="prints"),
            v4.new_markdown_cell("> [!NOTE]\n> The scale is $1/\\sqrt{d}$.", id="note"),
            v4.new_code_cell(SVG, id="svg"),
            v4.new_code_cell(PNG, id="png"),
            v4.new_code_cell(WIDGET, id="widget"),
            v4.new_markdown_cell("## Summary\n\n- One number.\n- Two figures.", id="summary"),
        ]
    )
    setup_cell.with_setup(notebook)
    return notebook


def cell(notebook, name):
    """The cell of a notebook with the id ``name``."""
    return next(c for c in notebook.cells if c.id == name)


def run_nbval(folder, source=None):
    """Compare every notebook in ``folder`` with what its code gives now.

    ``source``: a folder with another minitransformer, which the notebooks shall import. Returns
    for each file name the numbers of the code cells (from 0) that failed.
    """
    report = folder / "report.xml"
    (folder / "pytest.ini").write_text("[pytest]\n")
    path = [str(ROOT / "tools"), *([str(source)] if source else [])]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *NBVAL, f"--junitxml={report}", str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    failed = {file.name: set() for file in folder.glob("*.ipynb")}
    for case in ET.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            name = case.get("classname").removesuffix(".ipynb").rpartition(".")[2]
            failed[f"{name}.ipynb"].add(int(case.get("name").removeprefix("Cell ")))
    return failed, done.stdout
