"""Which cells of a chapter run in the browser, and what of the library goes there."""

import ast
import json
import subprocess
import sys
import zipfile
from base64 import b64encode
from pathlib import Path

import pytest
from live_cells import analysed, needs, uses, without_magics
from live_code import download_size, files, parts
from live_library import modules, write_library

SOURCE = Path(__file__).parents[2] / "book" / "live"


def cells(*sources):
    raw = [
        {"cell_type": "code", "id": f"c{k}", "metadata": {}, "source": [source]}
        for k, source in enumerate(sources)
    ]
    text = {"cell_type": "markdown", "id": "text", "metadata": {}, "source": ["import torch"]}
    return analysed({"cells": [text, *raw]})


def lacks(*sources):
    return [sorted(cell.lacks) for cell in cells(*sources)]


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("import numpy as np, json", []),
        ("from minitransformer.reference import softmax", []),
        ("from minitransformer.exercises import check", []),
        ("from minitransformer import plots", []),
        ("from IPython.display import display", []),
        ("import torch.nn.functional as F", ["torch"]),
        ("from minitransformer.attention import attend", ["torch"]),
        ("from minitransformer import models", ["torch"]),
        ("def f():\n    import scipy", ["scipy"]),
    ],
)
def test_what_a_cell_imports(source, wanted):
    assert lacks(source) == [wanted]


def test_a_widget_is_not_for_the_browser():
    assert "anywidget" in lacks("from minitransformer.widgets import Tiles")[0]


def test_names_of_a_cell_that_does_not_run_are_missing_later():
    found = lacks(
        "import torch\nx = torch.ones(2)\na = 1",
        "y = x + 1",
        "print(y)",
        "b = 2",
        "def f():\n    return x",
        "f()",
    )
    assert found == [["torch"], ["torch"], ["torch"], [], ["torch"], ["torch"]]


def test_the_last_binding_counts():
    assert lacks("import torch\nx = 1", "x = 2", "print(x)") == [["torch"], [], []]
    assert lacks("x = 2", "import torch\nx = 1", "print(x)") == [[], ["torch"], ["torch"]]


def test_imports_of_a_cell_that_does_not_run_are_made_all_the_same():
    first, second = cells("import torch\nimport numpy as np\nx = np.ones(2)", "np.zeros(3)")
    assert first.lacks == {"torch"}
    assert first.source == "import numpy as np"
    assert first.packages == {"numpy"}
    assert not second.lacks


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("[a for a in b if a < c]", {"b", "c"}),
        ("lambda a: a + b", {"b"}),
        ("for a in b:\n    print(a, c)", {"b", "c", "print"}),
        ("a = a + 1", {"a"}),
        ("a += 1", {"a"}),
        ("for b in c:\n    a += b", {"a", "c"}),
        ("def f():\n    a = 1\n    a += 1", set()),
        ("a = 1\nb = a", set()),
        ("def f(a, b=c):\n    global d\n    d = a\n    return e", {"c", "e"}),
        ("class A(b):\n    c = d\n    def m(self):\n        return e", {"b", "d", "e"}),
        ("with a() as b:\n    b.c(d)", {"a", "d"}),
        ("f'{a:{b}}'", {"a", "b"}),
    ],
)
def test_which_names_a_cell_takes_from_earlier_ones(source, names):
    assert uses(ast.parse(source)) == names


def test_lines_for_the_notebook_do_nothing():
    assert without_magics("%matplotlib inline\nx = 5 % 3\n  !ls") == "pass\nx = 5 % 3\n  pass"


def test_needs_of_a_module_come_from_all_that_it_imports():
    assert needs("minitransformer.plots") == {"numpy", "matplotlib"}
    assert needs("minitransformer.generation") >= {"torch"}
    assert needs("math") == frozenset()


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The file for the browser, unpacked into a folder of its own."""
    folder = tmp_path_factory.mktemp("library")
    write_library(folder / "minitransformer.zip")
    zipfile.ZipFile(folder / "minitransformer.zip").extractall(folder / "site")
    return folder / "site"


def test_the_library_for_the_browser_imports_without_torch(library):
    """All that is in it, in a Python that has neither torch nor the repository."""
    names = [
        ".".join(path.relative_to(library).with_suffix("").parts).removesuffix(".__init__")
        for path in sorted(library.rglob("*.py"))
    ]
    assert {"minitransformer.reference", "minitransformer.exercises"} <= set(names)
    code = f"""
import importlib, sys
sys.path.insert(0, {str(library)!r})
for name in ("torch", "tqdm", "ipywidgets", "anywidget"):
    sys.modules[name] = None
for name in {names!r}:
    importlib.import_module(name)
import minitransformer
assert minitransformer.__file__.startswith({str(library)!r})
from minitransformer.exercises import check, solution
from minitransformer.measurements import table
print(check("softmax", lambda scores: scores), solution("softmax"), len(table("minilm_heads")))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "softmax: not right yet" in done.stdout


def test_the_library_for_the_browser_is_the_same_at_every_build(tmp_path):
    for name in ("a", "b"):
        write_library(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_modules_that_load_a_package_are_named():
    assert modules()["minitransformer.plots"] == ["matplotlib", "numpy"]
    assert "minitransformer.reference" not in modules()  # NumPy is there from the start


def test_what_is_downloaded_is_counted_from_the_files():
    known = files()
    core = {"pyodide.asm.wasm", "python_stdlib.zip"}
    assert parts("numpy") <= known.keys()
    assert set().union(core, parts("numpy"), parts("matplotlib")) == known.keys()
    alone = sum(known[name]["bytes"] for name in core | parts("numpy"))
    everything = sum(facts["bytes"] for facts in known.values())
    scripts = download_size({"numpy"}, compressed=False) - alone
    assert 300_000 < scripts < 500_000
    assert download_size({"matplotlib"}, compressed=False) == scripts + everything
    unpacked = known["pyodide.asm.wasm"]["bytes"] - known["pyodide.asm.wasm"]["compressed"]
    assert download_size({"numpy"}) == scripts + alone - unpacked


def test_the_lists_of_pyodide_fit_one_another():
    folder = SOURCE / "vendor" / "pyodide"
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    for entry in lock["packages"].values():
        assert set(entry["depends"]) <= lock["packages"].keys()
        hexadecimal = bytes.fromhex(entry["sha256"])
        stored = files()[entry["file_name"]]["integrity"]
        assert stored == "sha256-" + b64encode(hexadecimal).decode()
