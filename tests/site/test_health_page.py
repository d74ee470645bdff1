"""The health page and the bars of the chapters say what the reports say, and of which chapter."""

import json
import re
from hashlib import sha256

import health
import pytest
from chapter_bar import facts
from parsed import parsed
from site_visits import CHAPTERS, ROOT

PAGE = "chapters/03_small"
RUN = {
    "when": "2026-11-30T23:59:00+00:00",
    "count": 12,
    "failed": 0,
    "cells": 20,
    "assertions": 9,
    "seconds": 11.6,
    "versions": {"python": "3.11.7", "numpy": "2.4.6", "ipywidgets": "8.1.8"},
}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "book").mkdir()
    (tmp_path / f"{PAGE}.ipynb").write_text("{}")
    return tmp_path


def known(root, **kinds):
    """What is known of the chapter once these facts were kept."""
    now = sha256(b"{}").hexdigest()
    kinds = {kind.replace("_", " "): {"notebook": now, **facts} for kind, facts in kinds.items()}
    (root / health.KEPT).write_text(json.dumps({"03_small": kinds}))
    return health.of_chapter(root, PAGE, health.record(root))


def test_a_row_says_what_the_reports_say(root):
    numbers = {"when": RUN["when"], "count": 31, "failed": 0}
    row = health.row("3. <Small>", "a.html", known(root, executed=RUN, prose_numbers=numbers))
    assert dict(zip(health.HEADINGS, row, strict=True)) == {
        "chapter": '<a href="a.html">3. &lt;Small&gt;</a>',
        "last run": "2026-11-30",
        "took": "12 s",
        "outputs compared": "12",
        "assertions": "9",
        "claims of articles": "not checked",
        "numbers in prose": "31",
        "widgets": "not checked",
        "links": "not checked",
        "versions": "Python 3.11.7, NumPy 2.4.6, ipywidgets 8.1.8",
    }


def test_a_chapter_without_reports_was_never_run(root):
    row = health.row("3. Small", "a.html", health.of_chapter(root, PAGE, health.record(root)))
    assert row[1:] == ["never", "", "not checked", "", *["not checked"] * 4, ""]
    assert facts(45, None) == ["45 min to read", "not run yet"]


def test_a_chapter_that_is_another_one_now_has_changed_since(root):
    before = known(root, executed=RUN, links={"when": RUN["when"], "count": 7, "failed": 0})
    (root / f"{PAGE}.ipynb").write_text("{ }")
    after = health.of_chapter(root, PAGE, health.record(root))
    assert health.row("", "", before)[1] == "2026-11-30"
    assert health.row("", "", after)[1] == "2026-11-30, changed since"
    assert health.row("", "", after)[-2] == "7, changed since"
    assert facts(45, after["executed"])[2].endswith("</time>, changed since")
    assert facts(45, before["executed"])[1:] == [
        "12 s to run",
        'last run on <time datetime="2026-11-30">2026-11-30</time>, every output as printed',
    ]


def test_what_failed_is_said(root):
    found = known(root, executed={**RUN, "failed": 2}, widgets={**RUN, "count": 3, "failed": 1})
    row = health.row("", "", found)
    assert row[1] == "2026-11-30, 2 failed"
    assert row[-3] == "3, 1 failed"
    assert facts(45, found["executed"])[2].endswith("2 failed")


def test_a_fresh_report_comes_before_the_kept_one_and_an_old_one_does_not(root):
    known(root, executed=RUN)
    report = root / health.REPORTS / health.EXECUTED / "03_small.json"
    report.parent.mkdir(parents=True)
    for when, count in (("2026-12-01T00:00:00+00:00", 99), ("2025-01-01T00:00:00+00:00", 12)):
        report.write_text(json.dumps({**RUN, "notebook": "", "when": when, "count": 99}))
        found = health.of_chapter(root, PAGE, health.record(root))[health.EXECUTED]
        assert found.facts["count"] == count


def test_the_page_shows_a_row_for_each_chapter(html):
    rows = parsed(html, health.PAGE).select(".health tbody tr")
    links = [row.find("a")["href"] for row in rows]
    assert links == [f"../{page}.html" for page in CHAPTERS]
    headings = [cell.get_text() for cell in parsed(html, health.PAGE).select(".health thead th")]
    assert headings == list(health.HEADINGS)
    assert all(len(row.find_all(["th", "td"])) == len(headings) for row in rows)


@pytest.mark.parametrize("page", CHAPTERS)
def test_the_bar_of_a_chapter_says_its_times(html, page):
    said = parsed(html, page).select_one(".chapter-bar .chapter-facts").get_text()
    read, run, *last = said.split(" · ")
    assert read.endswith(" min to read")
    if page.removeprefix("chapters/") not in health.read_kept(ROOT / health.KEPT):
        pytest.skip("the book's last verified run has no such chapter: make test, make health")
    assert re.fullmatch(r"\d+ s to run", run)
    assert re.match(r"last run on \d{4}-\d\d-\d\d, ", last[0])
