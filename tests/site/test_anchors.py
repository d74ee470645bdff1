"""Addresses that readers may have kept stay good: the list of places against the built site."""

import anchors
import moved
import pytest
from site_visits import ROOT


@pytest.fixture(scope="module")
def there(html):
    """The places of the built site."""
    return anchors.of_site(html)


def lost(listed, there, gone):
    """Places of the list that are neither there nor said to have moved."""
    return sorted(place for place in listed - there if not _leads_on(place, there, gone))


def _leads_on(place, there, gone):
    page, name = moved.parted(place)
    if (page, name) in gone:
        return True
    new = gone.get((page, ""))
    return new is not None and f"{new[0]}#{name}" in there


def test_no_place_is_lost(there):
    found = lost(anchors.listed(anchors.LIST), there, moved.read(ROOT))
    assert found == [], "say in book/moved.yml where these places went"


def test_every_place_is_listed(there):
    assert sorted(there - anchors.listed(anchors.LIST)) == [], "new places: make anchors"
    assert len(there) > 500


def test_a_place_that_goes_or_moves_is_noticed():
    listed, there = {"book/a#x", "book/a#y", "book/b#z"}, {"book/a#x", "book/a#new"}
    assert lost(listed, there, {}) == ["book/a#y", "book/b#z"]
    assert lost(listed, there, {("book/b", "z"): ("book/a", "x")}) == ["book/a#y"]
    page_moved = {("book/b", ""): ("book/a", "")}
    assert lost(listed, there, page_moved) == ["book/a#y", "book/b#z"]
    assert lost(listed, there | {"book/a#z"}, page_moved) == ["book/a#y"]


def test_the_list_only_grows(tmp_path):
    page, file = tmp_path / "html" / "book" / "a.html", tmp_path / "anchors.txt"
    page.parent.mkdir(parents=True)
    page.write_text(
        '<li id="menu"></li><article class="bd-article"><section class="x" id="one">'
        '<h2 id="h"></h2><div class="cell tag_x docutils container" id="two"><dt id="term-a"></dt>'
        '<li id="vig-2019"></li></section></article>'
    )
    file.write_text("book/a#gone\n")
    assert anchors.add(tmp_path / "html", file) == (1, 4)
    expected = ["gone", "one", "term-a", "two", "vig-2019"]
    assert file.read_text().split() == [f"book/a#{place}" for place in expected]
    assert anchors.add(tmp_path / "html", file) == (5, 0)
