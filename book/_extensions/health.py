"""The health of the book: what was checked of each chapter, as the checks wrote it down.

`make test` leaves reports in ``_build/reports``; `make health` keeps them in ``book/health.json``.
The newer of the two is shown here: as the table of the page ``book/health``, and to the bars of the
chapters. A chapter whose notebook is not the one that was checked is said to have changed since.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from html import escape
from pathlib import Path

from docutils import nodes
from read_chapters import FOLDER, chapters, depend_on_chapters, notebook, notebook_title, number

PAGE = "book/health"
PLACE = "<!-- the health of the chapters -->"
KEPT, REPORTS = "book/health.json", "_build/reports"
EXECUTED = "executed"
# The columns after those on the last run: kind of check, heading.
KINDS = {
    "claims": "claims of articles",
    "prose numbers": "numbers in prose",
    "widgets": "widgets",
    "links": "links",
}
NAMES = {"python": "Python", "numpy": "NumPy", "torch": "PyTorch", "matplotlib": "Matplotlib"}
HEADINGS = ("chapter", "last run", "took", "outputs compared", "assertions", *KINDS.values())
HEADINGS += ("versions",)


@dataclass(frozen=True)
class Checked:
    """What is known of one kind of check of one chapter."""

    facts: dict
    changed: bool

    @property
    def day(self):
        """When, as ``2026-11-30``."""
        return datetime.fromisoformat(self.facts["when"]).date().isoformat()

    @property
    def state(self):
        """ "", or what is wrong in words."""
        if self.facts["failed"]:
            return f"{self.facts['failed']} failed"
        return "changed since" if self.changed else ""


def read_reports(folder):
    """The reports in a folder: {chapter: {kind: facts}}."""
    found = {}
    for file in sorted(folder.glob("*/*.json")):
        facts = json.loads(file.read_text(encoding="utf-8"))
        found.setdefault(file.stem, {})[file.parent.name] = facts
    return found


def read_kept(file):
    """The last verified run, in the same form; empty if there is none yet."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def newest(*records):
    """Of several records the newest facts of each kind of each chapter."""
    merged = {}
    for record in records:
        for chapter, kinds in record.items():
            for kind, facts in kinds.items():
                before = merged.setdefault(chapter, {}).get(kind)
                if before is None or facts["when"] > before["when"]:
                    merged[chapter][kind] = facts
    return merged


def record(root):
    """The newest facts there are, of the book in ``root``."""
    return newest(read_kept(root / KEPT), read_reports(root / REPORTS))


def of_chapter(root, page, facts):
    """What is known of a chapter: {kind: Checked}, of the ``facts`` in the `record`."""
    now = sha256((root / f"{page}.ipynb").read_bytes()).hexdigest()
    kinds = facts.get(page.removeprefix(FOLDER), {})
    return {kind: Checked(known, known["notebook"] != now) for kind, known in kinds.items()}


def cell(checked):
    """The text of a cell: how much was checked, and what is wrong with that."""
    if checked is None:
        return "not checked"
    return f"{checked.facts['count']}" + (f", {checked.state}" if checked.state else "")


def row(title, address, known):
    """The row of one chapter, as texts; the first is a link."""
    run = known.get(EXECUTED)
    link = f'<a href="{escape(address)}">{escape(title)}</a>'
    cells = ["never", "", "not checked", "", *(cell(known.get(kind)) for kind in KINDS), ""]
    if run is not None:
        facts = run.facts
        last = run.day + (f", {run.state}" if run.state else "")
        used = [f"{NAMES.get(name, name)} {v}" for name, v in facts["versions"].items()]
        cells[:4] = last, f"{facts['seconds']:.0f} s", str(facts["count"]), str(facts["assertions"])
        cells[-1] = ", ".join(used)
    return [link, *map(escape, cells)]


def table(rows):
    """The table, in a box that scrolls where it is too wide."""
    head = "".join(f'<th scope="col">{heading}</th>' for heading in HEADINGS)
    body = "\n".join(
        f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{text}</td>" for text in rest) + "</tr>"
        for first, *rest in rows
    )
    return (
        '<div class="health" tabindex="0" role="region" aria-label="Health of the chapters">\n'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def note(app, page, source):
    """The page is made anew with each build: reports come and go without a change of a page."""
    if page == PAGE:
        depend_on_chapters(app.env)
        app.env.note_reread()


def fill(app, doctree, page):
    """Put the table in place of the comment."""
    if page != PAGE or app.builder.format != "html":
        return
    root = Path(app.srcdir)
    facts = record(root)
    rows = []
    for chapter in chapters(app.env):
        title = f"{number(chapter)}. {notebook_title(notebook(app.env, chapter))}"
        rows.append(row(title, f"../{chapter}.html", of_chapter(root, chapter, facts)))
    for comment in list(doctree.findall(nodes.raw)):
        if comment.astext().strip() == PLACE:
            comment.replace_self(nodes.raw("", table(rows), format="html"))


def setup(app):
    app.connect("source-read", note)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
