"""The decks of slides: made of what the chapters show and ask, turned by keys, fit for paper."""

import json
import re

import checks
import pytest
from book_path import read_path
from bs4 import BeautifulSoup
from docutils import nodes
from site_visits import DESKTOP, PAGES, PHONE, ROOT, visit
from slides import first_sentence

STRETCHES = [[station.page for station in part] for _, part in read_path(ROOT, PAGES)]
DECKS = [f"slides/part-{number}" for number in range(1, len(STRETCHES) + 1)]
SHEET = (1122, 631)  # pixels: what the style sheet prints on
each_deck = pytest.mark.parametrize("deck", DECKS)


def deck_of(html, name):
    return BeautifulSoup((html / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def cells(page):
    return json.loads((ROOT / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]


@pytest.mark.parametrize(("deck", "chapters"), list(zip(DECKS, STRETCHES, strict=True)))
def test_a_deck_has_all_figures_predictions_and_statements_of_its_chapters(html, deck, chapters):
    page = deck_of(html, deck)
    alts, predictions, statements = [], 0, 0
    for cell in (cell for chapter in chapters for cell in cells(chapter)):
        predictions += "".join(cell["source"]).count("> **Predict.**")
        for output in cell.get("outputs", ()):
            about = output.get("metadata", {})
            alts += [about[kind]["alt"] for kind in about if kind.startswith("image/")]
            text = "".join(output.get("data", {}).get("text/plain", ""))
            statements += text.startswith("Statement(")
    assert [img["alt"] for img in page.find_all("img")] == alts
    assert len(page.select(".predict")) == predictions > 0
    assert len(page.select(".statement")) == statements
    assert len(page.select(".chapter")) == len(page.select(".goals")) == len(chapters)


@each_deck
def test_a_deck_shows_the_pictures_of_the_site_and_asks_for_nothing_inline(html, deck):
    page = deck_of(html, deck)
    for picture in page.find_all("img"):
        assert (html / "slides" / picture["src"]).resolve().is_relative_to(html / "_images")
        assert (html / "slides" / picture["src"]).is_file()
    assert all(script.get("src") for script in page.find_all("script"))
    assert page.find("style") is None
    assert page.select(":not(.katex *)[style]") == []


@each_deck
def test_every_figure_has_a_sentence(html, deck):
    for figure in deck_of(html, deck).select(".figure"):
        assert re.search(r"\w.*[.:?!”)]$", figure.select_one(".body").get_text().strip())


def test_the_plan_leads_to_every_deck(html):
    page = deck_of(html, "book/teaching_plan")
    assert [a["href"] for a in page.select('a[href^="../slides/"]')] == [
        f"../{deck}.html" for deck in DECKS
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One. Two.", "One."),
        ("No end", "No end"),
        (
            "By 0.5 (Vaswani et al. 2017, table 3). Then more.",
            "By 0.5 (Vaswani et al. 2017, table 3).",
        ),
        ("It says “yes.” It is.", "It says “yes.”"),
    ],
)
def test_the_first_sentence(text, sentence):
    assert first_sentence(nodes.paragraph("", text)).astext() == sentence


def test_the_number_of_a_figure_is_no_sentence():
    caption = nodes.paragraph(
        "", "", nodes.strong("", "Figure 2."), nodes.Text(" Dark is large. So.")
    )
    assert first_sentence(caption).astext().strip() == "Dark is large."


def place(page):
    """The number of the slide that fills the window."""
    return page.evaluate(
        "[...document.querySelectorAll('.slide')].findIndex((slide) =>"
        " Math.abs(slide.getBoundingClientRect().top) < 2)"
    )


@pytest.mark.browser
def test_keys_turn_the_slides(browser, site):
    with visit(browser, f"{site}/{DECKS[0]}.html") as seen:
        last = seen.page.locator(".slide").count() - 1
        for key, expected in [
            ("ArrowRight", 1),
            (" ", 2),
            ("PageDown", 3),
            ("ArrowLeft", 2),
            ("End", last),
            ("ArrowRight", last),
            ("PageUp", last - 1),
            ("Home", 0),
            ("ArrowUp", 0),
        ]:
            seen.page.keyboard.press(key)
            assert place(seen.page) == expected, key
        seen.page.keyboard.press("Alt+ArrowRight")  # the browser's own
        assert place(seen.page) == 0


@pytest.mark.browser
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("dark", [False, True])
@each_deck
def test_a_deck_is_sound(browser, site, deck, dark, size):
    with visit(browser, f"{site}/{deck}.html", dark=dark, size=size) as seen:
        assert checks.foreign_requests(seen) == []
        assert checks.complaints(seen) == []
        assert checks.accessibility(seen.page) == []
        assert checks.sideways(seen.page) == []


@pytest.mark.browser
@each_deck
def test_a_slide_is_a_sheet_of_paper(browser, site, deck):
    with visit(browser, f"{site}/{deck}.html", size=SHEET) as seen:
        slides = seen.page.locator(".slide").count()
        printed = seen.page.pdf(prefer_css_page_size=True)
        seen.page.emulate_media(media="print")
        heights = seen.page.locator(".slide").evaluate_all(
            "all => all.map((slide) => slide.scrollHeight - slide.clientHeight)"
        )
    assert max(heights) <= 0  # nothing is cut off
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == slides
