"""The path of the book: ``book/path.yml`` becomes a picture, a table and a count.

Which chapters are finished is read off the pages of this build, and how long each takes to read off
its notebook, so nobody writes either by hand. The page holds comments where the parts go.
"""

import json
import textwrap
from dataclasses import dataclass
from html import escape
from pathlib import Path

import yaml

PICTURE, TABLE, COUNT = (f"<!-- the path: {part} -->" for part in ("picture", "table", "count"))
WORDS_A_MINUTE = 200
LINES_A_MINUTE = 20  # of code
NUMBERS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
NUMBERS += ["eleven", "twelve", "thirteen", "fourteen", "fifteen"]

# Of the picture, in its own units, which are about pixels on a phone.
WIDTH, LINE, TEXT, RADIUS = 330, 18, 46, 15
STRETCH = 34  # the height of a heading
TITLE, ASKS = ("title", 41, 20), ("asks", 50, 18)  # letters in a line, and its height


@dataclass(frozen=True)
class Station:
    """One chapter: its number, page, title, question, and the minutes of reading once written."""

    number: int
    page: str
    title: str
    asks: str
    minutes: int | None


def minutes_of_reading(notebook):
    """The minutes that a notebook takes to read, in steps of five: words, and lines of code.

    The set-up cell and those of solutions, which are folded, count for nothing.
    """
    words = lines = 0
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            words += sum(any(map(str.isalnum, word)) for word in source.split())
        elif not {"setup", "solution"} & set(cell["metadata"].get("tags", [])):
            lines += sum(bool(line.strip()) for line in source.splitlines())
    return 5 * max(1, round((words / WORDS_A_MINUTE + lines / LINES_A_MINUTE) / 5))


def read_path(root, pages):
    """The stretches of the path, pairs of name and stations; ``pages`` are those of the build."""
    number, found = 0, []
    for stretch in yaml.safe_load((root / "book" / "path.yml").read_text(encoding="utf-8")):
        stations = []
        for entry in stretch["chapters"]:
            number += 1
            page, title, minutes = f"chapters/{entry['file']}", entry["title"], None
            if page in pages:
                notebook = json.loads((root / f"{page}.ipynb").read_text(encoding="utf-8"))
                first = "".join(notebook["cells"][0]["source"]).splitlines()[0]
                title, minutes = first.removeprefix("# "), minutes_of_reading(notebook)
            stations.append(Station(number, page, title, entry["asks"], minutes))
        found.append((stretch["stretch"], stations))
    return found


def count(path):
    """How many chapters there are, in words."""
    stations = [station for _, stations in path for station in stations]
    finished = sum(station.minutes is not None for station in stations)
    total = NUMBERS[len(stations)].capitalize()
    if finished == len(stations):
        return f"{total} chapters, all of them finished."
    verb = "are" if finished > 1 else "is"
    return f"{total} chapters are planned; {NUMBERS[finished]} of them {verb} finished."


def table(path):
    """The path as a Markdown table, which is also the picture in words."""
    lines = ["| no. | chapter | question | reading |", "|---|---|---|---|"]
    for _, stations in path:
        for s in stations:
            title = s.title if s.minutes is None else f"[{s.title}](../{s.page}.ipynb)"
            time = "planned" if s.minutes is None else f"{s.minutes} min"
            lines.append(f"| {s.number} | {title} | {s.asks} | {time} |")
    return "\n".join(lines)


def picture(path):
    """The path as a figure of two drawings, side by side where there is room."""
    half = (len(path) + 1) // 2
    parts = [part for part in (path[:half], path[half:]) if part]
    drawings = "\n".join(_drawing(part, last=part is parts[-1]) for part in parts)
    return f'<figure class="book-path">\n{drawings}\n</figure>'


def _drawing(stretches, last):
    """One drawing: its stretches under one another along a line."""
    y, body, done, stops = 0, [], [], []
    for name, stations in stretches:
        body.append(f'<text class="stretch" x="{TEXT}" y="{y + 22}">{escape(name)}</text>')
        y += STRETCH
        for station in stations:
            drawn, height = _station(station, y)
            body.append(drawn)
            stops.append(y + RADIUS)
            if station.minutes is not None and len(done) + 1 == len(stops):
                done.append(y + RADIUS)  # no gap before it
            y += height
    first, final = stretches[0][1][0].number, stretches[-1][1][-1].number
    begin, end = stops[0] if first == 1 else 0, stops[-1] if last else y
    label = f"The path from chapter {first} to chapter {final}, as in the table below"
    return "\n".join(
        [
            f'<svg viewBox="0 0 {WIDTH} {y}" role="group" aria-label="{label}">',
            f'<path class="ahead" d="M{LINE} {begin}V{end}"/>',
            f'<path class="done" d="M{LINE} {begin}V{done[-1] if done else begin}"/>',
            *body,
            "</svg>",
        ]
    )


def _station(s, y):
    """The drawing of one chapter at height ``y``, and the height it takes."""
    finished = s.minutes is not None
    asks = textwrap.wrap(s.asks, ASKS[1])
    if finished:
        joined = f"{asks[-1]} · {s.minutes} min"
        asks = [*asks[:-1], joined] if len(joined) <= ASKS[1] else [*asks, f"{s.minutes} min"]
    at, texts = y + 20, []
    for lines, (kind, _, height) in ((textwrap.wrap(s.title, TITLE[1]), TITLE), (asks, ASKS)):
        for line in lines:
            texts.append(f'<text class="{kind}" x="{TEXT}" y="{at}">{escape(line)}</text>')
            at += height
    body = (
        f'<circle cx="{LINE}" cy="{y + RADIUS}" r="{RADIUS}"/>'
        f'<text class="number" x="{LINE}" y="{y + RADIUS + 5}">{s.number}</text>{"".join(texts)}'
    )
    if finished:
        body = f'<a href="../{s.page}.html">{body}</a>'
    return f'<g class="{"finished" if finished else "planned"}">{body}</g>', at - y + 8


def fill(app, page, source):
    """Put the parts where the page asks for them."""
    if PICTURE in source[0] or TABLE in source[0] or COUNT in source[0]:
        root = Path(app.srcdir)
        path = read_path(root, app.env.found_docs)
        for station in (station for _, stations in path for station in stations):
            app.env.note_dependency(str(root / f"{station.page}.ipynb"))
        app.env.note_dependency(str(root / "book" / "path.yml"))
        for place, part in ((PICTURE, picture), (TABLE, table), (COUNT, count)):
            source[0] = source[0].replace(place, part(path))


def setup(app):
    app.connect("source-read", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
