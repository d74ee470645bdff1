"""What holds on every page on a phone, light and dark, in a real Chromium."""

import pytest
from every_page import EveryPage, seen_on

pytestmark = pytest.mark.browser
seen = seen_on("phone")


class TestPhone(EveryPage):
    """All tests of every page."""
