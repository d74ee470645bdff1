"""Reading in other ways: enlarged, on paper, on a narrow screen, on a slow line."""

import checks
import pytest
from site_visits import CHAPTERS, PAGES, PHONE, visit

pytestmark = pytest.mark.browser
CHAPTER = "chapters/03_worked_example"
PICTURE_LIMIT = 150_000  # bytes, unpacked
CHOICES = ["right", "wrong", "only if"]


@pytest.fixture
def chapter(browser, site):
    """A chapter that is open."""
    with visit(browser, f"{site}/{CHAPTER}.html") as seen:
        yield seen.page


@pytest.mark.parametrize("name", [*PAGES, "search"])
def test_enlarged_twice_and_four_times_nothing_is_lost(browser, site, name):
    with visit(browser, f"{site}/{name}.html", size=(640, 450)) as seen:
        assert checks.sideways(seen.page) == []
        seen.page.set_viewport_size({"width": 320, "height": 256})
        assert checks.sideways(seen.page) == []
        assert checks.dead_widgets(seen.page) == []


def test_no_picture_is_heavy(html):
    sizes = {file.name: file.stat().st_size for file in (html / "_images").iterdir()}
    assert len(sizes) >= 20
    assert {name: size for name, size in sizes.items() if size > PICTURE_LIMIT} == {}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_links_one_style_sheet_and_no_script_holds_it_up(html, name):
    head = (html / f"{name}.html").read_text(encoding="utf-8").partition("</head>")[0]
    assert head.count('rel="stylesheet"') == 1
    scripts = [part.partition(">")[0] for part in head.split("<script ")[1:]]
    loaded = [script for script in scripts if "src=" in script]
    assert len(loaded) >= 5
    assert [s for s in loaded if "defer" not in s and 'type="module"' not in s] == []


@pytest.mark.parametrize("place", ["", "#exercises", "#summary"])
def test_the_whole_page_is_laid_out_in_the_end_and_links_lead_to_their_place(browser, site, place):
    with visit(browser, f"{site}/{CHAPTER}.html{place}") as seen:
        skipped = """() => [...document.querySelectorAll("article section")].filter((one) =>
          getComputedStyle(one).contentVisibility === "auto").length"""
        assert seen.page.evaluate(skipped) == 0
        if place:
            assert 0 <= seen.page.locator(place).bounding_box()["y"] < 200


def test_sections_further_down_wait_until_the_page_is_loaded(browser, site):
    with visit(browser, f"{site}/{CHAPTER}.html") as seen:
        seen.page.evaluate("document.documentElement.removeAttribute('data-whole')")
        styles = seen.page.locator(".bd-article > section > section").evaluate_all(
            "all => all.map((one) => getComputedStyle(one).contentVisibility)"
        )
    assert styles[:4] == ["visible"] * 4  # they may be all of a short page
    assert len(styles) > 10
    assert set(styles[4:]) == {"auto"}


def test_paper_is_light_even_if_the_page_is_dark(browser, site):
    theme = "document.documentElement.dataset.theme"
    with visit(browser, f"{site}/{CHAPTER}.html", dark=True) as seen:
        assert seen.page.evaluate(theme) == "dark"
        seen.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert seen.page.evaluate(theme) == "light"
        seen.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert seen.page.evaluate(theme) == "dark"


@pytest.mark.parametrize("name", CHAPTERS)
def test_solutions_are_printed_unless_the_reader_wants_them_away(browser, site, name):
    with visit(browser, f"{site}/{name}.html") as seen:
        code = seen.page.locator(".tag_solution pre").first
        seen.page.emulate_media(media="print")
        assert code.is_visible()
        assert not seen.page.get_by_label("Print them too").is_visible()
        seen.page.emulate_media(media="screen")
        seen.page.get_by_label("Print them too").uncheck()
        seen.page.emulate_media(media="print")
        assert not code.is_visible()
        assert not seen.page.locator(".tag_solution summary").first.is_visible()


def test_a_button_opens_and_closes_all_solutions(chapter):
    solutions = chapter.locator(".tag_solution details")
    chapter.get_by_role("button", name="Open all solutions").click()
    assert solutions.evaluate_all("all => all.every((one) => one.open)")
    solutions.first.locator("summary").click()
    chapter.get_by_role("button", name="Open all solutions").click()
    chapter.get_by_role("button", name="Close all solutions").click()
    assert not solutions.evaluate_all("all => all.some((one) => one.open)")
    assert checks.accessibility(chapter) == []


def test_paper_has_the_choices_of_a_statement_and_the_verdict(browser, site):
    with visit(browser, f"{site}/chapters/15_misconceptions.html") as seen:
        statement = seen.page.locator(".widget", has=seen.page.locator(".mt-statement")).first
        statement.scroll_into_view_if_needed()
        statement.get_by_role("button", name="only if").wait_for()
        verdict = statement.locator("+ .widget-table").get_by_text("It compares vectors")
        assert not verdict.is_visible()
        seen.page.emulate_media(media="print")
        assert [one.inner_text() for one in statement.get_by_role("button").all()] == CHOICES
        assert verdict.is_visible()
        seen.page.emulate_media(media="screen")
        seen.page.get_by_label("Print them too").uncheck()
        seen.page.emulate_media(media="print")
        assert not verdict.is_visible()


def test_paper_has_the_statements_to_vote_on_with_their_answers(browser, site):
    with visit(browser, f"{site}/book/teaching_classroom.html") as seen:
        statement = seen.page.locator("details.vote").first
        answer = statement.locator("p")
        assert statement.locator("summary").is_visible()
        assert not answer.is_visible()
        seen.page.emulate_media(media="print")
        assert statement.locator("summary").is_visible()
        assert answer.is_visible()


def test_a_tap_enlarges_a_figure_on_a_phone(browser, site):
    with visit(browser, f"{site}/{CHAPTER}.html", size=PHONE) as seen:
        link = seen.page.locator(".cell_output a.image-reference").first
        link.click()
        dialog = seen.page.get_by_role("dialog", name="Enlarged figure")
        assert dialog.get_by_role("img").bounding_box()["width"] == 2 * PHONE[0]
        assert checks.accessibility(seen.page) == []
        dialog.get_by_role("button", name="Close").click()
        assert dialog.count() == 0
        assert link.evaluate("(link) => link === document.activeElement")
        link.press("Enter")
        seen.page.keyboard.press("Escape")
        assert dialog.count() == 0
        assert seen.complaints == []


def test_paper_shows_all_of_the_code_and_widgets_once(browser, site):
    with visit(browser, f"{site}/chapters/12_reading_heads.html") as seen:
        seen.page.emulate_media(media="print")
        cut = """() => [...document.querySelectorAll("article pre")].filter((one) =>
          one.offsetParent && one.scrollWidth > one.clientWidth + 1).length"""
        assert seen.page.evaluate(cut) == 0
        assert seen.page.locator(".widget-view").first.is_visible()
        assert not seen.page.locator(".widget-table").first.is_visible()


def test_paper_without_scripts_shows_the_tables_of_widgets(browser, site):
    with visit(browser, f"{site}/{CHAPTER}.html", scripts=False) as seen:
        seen.page.emulate_media(media="print")
        assert seen.page.locator(".widget-table table").first.is_visible()


def test_what_scrolls_sideways_fades_where_it_goes_on(browser, site):
    with visit(browser, f"{site}/chapters/11_images.html", size=PHONE) as seen:
        box = seen.page.locator("article .cell_output pre[data-more-right]").first
        mask = "box => getComputedStyle(box).maskImage"
        assert "to left" in box.evaluate(mask)
        box.evaluate("box => box.scrollTo(9999, 0)")
        moved = seen.page.locator("article .cell_output pre[data-more-left]").first
        moved.wait_for()
        assert moved.get_attribute("data-more-right") is None
        assert "to right" in moved.evaluate(mask)
        narrow = seen.page.locator("article pre:not([data-more-right], [data-more-left])")
        assert narrow.first.evaluate(mask) == "none"


def test_the_health_of_the_chapters_fades_where_it_goes_on(browser, site):
    with visit(browser, f"{site}/book/health.html", size=PHONE) as seen:
        assert seen.page.locator("article .health[data-more-right]").count() == 1


def test_a_formula_too_wide_is_reached_by_keyboard(browser, site):
    with visit(browser, f"{site}/chapters/04_scaling.html", size=PHONE) as seen:
        box = seen.page.locator("article div.math").first
        assert box.evaluate("box => [box.scrollWidth > box.clientWidth, box.tabIndex].join()") == (
            "false,-1"
        )
        box.evaluate("box => { box.style.width = '5rem'; }")
        seen.page.locator("article div.math[tabindex='0']").first.wait_for()
        assert box.get_attribute("data-more-right") is not None
        assert checks.sideways(seen.page) == []
