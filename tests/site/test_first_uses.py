"""The glossary says where a term is used first, and the search finds its definition first."""

import json
import re

import checks
import first_uses
import pytest
from docutils import nodes
from parsed import parsed
from site_visits import CHAPTERS, ROOT, visit

CHAPTER_5 = "One sequence, or two"
# Terms that the chapters need by another word, in code or in a picture.
NOT_IN_PROSE = {"head importance", "head overlap", "query offset"}


def definition(text):
    return nodes.definition("", nodes.paragraph("", text))


def test_the_first_text_that_uses_a_term_is_found():
    glossary = {
        "term-key": ("key", definition("It finds.")),
        "term-gqa": ("grouped-query attention", definition("Shared. Short: GQA.")),
        "term-no": ("nothing such", definition("Not there.")),
    }
    texts = ["The keyboard.", "Monkeys, and GQA.", "Keys find.", "a key; Grouped query attention"]
    places = [nodes.paragraph("", text) for text in texts]
    found = first_uses.first_uses(glossary, zip(texts, places, strict=True))
    assert found == {"term-key": places[2], "term-gqa": places[1]}


def test_another_sense_of_the_word_is_no_use_of_the_term():
    glossary = {"term-head": ("head", definition("One attention among several."))}
    texts = ["Test it in your head.", "Each head"]
    places = [nodes.paragraph("", text) for text in texts]
    found = first_uses.first_uses(glossary, zip(texts, places, strict=True))
    assert found == {"term-head": places[1]}


def test_code_formulas_and_pictures_are_no_prose():
    document = nodes.section("", nodes.title("", "", nodes.Text("Of keys")))
    paragraph = nodes.paragraph()
    paragraph += [nodes.Text("A "), nodes.literal("", "cache"), nodes.math("", "mask")]
    paragraph += nodes.emphasis("", "value")
    document += [paragraph, nodes.literal_block("", "query = 1")]
    assert [text for text, _ in first_uses.prose(document)] == ["Of keys", "A  value"]


def test_a_definition_is_one_line_with_its_formula_readable():
    paragraph = nodes.paragraph("", "", nodes.math("", r"-\sum_j w_{j}"), nodes.Text("\n over one"))
    text = first_uses.plain(nodes.definition("", paragraph, nodes.paragraph("", "more")))
    assert text == "-sum_j w_j over one"


@pytest.fixture(scope="module")
def glossary(html):
    """The built glossary: {term: (anchor, definition, link to its first use or None)}."""
    found = {}
    for term in parsed(html, "book/glossary").select("dl.glossary dt"):
        text = term.find_next_sibling("dd")
        link = text.select_one(".first-use a")
        found[term.get_text().removesuffix("#").strip()] = (term["id"], text.get_text(), link)
    return found


def test_every_term_has_a_first_use_that_uses_it(glossary, html):
    assert len(glossary) > 80
    assert {term for term, (_, _, link) in glossary.items() if link is None} == NOT_IN_PROSE
    for term, (_, text, link) in glossary.items():
        if link is not None:
            page, _, place = link["href"].removeprefix("../").partition(".html#")
            section = parsed(html, page).find(id=place).get_text()
            patterns = map(first_uses.pattern, first_uses.names(term, text))
            assert any(p.search(section) for p in patterns), (term, link["href"])


def test_no_earlier_chapter_uses_a_term(glossary, html):
    """Looked up again, in the notebooks' own text, for terms that nothing else is called."""
    prose = {}
    for page in CHAPTERS:
        cells = json.loads((ROOT / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
        prose[page] = re.sub(r"`[^`]*`", "", text.split("## Sources")[0]).lower()
    for term in ("equivariant", "rollout", "teacher forcing", "class token", "online softmax"):
        first = next(page for page in CHAPTERS if term in prose[page])
        assert glossary[term][2]["href"].startswith(f"../{first}.html"), term


@pytest.mark.browser
@pytest.mark.parametrize(
    ("query", "term"),
    [
        ("weight", "weight"),
        ("Weights", "weight"),
        ("causal masks", "causal mask"),
        ("mask causal", "causal mask"),
        ("GQA", "grouped-query attention"),
        ("top-p", "top-k and top-p"),
        ("cross attention", "cross-attention"),
    ],
)
def test_the_search_shows_the_definition_first(browser, site, glossary, query, term):
    with visit(browser, f"{site}/search.html?q={query}") as seen:
        results = seen.page.locator("#search-results .search > li")
        results.first.wait_for()
        link = results.first.locator("a").first
        assert link.inner_text() == term
        assert link.get_attribute("href") == f"book/glossary.html#{glossary[term][0]}"
        assert len(results.first.inner_text()) > len(term) + 30  # it says what the term means
        others = [li.locator("a").first.get_attribute("href") for li in results.all()[1:]]
        assert link.get_attribute("href") not in others
        assert seen.complaints == []


@pytest.mark.browser
def test_a_query_that_is_no_term_is_searched_as_before(browser, site):
    with visit(browser, f"{site}/search.html?q=whispering+game") as seen:
        first = seen.page.locator("#search-results .search > li > a").first
        first.wait_for()
        assert "02_library_metaphor" in first.get_attribute("href")


@pytest.mark.browser
@pytest.mark.parametrize("query", ["constructor", "__proto__", "hasOwnProperty"])
def test_a_word_that_every_object_of_a_script_has_is_not_found(browser, site, query):
    with visit(browser, f"{site}/search.html?q={query}") as seen:
        seen.page.get_by_text("did not match any documents").wait_for()
        assert seen.page.locator("#search-results .search > li").count() == 0
        assert seen.complaints == []


@pytest.mark.browser
def test_of_a_page_found_its_own_words_are_shown(browser, site):
    with visit(browser, f"{site}/search.html?q=translation") as seen:
        found = seen.page.locator("#search-results .search > li")
        found.locator("p.context").nth(5).wait_for()
        (chapter,) = [one for one in found.all() if one.locator("a").inner_text() == CHAPTER_5]
        text = chapter.locator("p.context").inner_text()
        assert text.startswith(f"{CHAPTER_5} At the end of this chapter you will have")
        assert "Run in Colab" not in " ".join(found.locator("p.context").all_inner_texts())


@pytest.mark.browser
def test_what_was_searched_is_marked_until_the_reader_is_tired_of_it(browser, site):
    with visit(browser, f"{site}/chapters/04_scaling.html?highlight=overflow") as seen:
        marks = seen.page.locator("article .highlighted")
        marks.first.wait_for()
        assert checks.accessibility(seen.page) == []
        seen.page.get_by_role("link", name="Hide Search Matches").click()
        assert marks.count() == 0
        assert checks.complaints(seen) == []
