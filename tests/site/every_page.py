"""What holds on every page, for the two files that look at the pages: on a desk, on a phone.

Looking at all pages takes longer than all else on the site. Test files are shared out among the
workers whole, so the views are parted into two files of equal length.
"""

import checks
import pytest
from site_visits import CHAPTERS, DESKTOP, PAGES, PHONE, scroll_through, visit

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


def looks(device):
    """Pairs of page and view in which the pages are looked at on a ``"desk"`` or ``"phone"``."""
    pairs = [(name, view) for name in ALL for view in _views(name) if view.startswith(device)]
    assert len(pairs) >= len(ALL), f"a page is never seen on a {device}"
    return pairs


def _views(name):
    return PAIR if name in CHAPTERS[1:] else VIEWS


def seen_on(device):
    """The fixture ``seen``: a page as it looks after all of it has been seen once."""

    @pytest.fixture(scope="module", params=looks(device), ids=": ".join)
    def seen(request, browser, site):
        name, view = request.param
        with visit(browser, f"{site}/{name}.html", **VIEWS[view]) as seen:
            scroll_through(seen.page)
            yield seen

    return seen


class EveryPage:
    """The tests; a file gives them its fixture ``seen``."""

    def test_asks_no_other_host(self, seen):
        assert checks.foreign_requests(seen) == []

    def test_console_is_silent_and_nothing_is_missing(self, seen):
        assert checks.complaints(seen) == []

    def test_no_rule_of_axe_is_broken(self, seen):
        assert checks.accessibility(seen.page) == []

    def test_every_anchor_is_there_once(self, seen):
        assert checks.doubled_ids(seen.page) == []

    def test_nothing_is_too_wide(self, seen):
        assert checks.sideways(seen.page) == []

    def test_widgets_are_alive(self, seen, checked):
        checked(seen.address, "widgets", seen.page.locator(".widget").count())
        assert checks.dead_widgets(seen.page) == []

    def test_pictures_speak_and_wait(self, seen):
        assert checks.pictures(seen.page) == []

    def test_callouts_are_boxes(self, seen):
        assert checks.callouts(seen.page) == []

    def test_formulas_are_set(self, seen):
        assert checks.mathematics(seen.page) == []

    def test_icons_have_pictures(self, seen):
        assert checks.icons(seen.page) == []

    def test_keyboard_reaches_all_and_shows_where(self, seen):
        assert checks.keyboard(seen.page) == []
