"""The path of the book on its first page: what it draws, and where its numbers come from."""

import json
from pathlib import Path

import pytest
from book_path import count, minutes_of_reading, picture, read_path, table
from bs4 import BeautifulSoup
from site_visits import ROOT

YML = """\
- stretch: The beginning
  chapters:
    - {file: 01_a, title: Not yet, asks: "What is a?"}
    - {file: 02_b, title: Later & more, asks: "What is <b>?"}
- stretch: The end
  chapters:
    - {file: 03_c, title: Last, asks: "What is c?"}
"""


def notebook(words=0, lines=0):
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# The first\n", "word " * words]},
        {"cell_type": "code", "metadata": {"tags": ["setup"]}, "source": ["a = 1\n"] * 500},
        {"cell_type": "code", "metadata": {}, "source": ["a = 1\n", "\n"] * lines},
        {"cell_type": "code", "metadata": {"tags": ["solution"]}, "source": ["# a\n"] * 500},
    ]
    return {"cells": cells}


@pytest.fixture
def root(tmp_path):
    for folder in ("book", "chapters"):
        (tmp_path / folder).mkdir()
    (tmp_path / "book" / "path.yml").write_text(YML)
    (tmp_path / "chapters" / "01_a.ipynb").write_text(json.dumps(notebook(1998, 100)))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "lines", "minutes"), [(1998, 0, 10), (998, 100, 10), (2998, 200, 25), (0, 0, 5)]
)
def test_the_time_is_counted_from_words_and_lines(words, lines, minutes):
    """The set-up cell and the folded solutions count for nothing, and blank lines neither."""
    assert minutes_of_reading(notebook(words, lines)) == minutes


def test_a_chapter_is_finished_when_the_build_has_its_page(root):
    path = read_path(root, {"chapters/01_a"})
    first, second = path[0][1]
    assert (first.title, first.minutes) == ("The first", 15)  # its own title, not the planned one
    assert (second.title, second.minutes) == ("Later & more", None)
    assert [s.number for _, stations in path for s in stations] == [1, 2, 3]
    assert count(path) == "Three chapters are planned; one of them is finished."
    assert count(read_path(root, ())) == "Three chapters are planned; none of them is finished."


def test_all_finished(root):
    for name in ("02_b", "03_c"):
        (root / "chapters" / f"{name}.ipynb").write_text(json.dumps(notebook()))
    path = read_path(root, {"chapters/01_a", "chapters/02_b", "chapters/03_c"})
    assert count(path) == "Three chapters, all of them finished."


def test_the_picture_links_what_is_finished_and_names_what_is_planned(root):
    drawn = BeautifulSoup(picture(read_path(root, {"chapters/01_a"})), "html.parser")
    assert [link["href"] for link in drawn.find_all("a")] == ["../chapters/01_a.html"]
    assert len(drawn.find_all("svg")) == 2
    assert all(svg["aria-label"] for svg in drawn.find_all("svg"))
    text = drawn.get_text(" ")
    for expected in ("The beginning", "Later & more", "What is <b>?", "What is a? · 15 min"):
        assert expected in text


def test_the_table_says_the_same(root):
    rows = table(read_path(root, {"chapters/01_a"})).splitlines()[2:]
    assert rows[0] == "| 1 | [The first](../chapters/01_a.ipynb) | What is a? | 15 min |"
    assert rows[2] == "| 3 | Last | What is c? | planned |"


def test_every_chapter_stands_on_the_path_in_its_order():
    path = read_path(ROOT, ())
    named = [Path(station.page).name for _, stations in path for station in stations]
    assert named == sorted(named)
    assert {file.stem for file in (ROOT / "chapters").glob("[0-9]*.ipynb")} <= set(named)


def test_the_built_page_shows_what_the_files_say(html):
    text = (html / "book" / "intro.html").read_text(encoding="utf-8")
    page = BeautifulSoup(text, "html.parser").find("article")
    pages = {f"chapters/{file.stem}" for file in (html / "chapters").glob("[0-9]*.html")}
    path = read_path(ROOT, pages)
    assert count(path) in " ".join(page.get_text().split())
    assert len(page.select("figure.book-path a")) == len(pages)
    assert len(page.select("table tr td a[href*='chapters/']")) == len(pages)
    assert "<!-- the path" not in text
