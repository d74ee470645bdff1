"""The site's extensions on a chapter that holds one of everything."""

import pytest
from bs4 import BeautifulSoup
from notebook_outputs import _widget
from tiny_book import PNG, build, chapter

from minitransformer.exercises import solution
from minitransformer.widgets._base import table_html


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    done, html = build(tmp_path_factory.mktemp("tiny"), chapter())
    assert done.returncode == 0, done.stdout + done.stderr
    text = (html / "chapters" / "00_tiny.html").read_text(encoding="utf-8")
    article = BeautifulSoup(text, "html.parser").find("article")
    article.folder = html / "chapters"
    return article


def test_callouts(page):
    boxes = page.find_all("div", class_="admonition")
    titles = [box.find(class_="admonition-title").get_text() for box in boxes]
    assert titles == ["Note", "Mind the gap", "Important", "Caution"]
    kinds = [box["class"] for box in boxes]
    assert kinds == [
        ["admonition", "note"],
        ["admonition", "warning", "mind-the-gap"],
        ["admonition", "important"],
        ["admonition", "caution"],
    ]
    assert boxes[0].find("li").get_text().strip() == "with a list"
    assert boxes[0].find("em").get_text() == "more"
    assert boxes[1].find_all("p")[1].get_text() == "A title of its own."
    assert boxes[2].find_all("p")[1].get_text() == "The text stands on the same line, with code."


def test_stored_tables_are_told_apart_and_an_empty_corner_is_no_heading():
    tables = [table_html(f"Table {n} of <6>", ["", "now"], [["bytes", "12"]]) for n in (1, 2)]
    boxes = [BeautifulSoup(_widget("", t), "html.parser").find(role="region") for t in tables]
    assert [box["aria-label"] for box in boxes] == ["Table 1 of <6>", "Table 2 of <6>"]
    assert [heading.get_text() for heading in boxes[0].find("thead").find_all("th")] == ["now"]
    assert len(boxes[0].find("thead").find_all("td")) == 1


def test_quotations_stay_quotations(page):
    quotations = [quotation.get_text().strip() for quotation in page.find_all("blockquote")]
    assert len(quotations) == 2
    assert quotations[0].startswith("An honest quotation")
    assert quotations[1].startswith("[!CLAIM]")


def test_formulas_of_text_and_output(page):
    typed = [node.get_text() for node in page.find_all("annotation")]
    assert typed[0] == "a_{i} < b"
    assert typed[1].strip().startswith(r"\text{softmax}(x)_i")
    assert typed[2].strip() == r"\sqrt{d_k}"
    assert len(page.find_all(class_="katex")) == 3
    assert "A price of 5 $ is no formula." in page.get_text()


def test_pictures(page):
    attached, drawing, pixel = page.find_all("img")
    assert attached["alt"] == "A square that came along with the text"
    assert drawing["alt"] == "A drawing in words"
    assert pixel["alt"] == "One grey pixel"
    for picture, size in ((attached, "40 20"), (drawing, "40 20"), (pixel, "1 1")):
        assert picture["loading"] == "lazy"
        assert [picture["width"], picture["height"]] == size.split()
        assert not picture.has_attr("style")  # which would keep its height on a narrow page
        assert (page.folder / picture["src"]).is_file()


def test_empty_corner_of_a_table_is_no_heading(page):
    table = page.find("table")
    assert [heading.get_text() for heading in table.find_all("th")] == ["query", "key"]
    assert table.find("thead").find("td").get_text() == ""


def test_solution_is_folded_code(page):
    details = page.find("details")
    assert not details.has_attr("open")
    assert details.find("summary").get_text() == "Solution"
    assert details.find("pre").get_text().strip() == solution("attention").code
    assert details.find("span", class_="k").get_text() == "def"  # coloured as Python is
    assert "# solution(" not in page.get_text()


def test_tags_reach_the_style_sheet(page):
    assert page.find("div", class_="tag_check") is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Wrong\n\nA formula: $\\sqr{d_k}$", r"\\sqr{d_k}"),
        ("# Wrong\n\n![nothing](attachment:nowhere.png)", "nowhere.png"),
        ("# Wrong\n\n[a link](no_such_chapter.ipynb)", "no_such_chapter.ipynb"),
    ],
)
def test_what_cannot_be_shown_stops_the_build(tmp_path, text, words):
    done, _ = build(tmp_path / "book", chapter(text))
    assert done.returncode != 0
    assert words in done.stdout + done.stderr
    assert PNG not in done.stderr


def test_a_solution_that_is_not_there_stops_the_build(tmp_path):
    done, _ = build(tmp_path / "book", chapter("# Wrong", answer="atention"))
    assert done.returncode != 0
    assert "there is no exercise 'atention'; did you mean 'attention'" in done.stdout + done.stderr
