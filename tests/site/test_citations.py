"""Chapters and references lead to one another."""

import json
import re
from collections import defaultdict

import citations
import pytest
from docutils import nodes
from parsed import parsed
from site_visits import CHAPTERS, ROOT


def references(*items):
    section = nodes.section(ids=["papers-and-books"])
    section += nodes.bullet_list("", *[_item(*item) for item in items])
    other = nodes.section(ids=["software-on-these-pages"])
    other += nodes.bullet_list("", _item("Sphinx", "https://www.sphinx-doc.org", ""))
    return nodes.document(None, None, "", section, other)


def _item(before, address, after):
    link = nodes.reference("", "Its title", refuri=address)
    return nodes.list_item("", nodes.paragraph("", "", nodes.Text(before), link, nodes.Text(after)))


def test_an_entry_is_named_by_author_and_year_and_no_name_is_given_twice():
    document = references(
        ("Touvron, H. and others (2023). ", "https://a", "."),
        ("Touvron, H., Martin, L. (2023).\n", "https://b", ". Chapter (1999)"),
        ("de Jong, M. and Ré, C. (2021). ", "https://c", "."),
        ("PyTorch, ", "https://d", "."),
    )
    ids = {address: entry.id for address, entry in citations.entries(document).items()}
    assert ids == {
        "https://a": "touvron-2023",
        "https://b": "touvron-2023-b",
        "https://c": "de-jong-2021",
        "https://d": "pytorch-its-title",
    }


@pytest.fixture(scope="module")
def pages(html):
    """The references and the chapters, as trees."""
    names = ["book/references", *CHAPTERS]
    return {name: parsed(html, name) for name in names}


def outward(section):
    """The links of a section that leave the site."""
    return [a for a in section.find_all("a") if a["href"].startswith("http")]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_source_of_a_chapter_leads_to_its_entry_and_back(pages, chapter):
    links = outward(pages[chapter].find(id="sources"))
    assert links
    for link in links:
        entry_link = link.find_next("a")
        assert "to-references" in entry_link["class"], f"not in the references: {link['href']}"
        assert link.get_text()[:4] != "" != entry_link["aria-label"]
        page, _, id_ = entry_link["href"].partition("#")
        assert page == "../book/references.html"
        entry = pages["book/references"].find("li", id=id_)
        assert entry.find("a")["href"] == link["href"]
        back = [a["href"] for a in entry.select(".cited-in a")]
        assert f"../{chapter}.html#sources" in back


def test_each_entry_is_cited(pages):
    listed = [
        i for id_ in citations.SECTIONS for i in pages["book/references"].select(f"#{id_} li")
    ]
    assert len(listed) > 60
    assert [i.get_text() for i in listed if i.select_one(".cited-in a") is None] == []
    everywhere = {a["href"] for c in CHAPTERS for a in outward(pages[c].find("article"))}
    assert {i.find("a")["href"] for i in listed} <= everywhere


# "Vig 2019", "Gu and Dao (2023)", "Bengio, Simard and Frasconi 1994", "Ba et al. 2016"
CITED = re.compile(
    r"\b([A-Z][\w-]+)((?:, [A-Z][\w-]+)* and [A-Z][\w-]+| et al\.)?,? \(?((?:19|20)\d\d)\b"
)


def unlisted(text, years):
    """What a text cites with a year that no work of that first author has in ``years``.

    One name and a year may be a month: it counts where somebody of that name is listed.
    """
    return [
        cited[0]
        for cited in CITED.finditer(text)
        if cited[3] not in years.get(cited[1], ()) and (cited[2] or cited[1] in years)
    ]


def test_a_citation_with_another_year_is_found():
    years = {"Vig": {"2019"}, "Gu": {"2023"}, "Bengio": {"1994"}}
    good = "Vig 2019; Gu and Dao (2023); (Bengio, Simard and Frasconi 1994, page 3); March 1985"
    assert unlisted(good, years) == []
    wrong = "Vig 2020; Gu and Dao (2024); Bengio, Simard and Frasconi 1995; Ba et al. 2016"
    assert len(unlisted(wrong, years)) == 4


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_cites_what_is_listed_and_by_its_year(chapter):
    years = defaultdict(set)
    works = (ROOT / "book" / "references.md").read_text(encoding="utf-8")
    for author, year in re.findall(r"^- ([^,(]+)[^(]*\((\d{4})\)", works, re.MULTILINE):
        years[author.strip()].add(year)
    assert len(years) > 40
    cells = json.loads((ROOT / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    assert unlisted(text, years) == []


def test_papers_stand_in_the_order_of_their_authors(pages):
    items = pages["book/references"].select(f"#{citations.SECTIONS[0]} li")
    names = [re.sub(r"[^\w ]", "", item.get_text().split("(")[0]).casefold() for item in items]
    assert names == sorted(names)
