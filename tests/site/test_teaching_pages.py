"""The teachers' pages: what is filled in is what chapters, assignments and checks say."""

import json

import pytest
import yaml
from book_path import minutes_of_reading
from bs4 import BeautifulSoup
from site_visits import CHAPTERS, ROOT

from minitransformer.exercises import chapter_07


def article(html, name):
    text = (html / "book" / f"{name}.html").read_text(encoding="utf-8")
    return BeautifulSoup(text, "html.parser").find("article")


def rows(page, heading):
    """The rows of the table that has this heading over its first column."""
    tables = [t for t in page.find_all("table") if t.find("th").get_text().strip() == heading]
    return [
        [cell.get_text().strip() for cell in row.find_all("td")]
        for table in tables
        for row in table.find("tbody").find_all("tr")
    ]


def notebook(page):
    return json.loads((ROOT / f"{page}.ipynb").read_text(encoding="utf-8"))


def test_every_chapter_has_its_goals(html):
    lists = article(html, "teaching_plan").find(id="goals-by-chapter").find_all("section")
    assert len(lists) == len(CHAPTERS)
    for section, page in zip(lists, CHAPTERS, strict=True):
        [cell] = [c for c in notebook(page)["cells"] if c["id"] == "goals"]
        goals = "".join(cell["source"]).count("\n- ")
        assert len(section.find_all("li")) == goals >= 3


@pytest.mark.parametrize("plan", ["four weeks", "twelve weeks"])
def test_a_plan_has_its_weeks_and_their_minutes(html, plan):
    weeks = yaml.safe_load((ROOT / "book" / "schedules.yml").read_text(encoding="utf-8"))[plan]
    section = article(html, "teaching_plan").find(id=plan.replace(" ", "-"))
    shown = rows(section, "week")
    assert len(shown) == len(weeks)
    for (_, chapters, reading, _, _), week in zip(shown, weeks, strict=True):
        assert chapters == ", ".join(map(str, week["chapters"]))
        pages = [CHAPTERS[number - 1] for number in week["chapters"]]
        assert reading == f"{sum(map(minutes_of_reading, map(notebook, pages)))} min"


def test_the_plan_of_twelve_weeks_has_every_chapter_and_assignment_once(html):
    weeks = yaml.safe_load((ROOT / "book" / "schedules.yml").read_text(encoding="utf-8"))
    weeks = weeks["twelve weeks"]
    assert [c for week in weeks for c in week["chapters"]] == list(range(1, len(CHAPTERS) + 1))
    told = " ".join(week.get("assignments", "") for week in weeks)
    keys = [path.name.partition("_")[0] for path in sorted((ROOT / "assignments").glob("a*.ipynb"))]
    for key in keys:
        assert told.count(f"`{key}`") == 2, key  # handed out, and due


def test_the_assignments_are_listed_with_their_points(html):
    shown = rows(article(html, "teaching"), "key")
    files = sorted((ROOT / "assignments").glob("a*.ipynb"))
    assert [row[0] for row in shown] == [file.name.partition("_")[0] for file in files]
    for row, file in zip(shown, files, strict=True):
        marks = [
            c["metadata"].get("nbgrader", {}) for c in notebook(f"assignments/{file.stem}")["cells"]
        ]
        assert float(row[3]) == sum(mark.get("points", 0) for mark in marks) > 0


def test_statements_lead_to_their_cells(html):
    page = article(html, "teaching_classroom")
    statements = page.find(id="statements-to-vote-on").find("tbody").find_all("tr")
    assert len(statements) == 20
    for row in statements:
        href = row.find("a")["href"]
        name, _, cell = href.partition("#")
        stored = notebook(name.removeprefix("../").removesuffix(".html"))["cells"]
        assert cell in [c["id"] for c in stored]
    assert {row.find_all("td")[1].get_text() for row in statements} == {"right", "wrong", "only if"}


def test_mistakes_are_those_of_the_checks_each_once(html):
    page = article(html, "teaching_classroom").find(id="what-goes-wrong-in-the-exercises")
    assert len(page.find_all("details")) == len(CHAPTERS)
    said = [item.get_text().partition(": ")[2] for item in page.find_all("li")]
    assert len(said) == len(set(said)) > 0
    for exercise in chapter_07.EXERCISES:
        assert {mistake.explanation for mistake in exercise.misconceptions} <= set(said)
