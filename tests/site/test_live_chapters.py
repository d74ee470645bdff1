"""All cells that run on the pages, chapter after chapter: they print and show what is stored."""

import json

import pytest
from bs4 import BeautifulSoup
from live_pages import OUTPUTS, Cell, live_site
from site_visits import CHAPTERS, DESKTOP, ROOT

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


@pytest.fixture(scope="module")
def page(browser):
    """One page for all chapters, with its cache: a page whose requests are held up has none."""
    context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
    yield context.new_page()
    context.close()


@pytest.fixture
def complaints(page):
    """What the console says in the course of a test."""
    found = []

    def note(message):
        if message.type in ("error", "warning"):
            found.append(message.text)

    page.on("console", note)
    yield found
    page.remove_listener("console", note)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_browser_computes_what_is_stored(page, complaints, address, chapter):
    page.goto(f"{address}/{chapter}.html")
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
    assert complaints == []


@pytest.mark.parametrize(
    ("chapter", "at_least"), [("03", 20), ("02", 14), ("04", 14), ("07", 8), ("09", 9)]
)
def test_what_needs_only_numpy_runs_on_the_page(html, chapter, at_least):
    """Of these chapters the book promises it; their exercises come in addition."""
    (name,) = [one for one in CHAPTERS if one.startswith(f"chapters/{chapter}")]
    page = BeautifulSoup((html / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
    cells = [bar.parent["class"] for bar in page.find_all(class_="live-bar")]
    exercises = sum("tag_exercise" in cell or "tag_check" in cell for cell in cells)
    assert exercises >= 6
    assert len(cells) - exercises >= at_least
