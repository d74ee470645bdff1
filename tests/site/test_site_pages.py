"""What holds on every page: on a desk and on a phone, light and dark, in a real Chromium."""

from itertools import product

import checks
import pytest
from site_visits import DESKTOP, PAGES, PHONE, scroll_through, visit

pytestmark = pytest.mark.browser
VIEWS = {
    "desk, light": {"size": DESKTOP},
    "desk, dark": {"size": DESKTOP, "dark": True},
    "phone, light": {"size": PHONE},
    "phone, dark": {"size": PHONE, "dark": True},
}
# The search page is no page of the table of contents; the first one only leads to the intro.
ALL = [*PAGES, "search"]


@pytest.fixture(
    scope="module", params=product(ALL, VIEWS), ids=lambda view: f"{view[0]}: {view[1]}"
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


@pytest.mark.parametrize("name", PAGES)
def test_says_something(browser, site, name):
    with visit(browser, f"{site}/{name}.html") as seen:
        assert checks.unfinished(seen.page) == []


@pytest.mark.parametrize("name", PAGES)
def test_is_light_enough_before_any_click(browser, site, name):
    with visit(browser, f"{site}/{name}.html") as seen:
        assert checks.too_heavy(seen) == []
        assert len(checks.weights(seen)) > 5  # the page, its styles and scripts were counted


def test_first_page_leads_to_the_intro(browser, site):
    with visit(browser, f"{site}/index.html") as seen:
        seen.page.wait_for_url(f"{site}/{PAGES[0]}.html")
