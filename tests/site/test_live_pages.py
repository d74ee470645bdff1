"""A page whose cells run: what it loads and when, edits, the keyboard, a phone, a lost network."""

import re
import time
from urllib.parse import urlsplit

import checks
import pytest
from live_pages import Cell, live_site
from pyodide_files import pyodide_folder
from site_visits import CHAPTERS, DESKTOP, PHONE, config, scroll_through, visit

pytestmark = [pytest.mark.browser, pytest.mark.pyodide]
(CHAPTER,) = [name for name in CHAPTERS if name.startswith("chapters/03")]
(OTHER,) = [name for name in CHAPTERS if name.startswith("chapters/04")]
FIRST, SECOND, LATER, PLOT = "embeddings-code", "project-loop", "project-matrix", "heatmap-code"
SAME_NAME = "rounding-code"  # in both chapters
UNFINISHED = "x = 5 *\nprint('grüße'"


@pytest.fixture(scope="module")
def root(html, tmp_path_factory):
    with live_site(tmp_path_factory.mktemp("live")) as address:
        yield address


@pytest.fixture(scope="module")
def address(root):
    return f"{root}/{CHAPTER}.html"


def test_nothing_is_loaded_before_the_click(browser, address):
    with visit(browser, address) as seen:
        scroll_through(seen.page)
        loaded = {r.url.split("/")[-1] for r in seen.responses if "/_live/" in r.url}
        assert {"start.js"} <= loaded <= {"start.js", "live.css"}
        assert seen.page.workers == []
        script = next(r for r in seen.responses if r.url.endswith("start.js"))
        assert checks.weights(seen)[script.url] < 5_000
        assert not seen.page.evaluate("crossOriginIsolated")


def test_from_the_click_to_the_first_result(browser, address):
    """What the button says is downloaded is what comes; it is told how long it takes."""
    with visit(browser, address) as seen:
        cell = Cell(seen.page, FIRST)
        said = float(re.search(r"([\d.]+) MB", cell.button.inner_text())[1])
        before = len(seen.responses)
        start = time.monotonic()
        cell.run()
        print(f"from the click to the first result of NumPy: {time.monotonic() - start:.1f} s")
        assert cell.text().startswith("        first second")
        came = [r.request.sizes()["responseBodySize"] for r in seen.responses[before:]]
        assert sum(came) / 1e6 == pytest.approx(said, rel=0.1)


def test_edits_outlive_a_reload_and_can_be_taken_back(browser, address, root):
    with visit(browser, address) as seen:
        page = seen.page
        cell, endless = Cell(page, FIRST), Cell(page, SECOND)
        cell.run()
        stored = cell.text()
        original = cell.code()
        assert not cell.reset.is_visible()
        endless.write("print('begun', flush=True)\nwhile True:\n    pass")
        endless.button.click()
        endless.output.get_by_text("begun").wait_for()
        Cell(page, SAME_NAME).write("1")
        cell.write(UNFINISHED)
        page.reload()  # in the middle of things
        assert cell.element.locator(".cell_input pre").inner_text() == UNFINISHED
        assert cell.status.inner_text() == "As you left it."
        as_shown = cell.element.locator(".cell_input pre")
        for name, code in (("Undo reset", original), ("Reset", UNFINISHED)):
            cell.reset.click()
            assert cell.reset.inner_text() == name
            assert as_shown.inner_text().strip() == code.strip()
        assert page.workers == []
        assert "SyntaxError" in cell.run()
        assert cell.code() == UNFINISHED

        cell.reset.click()
        assert cell.code() == original
        assert cell.text() == stored
        assert cell.reset.inner_text() == "Undo reset"
        cell.reset.click()
        assert cell.code() == UNFINISHED
        cell.reset.click()
        cell.editor.press("Control+z")
        assert cell.code() == UNFINISHED
        cell.reset.click()
        page.goto(f"{root}/{OTHER}.html")
        assert Cell(page, SAME_NAME).status.inner_text() == ""  # the edit was in another chapter
        page.goto(address)
        assert cell.status.inner_text() == ""
        assert Cell(page, SAME_NAME).status.inner_text() == "As you left it."


def test_a_reset_before_python_can_be_undone_after_it(browser, address):
    with visit(browser, address) as seen:
        cell, other = Cell(seen.page, FIRST), Cell(seen.page, SECOND)
        cell.run()
        original = cell.code()
        cell.write("print('mine')")
        seen.page.reload()
        cell.reset.click()
        other.run()
        assert cell.code() == original
        assert cell.reset.inner_text() == "Undo reset"
        cell.reset.click()
        assert cell.code() == "print('mine')"
        assert cell.run() == "mine"


def test_code_can_be_changed_before_python_is_there(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        cell, other = Cell(page, FIRST), Cell(page, SECOND)
        named = cell.button.get_attribute("aria-label")
        cell.edit.focus()
        page.keyboard.press("Enter")
        cell.editor.wait_for()
        assert cell.editor.evaluate("editor => editor === document.activeElement")
        page.keyboard.press("Control+a")
        page.keyboard.insert_text("print('mine')")
        assert cell.status.inner_text() == ""
        assert page.locator(".live-edit").count() == 0
        assert page.workers == []
        for one in (cell, other):  # the download is still to come
            assert re.fullmatch(r"Run\s*\d+ MB once", one.button.inner_text())
        cell.reset.click()
        cell.reset.click()
        assert cell.button.get_attribute("aria-label") == named
        assert checks.accessibility(page) == []
        assert cell.run() == "mine"
        assert cell.button.inner_text() == other.button.inner_text() == "Run"
        assert "MB" not in other.button.get_attribute("aria-label")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_nothing_moves_when_the_editor_comes(browser, address, size):
    with visit(browser, address, size=size) as seen:
        cell = Cell(seen.page, FIRST)
        places = [cell.element, cell.element.locator(".cell_input"), cell.button]
        height = [place.bounding_box()["height"] for place in places]
        cell.edit.click()
        cell.editor.wait_for()
        assert [place.bounding_box()["height"] for place in places] == pytest.approx(height)


COUNT_WRITES = """() => {
    window.writes = 0;
    for (const name of ["setItem", "removeItem"]) {
        const write = Storage.prototype[name];
        Storage.prototype[name] = function (...args) { writes++; return write.apply(this, args); };
    }
}"""


def test_two_tabs_show_the_same_code(browser, address):
    with visit(browser, address) as seen:
        cell = Cell(seen.page, FIRST)
        cell.run()
        second = seen.page.context.new_page()
        second.goto(address)
        there = Cell(second, FIRST)
        there.run()
        there.write("print('there')")
        cell.status.filter(has_text="Changed in another tab.").wait_for()
        assert cell.code() == "print('there')"
        second.evaluate(COUNT_WRITES)
        cell.editor.press("Control+End")
        seen.page.keyboard.type("  # and here")
        there.status.filter(has_text="Changed in another tab.").wait_for()
        there.editor.filter(has_text="and here").wait_for()  # letter by letter
        assert there.code() == cell.code() == "print('there')  # and here"
        # What a tab stored again would reach the first tab late, and undo the letters since.
        assert second.evaluate("writes") == 0


def test_a_tab_where_nothing_ran_yet_shows_what_was_written_since(browser, address):
    with visit(browser, address) as seen:
        cell = Cell(seen.page, FIRST)
        cell.run()
        cell.write("print('one')")
        second = seen.page.context.new_page()
        second.goto(address)
        there = Cell(second, FIRST)
        as_shown = there.element.locator(".cell_input pre")
        assert as_shown.inner_text() == "print('one')"
        cell.write("print('two')")
        as_shown.filter(has_text="two").wait_for()
        assert there.status.inner_text() == "Changed in another tab."
        there.reset.click()
        there.reset.click()
        assert as_shown.inner_text() == "print('two')"
        assert cell.code() == "print('two')"
        cell.reset.click()
        as_shown.filter(has_not_text="two").wait_for()
        assert not there.reset.is_visible()


def test_tab_passes_through_cells_that_are_only_passed(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        cell, second = Cell(page, FIRST), Cell(page, SECOND)
        cell.run()
        before = second.code()
        cell.editor.focus()
        for _ in range(8):
            page.keyboard.press("Tab")
        assert second.code() == before
        second.editor.focus()
        page.keyboard.press("Tab")
        assert second.button.evaluate("button => button === document.activeElement")
        second.editor.click()
        page.keyboard.press("Tab")
        assert second.code() != before


def test_a_plot_that_was_drawn_on_the_page_can_be_enlarged(browser, address):
    with visit(browser, address, size=PHONE) as seen:
        cell = Cell(seen.page, PLOT)
        cell.run()
        cell.output.locator("img").click()
        assert seen.page.locator("dialog.enlarged img").is_visible()
        seen.page.get_by_role("button", name="Close").click()
        assert seen.page.locator("dialog.enlarged").count() == 0


def test_on_paper_no_code_is_cut_off(browser, address):
    with visit(browser, address, size=(718, 900)) as seen:  # A4 with margins of 10 mm
        page = seen.page
        cell = Cell(page, FIRST)
        cell.run()
        cell.write("print('" + "a long line, and " * 20 + "its end')")
        scroll_through(page)
        page.emulate_media(media="print")
        assert page.locator(".cm-editor").count() > 10
        wide = page.locator(".cm-line, .cm-content").evaluate_all(
            "lines => lines.filter((line) => line.scrollWidth > line.clientWidth + 1).length"
        )
        assert wide == 0
        measures = page.locator(".live-editor").first.evaluate(
            """box => {
              const text = document.createRange();
              text.selectNodeContents(box.querySelector(".cm-content"));
              return [text.getBoundingClientRect().right, box.getBoundingClientRect().right];
            }"""
        )
        assert measures[0] <= measures[1]


def test_the_keyboard(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        cell, second = Cell(page, FIRST), Cell(page, SECOND)
        cell.button.focus()
        page.keyboard.press("Enter")
        cell.wait("Done")
        cell.write("def f():")
        page.keyboard.press("Enter")
        page.keyboard.type("return 6")
        page.keyboard.press("Control+Enter")
        cell.wait("Done")
        assert cell.code() == "def f():\n    return 6"
        page.keyboard.press("Home")
        page.keyboard.press("Tab")  # indents
        assert cell.code() == "def f():\n        return 6"
        page.keyboard.press("Control+z")
        page.keyboard.press("Shift+Enter")
        assert second.editor.evaluate("editor => editor === document.activeElement")
        cell.wait("Done")
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")  # leaves
        assert second.button.evaluate("button => button === document.activeElement")
        assert "Escape, then Tab" in second.editor.get_attribute("aria-description")


def test_a_page_that_ran_is_accessible_and_fits(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        Cell(page, PLOT).run()
        cell = Cell(page, FIRST)
        cell.write("print('long ' * 60)\nimport torch  # " + "long " * 40)
        cell.run()
        Cell(page, LATER).run()  # it waited for the one before, and says so
        scroll_through(page)
        assert page.locator(".cm-editor").count() == page.locator(".live-bar").count()
        assert Cell(page, PLOT).output.locator("img").get_attribute("alt").startswith("Heat map")
        lacks = page.locator(".live-lacks")
        assert "Needs PyTorch" in lacks.first.inner_text()
        assert "colab.research.google.com" in lacks.first.locator("a").get_attribute("href")
        assert checks.accessibility(page) == []
        assert checks.sideways(page) == []
        page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        scroll_through(page)
        assert checks.accessibility(page) == []
        assert checks.sideways(page) == []


def test_a_file_has_no_buttons(browser, html):
    with visit(browser, (html / f"{CHAPTER}.html").as_uri()) as seen:
        assert seen.page.locator(".live-bar, .live-run").count() == 0
        assert seen.page.locator(".live-lacks:visible").count() == 0


def test_without_scripts_there_is_nothing_to_press(browser, address):
    with visit(browser, address, scripts=False) as seen:
        assert seen.page.locator(".live-bar:visible, .live-lacks:visible").count() == 0


def test_the_content_network_when_it_fails_and_when_it_answers(browser, html, site):
    """The site as it is published: from elsewhere it takes files by their hashes only."""
    place = config()["sphinx"]["config"]["live_pyodide"]
    broken = {"python_stdlib.zip": "abort", "pyodide.asm.wasm": "fulfill"}
    with visit(browser, f"{site}/{CHAPTER}.html") as seen:

        def answer(route):
            name = urlsplit(route.request.url).path.split("/")[-1]
            headers = {"Access-Control-Allow-Origin": "*"}
            if name.endswith(".wasm"):
                headers["Content-Type"] = "application/wasm"
            how = broken.pop(name, None)
            if how == "abort":
                return route.abort()
            content = (pyodide_folder() / name).read_bytes()
            return route.fulfill(body=content[:-1] if how else content, headers=headers)

        seen.page.unroute_all()
        seen.page.context.route(f"{place}**", answer)
        cell = Cell(seen.page, FIRST)
        cell.run()
        assert cell.status.inner_text().startswith("Python could not be loaded")
        assert "Run tries again" in cell.status.inner_text()
        assert seen.page.workers == []
        assert "first second" in cell.run()
        assert {urlsplit(url).netloc for url in seen.foreign} == {urlsplit(place).netloc}


@pytest.mark.parametrize("word", ["Run", "Edit"])
def test_a_script_that_does_not_load_is_asked_for_again(browser, address, word):
    with visit(browser, address) as seen:
        seen.page.context.route("**/page.js", lambda route: route.abort())
        cell = Cell(seen.page, FIRST)
        pressed = cell.element.get_by_role("button", name=word)
        pressed.click()
        cell.wait(f"This could not be loaded. Is there a connection? {word} tries again.")
        pressed.click()  # under another address
        if word == "Run":
            cell.wait("Starting Python")
        else:
            cell.editor.wait_for()
