"""The kernel of the page (book/live/kernel.py), here in an ordinary Python."""

import builtins
import importlib.util
import sys
import types
from pathlib import Path

import pytest

FILE = Path(__file__).parents[2] / "book" / "live" / "kernel.py"
MODULES = {"numpy": ["numpy"], "minitransformer.plots": ["matplotlib", "numpy"]}


class Page:
    """Runs cells and keeps what they send."""

    def __init__(self, module):
        self.sent = []
        self.kernel = module.Kernel(lambda *message: self.sent.append(message), MODULES)

    def run(self, source, number=1):
        """What one cell sends, as (kind, text, about); and whether it came to its end."""
        self.sent.clear()
        ok = self.kernel.run(number, source)
        return self.sent.copy(), ok

    def printed(self, source, number=1):
        sent, _ = self.run(source, number)
        return "".join(text for kind, text, _ in sent if kind == "out")

    def error(self, source, number=1):
        """The text of the traceback, and the module that is missing."""
        sent, ok = self.run(source, number)
        (found,) = [message[1:] for message in sent if message[0] == "traceback"]
        assert not ok
        return found


@pytest.fixture
def module(monkeypatch):
    """The kernel's module; what it changes in Python is as before afterwards."""
    monkeypatch.setattr(builtins, "input", input)
    for name in ("IPython", "IPython.display"):
        monkeypatch.setitem(sys.modules, name, sys.modules.get(name))
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    spec = importlib.util.spec_from_file_location("kernel_of_the_page", FILE)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def page(module):
    return Page(module)


def test_names_stay_from_cell_to_cell(page):
    assert page.run("x = 'grüße 注意'") == ([], True)
    assert page.printed("print(x)", 2) == "grüße 注意\n"


def test_the_last_value_is_shown(page):
    assert page.printed("1 + 1") == "2\n"
    assert page.printed("x = 3\nx;") == ""
    assert page.printed("'a'; None") == ""
    assert page.printed("'é' * 2 ;") == ""
    assert page.printed("") == ""


def test_html_is_shown_as_html(page):
    sent, _ = page.run("class A:\n    def _repr_html_(self):\n        return '<p>a</p>'\nA()")
    assert sent == [("html", "<p>a</p>", "")]
    assert page.printed("A").startswith("<class")


def test_what_a_cell_displays_comes_in_its_order(page):
    sent, _ = page.run(
        "from IPython.display import display\nprint('a')\n"
        "display({'image/svg+xml': '<svg/>'}, metadata={'image/svg+xml': {'alt': 'A line'}}, "
        "raw=True)\nprint('b')\ndisplay(7)"
    )
    assert [kind for kind, _, _ in sent] == ["out", "svg", "out", "out"]
    assert "|".join(text.strip() for _, text, _ in sent) == "a|<svg/>|b|7"
    assert sent[1][2] == "A line"


def test_figures_left_open_appear_under_their_cell(page):
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nplt.figure()\nplt.plot([2, 1]);"
    sent, _ = page.run(code, 4)
    assert [(kind, about) for kind, _, about in sent] == [("svg", "Plot of cell 4")] * 2
    assert all("<svg" in text for _, text, _ in sent)
    assert page.run("1;", 5)[0] == []  # they are closed


def test_a_semicolon_silences_the_value_and_not_the_work(page):
    assert page.printed("print('hello');") == "hello\n"
    assert page.run("x = []\nx.append(3) or x;")[0] == []
    assert page.printed("x") == "[3]\n"


def test_show_puts_each_figure_in_its_place_among_what_is_printed(page):
    sent, _ = page.run(
        "from matplotlib import pyplot as plt\nplt.plot([1, 2]); plt.title('first')\nplt.show()\n"
        "print('between')\nplt.plot([2, 1]); plt.title('second'); plt.show(block=False)\n"
        "print('after')"
    )
    assert [kind for kind, _, _ in sent] == ["svg", "out", "svg", "out"]
    assert "first" in sent[0][1]
    assert "first" not in sent[2][1]
    assert "second" in sent[2][1]


def test_a_figure_of_a_cell_that_fails_stays_with_it(page):
    sent, ok = page.run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\n1 / 0", 4)
    assert [kind for kind, _, _ in sent] == ["svg", "traceback"]
    assert not ok
    assert page.run("print('next')", 5)[0] == [("out", "next\n", "")]


def test_a_figure_that_cannot_be_drawn_is_told_once_and_closed(page):
    code = "import matplotlib.pyplot as plt\nplt.title('$\\\\frac{1$');"
    sent, ok = page.run(code, 4)
    assert [kind for kind, _, _ in sent] == ["traceback"]
    assert not ok
    assert page.run("1;", 5) == ([], True)


def test_a_figure_as_a_value_is_drawn(page):
    sent, _ = page.run("from matplotlib.figure import Figure\nFigure((1, 1))", 2)
    assert [(kind, about) for kind, _, about in sent] == [("svg", "Plot of cell 2")]


def test_a_traceback_shows_the_lines_of_the_reader_only(page):
    page.run("def half(n):\n    return n / 0", 2)
    text, missing = page.error("import json\nhalf(3)", 5)
    assert text.splitlines()[0] == "Traceback (most recent call last):"
    assert "Cell 5, line 2, in <module>\n    half(3)" in text
    assert "Cell 2, line 2, in half\n    return n / 0" in text
    assert text.splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert "kernel" not in text
    assert missing == ""


def test_lines_of_a_library_are_left_out(page):
    text, _ = page.error("import json\njson.loads('{')")
    assert "Cell 1, line 2" in text
    assert "decoder.py" not in text
    assert text.splitlines()[-1].startswith("json.decoder.JSONDecodeError")


def test_causes_are_told_without_the_library_too(page):
    code = (
        "import json\ntry:\n    json.loads('{')\nexcept ValueError as e:\n    raise KeyError from e"
    )
    text, _ = page.error(code)
    assert "direct cause" in text
    assert "decoder.py" not in text


def test_an_error_of_syntax_shows_its_place(page):
    text, _ = page.error("x = 1\nx = = 2", 3)
    assert "Cell 3, line 2" in text
    assert "x = = 2" in text
    assert "SyntaxError" in text
    assert "kernel" not in text


def test_a_cell_that_ends_python_ends_itself_only(page):
    assert "SystemExit" in page.error("raise SystemExit(3)")[0]
    assert page.printed("print(1)") == "1\n"


def test_input_is_explained(page):
    text, _ = page.error("name = input('Your name? ')")
    assert "input() does not work on this page" in text
    assert "Cell 1, line 1" in text


def test_a_module_that_is_not_there_is_named(page):
    text, missing = page.error("import torchvision.models")
    assert missing == "torchvision"  # Colab has it
    assert text.endswith("The browser has no torchvision.")
    text, missing = page.error("import nunpy.linalg")
    assert missing == ""
    assert text.endswith("The browser has no nunpy. Is it numpy?")
    assert page.error("import nothing_here")[0].endswith("The browser has no nothing_here.")


@pytest.mark.parametrize("code", ["raise MemoryError", "raise ValueError('array is too big; x')"])
def test_too_much_memory_is_explained(page, code):
    assert "at most 4 GB" in page.error(code)[0]


def test_a_deleted_name_says_which_cell_to_run_again(page):
    page.run("weights = 1", 2)
    page.run("del weights", 3)
    text, _ = page.error("weights + 1", 4)
    assert text.splitlines()[-1] == "Cell 2 made weights: run that cell again."
    assert "made" not in page.error("wieghts", 5)[0]


def test_long_output_is_cut_and_says_so(page, module):
    sent, ok = page.run("for k in range(10_000):\n    print(k)")
    text = "".join(text for kind, text, _ in sent if kind == "out")
    assert ok
    assert text.splitlines() == [str(k) for k in range(module.LINES)]
    assert [text for kind, text, _ in sent if kind == "cut"] == [module.TOO_LONG]
    assert page.printed("print(1)") == "1\n"  # the next cell has room again


def test_a_long_line_is_cut_too(page, module):
    assert len(page.printed("print('x' * 1_000_000)")) == module.LETTERS
    assert len(page.printed("'x' * 1_000_000")) == module.LETTERS


def test_what_is_printed_leaves_at_once(page, module):
    """So that a page shows what came before an endless loop; a flood leaves in larger pieces."""
    sent, _ = page.run("print(1)\nprint(2, 3)")
    assert [text for _, text, _ in sent] == ["1\n", "2 3\n"]
    sent, _ = page.run("for k in range(900):\n    print(k)")
    assert module.AT_ONCE <= len(sent) < 300
    page.run("import time\nfor k in range(3):\n    print(k, end='')\n    time.sleep(0.06)")
    assert len(page.sent) >= 2  # also without the end of a line


def test_warnings_are_kept_apart(page):
    sent, _ = page.run("import sys\nprint(1)\nprint(2, file=sys.stderr)\nprint(3)")
    assert [message[:2] for message in sent] == [("out", "1\n"), ("error", "2\n"), ("out", "3\n")]


@pytest.mark.parametrize(
    ("code", "packages"),
    [
        ("import numpy as np", ["numpy"]),
        ("def f():\n    from minitransformer.plots import show", ["matplotlib", "numpy"]),
        ("from minitransformer import plots", ["matplotlib", "numpy"]),
        ("import numpyro", []),
        ("x = = 1", []),
    ],
)
def test_packages_of_a_cell(page, code, packages):
    assert page.kernel.packages(code) == packages


def test_the_streams_are_as_before(page):
    before = sys.stdout, sys.stderr
    page.run("1 / 0")
    assert (sys.stdout, sys.stderr) == before
