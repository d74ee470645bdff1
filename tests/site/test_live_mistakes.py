"""What readers do wrong in cells that run, and what they are told."""

import pytest
from live_pages import Cell, live_site
from site_visits import CHAPTERS, visit

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]
(CHAPTER,) = [name for name in CHAPTERS if name.startswith("chapters/03")]
# Clicks, and waits until the page could paint again; in ms.
STOP = """(button) => new Promise((done) => {
  const start = performance.now();
  button.click();
  if (button.textContent !== "Run") throw new Error(button.textContent);
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""
ENDLESS_ATTEMPT = """from minitransformer.exercises import check
def attempt(scores):
    while True:
        pass
check("softmax", attempt)"""
FIRST, SECOND, THIRD = "embeddings-code", "project-loop", "project-matrix"


@pytest.fixture(scope="module")
def address(html, tmp_path_factory):
    with live_site(tmp_path_factory.mktemp("live")) as address:
        yield f"{address}/{CHAPTER}.html"


@pytest.fixture(scope="module")
def opened(browser, address):
    """One page for all mistakes, so that each of them must leave Python fit for the next."""
    with visit(browser, address) as seen:
        Cell(seen.page, FIRST).run()
        yield seen
        assert seen.complaints == []


@pytest.fixture
def cell(opened):
    return Cell(opened.page, FIRST)


@pytest.fixture
def other(opened):
    return Cell(opened.page, THIRD)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("x = 1\nx = = 2", ["Cell 1, line 2", "SyntaxError"]),
        ("import numpy as np\nnp.ones(10**11)", ["Cell 1, line 2", "at most 4 GB of memory"]),
        ("numbers = [0] * 10**9", ["MemoryError", "at most 4 GB of memory"]),
        ("name = input('Who? ')", ["Cell 1, line 1", "input() does not work on this page"]),
        ("def f():\n    return f()\nf()", ["Cell 1, line 2, in f", "RecursionError"]),
        ("raise SystemExit", ["SystemExit"]),
    ],
)
def test_a_mistake_is_told_with_the_lines_of_the_reader(cell, code, told):
    text = cell.run_code(code)
    assert cell.status.inner_text() == "Stopped with an error."
    for words in told:
        assert words in text
    assert "kernel" not in text
    assert "/lib/" not in text
    assert cell.run_code("print(6 * 7)") == "42"


def test_torch_is_to_be_had_in_colab(cell):
    text = cell.run_code("import torch")
    assert "No module named 'torch'" in text
    link = cell.output.get_by_role("link", name="Run this chapter in Colab")
    assert link.get_attribute("href").startswith("https://colab.research.google.com/")
    assert link.get_attribute("href").endswith(f"{CHAPTER}.ipynb")


def test_letters_of_all_kinds(cell):
    assert cell.run_code('größe = "注意 🙂 ελ"\nprint(größe, len(größe))') == "注意 🙂 ελ 7"


def test_ten_thousand_lines_are_cut(cell):
    lines = cell.run_code("for k in range(10_000):\n    print(k)").split("\n")
    assert lines[:1000] == [str(k) for k in range(1000)]
    assert "Only the first 1,000 lines" in lines[-1]
    assert len(lines) < 1005


def test_text_of_a_cell_is_no_code_of_the_page(opened, cell):
    hostile = "<img src=x onerror=document.title=1><script>document.title=1</script>"
    text = cell.run_code(f"class A:\n    def _repr_html_(self): return '<p>safe</p>{hostile}'\nA()")
    assert text == "safe"
    assert cell.output.locator("img, script").count() == 0
    assert cell.run_code(f"print('{hostile}')") == hostile
    # The browser says that it did not run what was read and thrown away; no more came of it.
    assert all("inline event handler" in complaint for complaint in opened.complaints)
    opened.complaints.clear()


def test_a_deleted_name_is_made_again_by_its_cell(cell, other):
    cell.write("import numpy as np\nx = np.ones((5, 2))")
    second = Cell(cell.page, SECOND)
    second.run_code("del x")
    text = other.run_code("x.shape")
    assert "NameError: name 'x' is not defined" in text
    assert "Cell 1 made x: run that cell again." in text
    cell.run()
    second.write("pass")
    assert other.run() == "(5, 2)"


def test_an_error_in_an_earlier_cell_is_named(cell, other):
    cell.write("1 / 0")
    other.write("print('here')")
    other.run()
    assert other.status.inner_text().startswith("Cell 1 stopped with an error, so this one did not")
    assert "ZeroDivisionError" in cell.text()
    assert other.run() == "here"  # the reader insists


def test_two_cells_at_once(cell, other):
    cell.write("import time\nprint('first')\ntime.sleep(0.5)\nprint('first')")
    other.write("print('third')")
    cell.button.click()
    other.button.click()
    assert other.status.inner_text() == "Waiting"
    other.wait("Done")
    assert (cell.text(), other.text()) == ("first\nfirst", "third")


def test_a_check_of_an_endless_loop_ends_by_itself(cell):
    text = cell.run_code(ENDLESS_ATTEMPT)
    assert "Your function was not done after 5 seconds" in text
    assert cell.status.inner_text().startswith("Done in")


def test_an_endless_loop_is_stopped(cell, other):
    cell.write("x = 7\nprint('begun', flush=True)\nwhile True:\n    pass")
    cell.button.click()
    cell.output.get_by_text("begun").wait_for()
    assert len(cell.page.workers) == 1
    took = cell.button.evaluate(STOP)
    print(f"from the click on Stop to a page at rest: {took:.0f} ms")
    assert took < 300
    assert "starts Python anew" in cell.status.inner_text()
    assert cell.text() == "begun"
    cell.write("x = 8")
    Cell(cell.page, SECOND).write("pass")
    assert other.run_code("x") == "8"  # anew, the earlier cells first
    assert len(cell.page.workers) == 1  # a browser may take two seconds to end the old one
    assert cell.text() == ""


def test_a_reload_in_the_middle(cell):
    cell.write("print('begun', flush=True)\nwhile True:\n    pass")
    cell.button.click()
    cell.output.get_by_text("begun").wait_for()
    cell.page.reload()
    assert cell.page.workers == []
    assert cell.status.inner_text() == "As you left it."
    assert "while True:" in cell.element.locator(".cell_input").inner_text()
    assert "begun" not in cell.text()  # what is stored in the book, until it is run again
    cell.reset.click()
    cell.run()
    assert cell.status.inner_text().startswith("Done in")
    assert cell.run_code("print(6 * 7)") == "42"


def test_reset_while_a_cell_runs_leaves_its_stop(cell, other):
    cell.write("print('begun', flush=True)\nwhile True:\n    pass")
    cell.button.click()
    cell.output.get_by_text("begun").wait_for()
    cell.reset.click()
    assert "tokens = " in cell.code()  # the book's code again
    assert cell.button.inner_text() == "Stop"
    assert cell.text() == "begun"
    cell.button.click()
    cell.wait("Stopped.")
    assert other.run_code("print(6 * 7)") == "42"


def test_after_one_refusal_a_cell_runs_past_all_that_stop(opened, cell, other):
    cell.run_code("1 / 0")
    second = Cell(opened.page, SECOND)
    second.write("nothing_of_that_name")
    other.write("print('here')")
    other.button.click()
    other.wait("Cell 2 stopped with an error, so this one did not run. Run again goes on")
    third = Cell(opened.page, SECOND)
    third.write("another_name")
    assert other.run() == "here"
    assert "Earlier cells that stopped with an error: 2" in other.status.inner_text()
    other.run_code("print('again')")
    assert "Earlier cells" not in other.status.inner_text()
    for one in (cell, second, other):
        one.reset.click()


def test_html_from_a_cell_stays_in_its_place(opened, cell):
    cell.run_code(
        "class Cover:\n    def _repr_html_(self):\n        return '<div id=cover "
        'style="position:fixed;inset:0;background:red">over all</div>\'\nCover()'
    )
    shown = cell.output.get_by_text("over all").bounding_box()
    box = cell.output.bounding_box()
    assert shown["height"] <= box["height"] + 1
    cell.reset.click()
