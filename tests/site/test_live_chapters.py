"""All cells that run on the pages, chapter after chapter: they print and show what is stored."""

import json

import pytest
from live_pages import OUTPUTS, Cell, live_site
from site_visits import CHAPTERS, ROOT, visit

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]
# A cell whose stored output is not compared anywhere is not compared here either.
UNCOMPARED = "nbval-ignore-output"


@pytest.fixture(scope="module")
def address(html, tmp_path_factory):
    with live_site(tmp_path_factory.mktemp("live")) as address:
        yield address


def uncompared(chapter):
    notebook = json.loads((ROOT / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    cells = notebook["cells"]
    return {cell["id"] for cell in cells if UNCOMPARED in cell["metadata"].get("tags", [])}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_browser_computes_what_is_stored(browser, address, chapter):
    with visit(browser, f"{address}/{chapter}.html") as seen:
        page = seen.page
        stored = page.evaluate(OUTPUTS)
        # Running the last one runs all of them, the earlier ones first.
        last = Cell(page, list(stored)[-1])
        last.run(seconds=240)
        assert last.status.inner_text().startswith("Done")
        shown = page.evaluate(OUTPUTS)
        assert shown.keys() == stored.keys()
        for name in stored.keys() - uncompared(chapter):
            assert shown[name] == stored[name], name
        fresh = page.locator(".live-bar ~ .cell_output[data-live]").count()
        assert fresh == page.locator(".live-bar").count()  # what stands there is from this run
        assert seen.complaints == []
        assert seen.foreign == []


def test_the_chapters_that_need_numpy_only_run_on_the_page(browser, address):
    """Of these the book promises it; the first has one cell for PyTorch."""
    for chapter, at_least in (("03", 20), ("02", 14), ("04", 14), ("07", 8), ("09", 9)):
        (name,) = [one for one in CHAPTERS if one.startswith(f"chapters/{chapter}")]
        with visit(browser, f"{address}/{name}.html") as seen:
            exercises = seen.page.locator("div:is(.tag_exercise, .tag_check) > .live-bar").count()
            assert exercises >= 6
            assert seen.page.locator(".live-bar").count() - exercises >= at_least
