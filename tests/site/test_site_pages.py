"""What holds on every page: on a desk and on a phone, light and dark, in a real Chromium."""

import checks
import pytest
from site_visits import CHAPTERS, DESKTOP, PAGES, PHONE, scroll_through, visit

pytestmark = pytest.mark.browser
VIEWS = {
    "desk, light": {"size": DESKTOP},
    "desk, dark": {"size": DESKTOP, "dark": True},
    "phone, light": {"size": PHONE},
    "phone, dark": {"size": PHONE, "dark": True},
}
# The search page is no page of the table of contents; the first one only leads to the intro.
ALL = [*PAGES, "search"]
# The frame is the same on every page and an article is the same at every width, so that two views
# of a chapter find what four would, once the first chapter has been seen in all four.
PAIR = ("desk, light", "phone, dark")


def views(name):
    """The views in which a page is looked at."""
    return PAIR if name in CHAPTERS[1:] else VIEWS


@pytest.fixture(
    scope="module",
    params=[(name, view) for name in ALL for view in views(name)],
    ids=": ".join,
)
def seen(request, browser, site):
    """A page as it looks after all of it has been seen once."""
    name, view = request.param
    with visit(browser, f"{site}/{name}.html", **VIEWS[view]) as seen:
        scroll_through(seen.page)
        yield seen


def test_asks_no_other_host(seen):
    assert checks.foreign_requests(seen) == []


def test_console_is_silent_and_nothing_is_missing(seen):
    assert checks.complaints(seen) == []


def test_no_rule_of_axe_is_broken(seen):
    assert checks.accessibility(seen.page) == []


def test_nothing_is_too_wide(seen):
    assert checks.sideways(seen.page) == []


def test_widgets_are_alive(seen):
    assert checks.dead_widgets(seen.page) == []


def test_pictures_speak_and_wait(seen):
    assert checks.pictures(seen.page) == []


def test_callouts_are_boxes(seen):
    assert checks.callouts(seen.page) == []


def test_formulas_are_set(seen):
    assert checks.mathematics(seen.page) == []


def test_icons_have_pictures(seen):
    assert checks.icons(seen.page) == []


def test_keyboard_reaches_all_and_shows_where(seen):
    assert checks.keyboard(seen.page) == []


@pytest.fixture(scope="module", params=PAGES)
def opened(request, browser, site):
    """A page that was opened and not touched yet."""
    with visit(browser, f"{site}/{request.param}.html") as seen:
        yield seen


def test_says_something(opened):
    assert checks.unfinished(opened.page) == []


def test_is_light_enough_before_any_click(opened):
    assert checks.too_heavy(opened) == []
    assert len(checks.weights(opened)) > 5  # the page, its styles and scripts were counted


def test_first_page_leads_to_the_intro(browser, site):
    with visit(browser, f"{site}/index.html") as seen:
        seen.page.wait_for_url(f"{site}/{PAGES[0]}.html")
