"""Links from chapter to chapter: there is such a chapter, and on the site one stays on the site."""

import re

import pytest
from bs4 import BeautifulSoup
from chapter_links import on_site
from notebooks import ROOT, chapter_files, read
from setup_cell import repository

URL, BRANCH = repository()
FILES = f"{URL}/blob/{BRANCH}/"
CHAPTERS = f"{FILES}chapters/"
KNOWN = {"chapters/03_worked_example", "book/intro"}


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (f"{CHAPTERS}03_worked_example.ipynb", ("chapters/03_worked_example", "")),
        (f"{CHAPTERS}03_worked_example.ipynb#scale", ("chapters/03_worked_example", "scale")),
        (f"{FILES}book/intro.md", ("book/intro", "")),
        (f"{CHAPTERS}99_none.ipynb", None),
        (f"{CHAPTERS}03_worked_example.py", None),
        (f"{CHAPTERS}03_worked_example", None),
        (f"{FILES}README.md", None),
        ("https://example.org/chapters/03_worked_example.ipynb", None),
        ("03_worked_example.ipynb", None),
    ],
)
def test_only_a_page_of_this_book_is_one(address, expected):
    assert on_site(address, FILES, KNOWN) == expected


@pytest.mark.parametrize("chapter", chapter_files(), ids=lambda path: path.stem)
def test_every_linked_chapter_exists(chapter):
    prose = "\n".join(cell.source for cell in read(chapter).cells if cell.cell_type == "markdown")
    linked = set(re.findall(rf"{re.escape(URL)}/blob/[\w.-]+/([^)#\s]+)", prose))
    missing = sorted(path for path in linked if not (ROOT / path).is_file())
    assert not missing, f"{chapter.name} links to what is not there: {missing}"


def test_on_the_site_links_to_chapters_stay_there(html):
    found = 0
    for page in sorted((html / "chapters").glob("*.html")):
        article = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").find("article")
        links = [a["href"] for a in article.find_all("a", href=True)]
        assert [link for link in links if link.startswith((CHAPTERS, f"{FILES}book/"))] == []
        found += sum(bool(re.match(r"\d\d_\w+\.html", link)) for link in links)
    assert found, "no chapter links to another"
