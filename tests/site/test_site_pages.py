"""What holds on every page as it is opened. What holds once it has been seen: every_page.py."""

import checks
import pytest
from site_visits import CHAPTERS, PAGES, PHONE, visit

pytestmark = pytest.mark.browser


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


@pytest.mark.parametrize("dark", [False, True])
def test_the_button_of_the_way_back_can_be_read(browser, site, dark):
    with visit(browser, f"{site}/{CHAPTERS[0]}.html", size=PHONE, dark=dark) as seen:
        seen.page.evaluate("scrollTo(0, 9000)")
        button = seen.page.get_by_role("button", name="Back to top")
        seen.page.wait_for_function(  # it appears on the way up
            """() => {
              scrollBy(0, -50);
              return document.querySelector("#pst-back-to-top").style.display === "block";
            }"""
        )
        assert button.is_visible()
        assert checks.accessibility(seen.page) == []
        button.click()
        seen.page.wait_for_function("() => scrollY === 0")


def test_first_page_leads_to_the_intro(browser, site):
    with visit(browser, f"{site}/index.html") as seen:
        seen.page.wait_for_url(f"{site}/{PAGES[0]}.html")
