"""The indexes of figures and widgets hold all that the chapters show."""

import json
from types import SimpleNamespace

import picture_index
import pytest
import widget_index
from bs4 import BeautifulSoup
from docutils import nodes
from parsed import parsed
from site_visits import CHAPTERS, ROOT


def notebook(page):
    return json.loads((ROOT / f"{page}.ipynb").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def figures(html):
    """The links of the index of figures, by the page that they lead to."""
    found = {}
    for link in parsed(html, "book/index_figures").select(".gallery a"):
        found.setdefault(link["href"].removeprefix("../").partition(".html")[0], []).append(link)
    return found


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_figure_of_a_chapter_is_in_the_index(html, figures, page):
    shown = parsed(html, page).select("article img")
    listed = figures.get(page, [])
    assert [link.img["src"] for link in listed] == [image["src"] for image in shown]
    for link, image in zip(listed, shown, strict=True):
        assert link.img["alt"] == image["alt"] != ""
        assert link.get_text().strip() != ""
        place = parsed(html, page).find(id=link["href"].partition("#")[2])
        assert image["src"] in {i["src"] for i in place.find_all("img")}


def test_a_book_has_figures(figures):
    assert sum(map(len, figures.values())) > 20


def test_a_chapter_without_pictures_has_no_heading():
    text = {"cell_type": "markdown", "source": "# A"}
    drawn = {"outputs": [{"data": {"image/svg+xml": "<svg/>"}}]}
    attached = {"cell_type": "markdown", "attachments": {"a.svg": {}}}
    assert not picture_index.has_pictures({"cells": [text, {"outputs": [{"text": "1"}]}]})
    assert picture_index.has_pictures({"cells": [text, drawn]})
    assert picture_index.has_pictures({"cells": [text, attached]})


def test_hostile_texts_of_figures_stay_texts():
    where = SimpleNamespace(page="chapters/01_a", id="x", title="<b>bold</b>")
    image = nodes.image(uri="a.svg", alt='"><script>1</script>', width="9", height="9")
    env = SimpleNamespace(images={"a.svg": (set(), "a.svg")})
    item = BeautifulSoup(picture_index.gallery(env, [(image, where)]), "html.parser")
    assert item.find("script") is None
    assert item.find("b") is None
    assert item.img["alt"] == '"><script>1</script>'


@pytest.fixture(scope="module")
def rows(html):
    """The rows of the index of widgets: {name: (purpose, links)}."""
    found = {}
    for row in parsed(html, "book/index_widgets").select("tbody tr"):
        name, purpose, where = row.find_all("td")
        links = [link["href"].removeprefix("../") for link in where.find_all("a")]
        found[name.get_text()] = (purpose.get_text(), links)
    return found


def test_every_widget_of_a_chapter_is_in_the_index(rows, html):
    for page in CHAPTERS:
        for name, cell in widget_index.shown(notebook(page)):
            purpose, links = rows[widget_index.spoken(name)]
            assert len(purpose.split()) > 3
            assert any(link.startswith(f"{page}.html#") for link in links), (page, name)
            assert parsed(html, page).find(id=cell).select_one(".widget") is not None


def test_every_place_in_the_index_shows_a_widget(rows, html):
    assert len(rows) > 10
    for name, (_, links) in rows.items():
        for link in links:
            page, _, cell = link.partition(".html#")
            assert parsed(html, page).find(id=cell).select_one(".widget") is not None, (name, link)
