"""The teachers' pages: what is filled in is what chapters, assignments and checks say."""

import json
import re

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


def planned(plan):
    """The weeks of a plan."""
    return yaml.safe_load((ROOT / "book" / "schedules.yml").read_text(encoding="utf-8"))[plan]


def numbers(text):
    """The numbers in "7, 8 and 10" or "12 to 14"."""
    found = [int(one) for one in re.findall(r"\d+", text)]
    return set(range(found[0], found[-1] + 1)) if " to " in text else set(found)


each_plan = pytest.mark.parametrize("plan", ["four weeks", "twelve weeks"])


@each_plan
def test_a_plan_has_its_weeks_and_their_minutes(html, plan):
    weeks = planned(plan)
    section = article(html, "teaching_plan").find(id=plan.replace(" ", "-"))
    shown = rows(section, "week")
    assert len(shown) == len(weeks)
    for (_, chapters, reading, _, _), week in zip(shown, weeks, strict=True):
        assert chapters == ", ".join(map(str, week["chapters"]))
        pages = [CHAPTERS[number - 1] for number in week["chapters"]]
        assert reading == f"{sum(map(minutes_of_reading, map(notebook, pages)))} min"


@each_plan
def test_what_an_assignment_builds_on_is_in_the_plan(plan):
    """It is read by the end of the week after, so that some days are left until it is due."""
    read = [set(week["chapters"]) for week in planned(plan)]
    for place, week in enumerate(planned(plan)):
        so_far = set().union(*read[: place + 2])
        for key in re.findall(r"`(a\d)` out", week.get("assignments", "")):
            [file] = (ROOT / "assignments").glob(f"{key}_*.ipynb")
            text = "".join(
                "".join(c["source"]) for c in notebook(f"assignments/{file.stem}")["cells"]
            )
            needed = numbers(re.search(r"It builds on chapters? ([^.]+)\.", text)[1])
            assert needed <= so_far, f"{key} needs chapters {sorted(needed - so_far)}"


def test_the_chapters_left_out_are_named():
    text = (ROOT / "book" / "teaching_plan.md").read_text(encoding="utf-8")
    named = re.search(r"Chapters ([\d,\sand]+) are left out", text)[1]
    read = {chapter for week in planned("four weeks") for chapter in week["chapters"]}
    assert numbers(named) == set(range(1, len(CHAPTERS) + 1)) - read


def test_the_plan_of_twelve_weeks_has_every_chapter_and_assignment_once(html):
    weeks = planned("twelve weeks")
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
    statements = page.find(id="statements-to-vote-on").find_all("details")
    assert len(statements) == 20
    for one in statements:
        assert one.find("summary").get_text().endswith(".")
        href = one.find("p").find("a")["href"]
        name, _, cell = href.partition("#")
        stored = notebook(name.removeprefix("../").removesuffix(".html"))["cells"]
        assert cell in [c["id"] for c in stored]
    assert not any(one.has_attr("open") for one in statements)
    answers = {one.find("strong").get_text() for one in statements}
    assert answers == {"right", "wrong", "only if"}


def test_mistakes_are_those_of_the_checks_each_once(html):
    page = article(html, "teaching_classroom").find(id="what-goes-wrong-in-the-exercises")
    assert len(page.find_all("details")) == len(CHAPTERS)
    said = [item.get_text().partition(": ")[2] for item in page.find_all("li")]
    assert len(said) == len(set(said)) > 0
    for exercise in chapter_07.EXERCISES:
        assert {mistake.explanation for mistake in exercise.misconceptions} <= set(said)
