"""Fill the teachers' pages with what stands elsewhere: goals, times, assignments, mistakes.

Goals come from the chapters, times of reading from their words, titles and points from the
assignments, mistakes from the checks of the exercises, statements from the last chapter. A page
holds a comment where a part goes.
"""

import json
import re
from html import escape
from importlib import import_module
from pathlib import Path

import yaml
from book_path import read_path

SCHEDULE = re.compile(r"<!-- the schedule: (.+?) -->")
STATEMENT = re.compile(r"<th scope=\"row\">(.*?)</th><td>(.*?)</td><td>(.*?)</td>", re.DOTALL)
WRITTEN = "Statement("


def stations(app):
    """The chapters of the book, each as a station of the path."""
    path = read_path(Path(app.srcdir), app.env.found_docs)
    return [one for _, part in path for one in part if one.minutes is not None]


def notebook(app, page):
    """A notebook of the book, which the page being read then depends on."""
    file = Path(app.srcdir) / f"{page}.ipynb"
    app.env.note_dependency(str(file))
    return json.loads(file.read_text(encoding="utf-8"))


def source(cell):
    return "".join(cell["source"])


def goals(app):
    """What a reader can do after each chapter, in the chapter's words."""
    parts = []
    for station in stations(app):
        cells = notebook(app, station.page)["cells"]
        [cell] = [source(cell) for cell in cells if cell["id"] == "goals"]
        listed = "\n".join(line for line in cell.splitlines() if line.startswith("- "))
        parts.append(f"### {station.number}. {station.title}\n\n{listed}")
    return "\n\n".join(parts)


def schedule(app, name):
    """A plan of ``book/schedules.yml`` as a table."""
    file = Path(app.srcdir) / "book" / "schedules.yml"
    app.env.note_dependency(str(file))
    chapters = {station.number: station for station in stations(app)}
    lines = ["| week | chapters | reading | in class | assignments |", "|---|---|---|---|---|"]
    for number, week in enumerate(yaml.safe_load(file.read_text(encoding="utf-8"))[name], 1):
        read = [chapters[chapter] for chapter in week["chapters"]]
        links = ", ".join(f"[{one.number}](../{one.page}.ipynb)" for one in read)
        minutes = sum(one.minutes for one in read)
        due = week.get("assignments", "–")
        lines.append(f"| {number} | {links} | {minutes} min | {week['class']} | {due} |")
    return "\n".join(lines)


def assignments(app):
    """The assignments: their titles, questions and points."""
    lines = ["| key | title | questions | points |", "|---|---|---|---|"]
    for file in sorted((Path(app.srcdir) / "assignments").glob("a[0-9]*.ipynb")):
        cells = notebook(app, f"assignments/{file.stem}")["cells"]
        title = source(cells[0]).splitlines()[0].lstrip("# ").partition(": ")[2]
        marks = [cell["metadata"].get("nbgrader", {}) for cell in cells]
        questions = sum(mark.get("solution", False) for mark in marks)
        points = sum(mark.get("points", 0) for mark in marks if mark.get("grade"))
        key = file.stem.partition("_")[0]
        lines.append(f"| `{key}` | {title[:1].upper()}{title[1:]} | {questions} | {points:g} |")
    return "\n".join(lines)


def statements(app):
    """The statements of the chapters to vote on, each with its answer and its cell folded up."""
    parts = []
    for station in stations(app):
        for cell in notebook(app, station.page)["cells"]:
            if cell["cell_type"] == "code" and WRITTEN in source(cell):
                texts = (o.get("data", {}).get("text/html", "") for o in cell["outputs"])
                for said, verdict, why in STATEMENT.findall("".join(map("".join, texts))):
                    address = f"../{station.page}.html#{cell['id']}"
                    link = f'<a href="{address}">Chapter {station.number} settles it.</a>'
                    answer = f"<p><strong>{verdict}</strong>: {why} {link}</p>"
                    folded = f"<summary>{said}</summary>{answer}"
                    parts.append(f'<details class="vote">{folded}</details>')
    return "\n".join(parts)


def mistakes(app):
    """What the checks of the exercises can name, by chapter, each where it comes up first."""
    parts, seen = [], set()
    for station in stations(app):
        module = import_module(f"minitransformer.exercises.chapter_{station.number:02}")
        items = []
        for exercise in module.EXERCISES:
            for text in (mistake.explanation for mistake in exercise.misconceptions):
                if text not in seen:
                    items.append(f"<li><code>{exercise.name}</code>: {escape(text)}</li>")
                seen.add(text)
        title = f"{station.number}. {escape(station.title)}: {len(items)} mistakes"
        listed = "".join(items)
        parts.append(f"<details><summary>{title}</summary><ul>{listed}</ul></details>")
    return "\n".join(parts)


PARTS = {
    "<!-- the goals of the chapters -->": goals,
    "<!-- the assignments -->": assignments,
    "<!-- the statements to vote on -->": statements,
    "<!-- the mistakes that checks name -->": mistakes,
}


def fill(app, page, text):
    """Put the parts where a page asks for them."""
    for place, part in PARTS.items():
        if place in text[0]:
            text[0] = text[0].replace(place, part(app))
    text[0] = SCHEDULE.sub(lambda found: schedule(app, found[1]), text[0])


def setup(app):
    app.connect("source-read", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
