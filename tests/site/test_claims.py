"""The claims ledger says what its cells print, and each of its links leads to the cell."""

import re
import shutil
from collections import Counter

import claims
import pytest
import yaml
from bs4 import BeautifulSoup
from notebooks import ROOT


def test_every_row_says_what_its_cell_prints(checked):
    for chapter, rows in Counter(row["chapter"] for row in claims.read_ledger(ROOT)[1]).items():
        checked(chapter, "claims", rows)
    found = list(claims.findings(ROOT))
    assert not found, "\n".join(found)


def test_every_article_has_rows():
    articles, rows = claims.read_ledger(ROOT)
    assert {name for row in rows for name in row["article"]} == set(articles)


def test_no_claim_stands_twice():
    _, rows = claims.read_ledger(ROOT)
    texts = [row["claim"] for row in rows]
    assert len(set(texts)) == len(texts)


def one_row(rows):
    """A row on a decimal number that a cell prints."""
    return next(row for row in rows if "1.09" in row["measured"])


def set_in_row(key, value):
    def plant(ledger):
        one_row(ledger["claims"])[key] = value

    return plant


def drop(key):
    def plant(ledger):
        del one_row(ledger["claims"])[key]

    return plant


FAULTS = {
    "another number": (set_in_row("measured", "row 2 sums to 1.08"), "1.08 is not among"),
    "a line no cell prints": (set_in_row("prints", ["row sums: 1.09 1.09"]), "does not print"),
    "nothing printed": (set_in_row("prints", []), "nothing is named"),
    "another cell that is gone": (
        set_in_row("also", {"no-such-cell": ["1"]}),
        "no code cell no-such-cell",
    ),
    "another line no cell prints": (
        set_in_row("also", {"article-order-code": ["none"]}),
        "the cell article-order-code does not print",
    ),
    "another cell without a line": (
        set_in_row("also", {"article-order-code": []}),
        "nothing is named",
    ),
    "a cell that is gone": (set_in_row("cell", "no-such-cell"), "no code cell no-such-cell"),
    "a chapter that is gone": (set_in_row("chapter", "99_none"), "no chapter 99_none"),
    "an unknown verdict": (set_in_row("verdict", "maybe"), "the verdict is 'maybe'"),
    "a condition that is missing": (set_in_row("verdict", "only if"), "has the entries"),
    "an unknown article": (set_in_row("article", ["rumour"]), "not among"),
    "no figure": (drop("measured"), "has the entries"),
    "no cell": (drop("cell"), "has the entries"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_row_is_found(name, tmp_path):
    plant, message = FAULTS[name]
    ledger = yaml.safe_load((ROOT / "book" / "claims.yml").read_text(encoding="utf-8"))
    plant(ledger)
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "claims.yml").write_text(yaml.safe_dump(ledger), encoding="utf-8")
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters")
    found = list(claims.findings(tmp_path))
    assert len(found) == 1, found
    assert message in found[0]


def test_a_source_that_the_chapter_does_not_cite_is_found(tmp_path):
    articles, rows = claims.read_ledger(ROOT)
    row = next(row for row in rows if "source" in row) | {"source": "https://example.org/none"}
    (tmp_path / "book").mkdir()
    ledger = yaml.safe_dump({"articles": articles, "claims": [row]})
    (tmp_path / "book" / "claims.yml").write_text(ledger, encoding="utf-8")
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters")
    assert [f.rsplit(" ", 1)[1] for f in claims.findings(tmp_path)] == ["https://example.org/none"]


def test_the_page_shows_every_claim_and_each_link_leads_to_its_cell(html):
    page = BeautifulSoup((html / "book" / "claims.html").read_text(encoding="utf-8"), "html.parser")
    _, rows = claims.read_ledger(ROOT)
    article = page.find("article")
    assert len(article.select("tbody tr")) == len(rows)
    counted = re.search(
        r"Of (\d+) claims (\d+) hold, (\d+) hold only .*, and (\d+) do not", article.text
    )
    assert int(counted[1]) == len(rows) == sum(map(int, counted.groups()[1:]))
    links = [a["href"] for a in article.find_all("a") if a.text in ("the cell", "another")]
    assert len(links) == sum(len(claims.evidence_of(row)) for row in rows if "cell" in row)
    for link in links:
        file, cell = link.split("#")
        chapter = (html / "book" / file).resolve().read_text(encoding="utf-8")
        assert re.search(rf'<div class="cell [^>]*id="{re.escape(cell)}"', chapter), link
