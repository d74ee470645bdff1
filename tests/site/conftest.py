"""The built site on a server, and a Chromium to read it with."""

import pytest
from playwright.sync_api import sync_playwright
from site_visits import CHROMIUM, FLAGS, HTML, served

pytest.register_assert_rewrite("every_page")  # so that a failure shows what a check found


@pytest.fixture(scope="session")
def html():
    """The folder of the built site."""
    if not (HTML / "index.html").is_file():
        pytest.fail(f"the site is not built: no {HTML}/index.html. Run `make book` first.")
    return HTML


@pytest.fixture(scope="session")
def site(html):
    """The address of the built site."""
    with served(html) as address:
        yield address


# For a file at a time: Playwright allows one of itself in a process, and other tests use it too.
@pytest.fixture(scope="module")
def browser():
    """A Chromium for the tests of one file."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()
