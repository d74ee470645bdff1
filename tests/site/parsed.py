"""Pages of the built site as trees, each parsed once."""

from functools import cache

from bs4 import BeautifulSoup


@cache
def parsed(html, page):
    """The tree of a page (named without ending) under ``html``; only to be looked at."""
    return BeautifulSoup((html / f"{page}.html").read_text(encoding="utf-8"), "html.parser")
