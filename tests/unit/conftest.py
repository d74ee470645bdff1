"""The pages that the browser tests of the widgets mount them on."""

import pytest

# So that a failure shows what was compared.
pytest.register_assert_rewrite("widget_harness", "widget_pages")


# For a file at a time: Playwright allows one of itself in a process, and other tests use it too.
@pytest.fixture(scope="module")
def chromium():
    """A Chromium for the tests of one file."""
    from widget_harness import browser  # only where it is used: not every machine has Playwright

    with browser() as running:
        yield running


@pytest.fixture
def page(chromium):
    """A page as wide as a chapter's text."""
    context = chromium.new_context(viewport={"width": 900, "height": 1100})
    yield context.new_page()
    context.close()


@pytest.fixture
def phone(chromium):
    """A page on a phone, with fingers for a mouse."""
    context = chromium.new_context(
        viewport={"width": 390, "height": 900}, has_touch=True, is_mobile=True
    )
    yield context.new_page()
    context.close()
