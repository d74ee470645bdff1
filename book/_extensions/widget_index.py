"""The index of widgets: what each of them is for, and the places in the chapters that show it."""

import inspect
import re

from read_chapters import chapters, depend_on_chapters, notebook, number

from minitransformer import widgets

PAGE = "book/index_widgets"
PLACE = "<!-- the widgets -->"
STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"


def shown(content):
    """The widgets that a notebook shows: pairs of class name and cell id, in order."""
    stored = content["metadata"].get("widgets", {}).get(STATE, {}).get("state", {})
    found = []
    for cell in content["cells"]:
        for output in cell.get("outputs", ()):
            if VIEW in output.get("data", {}):
                model = stored[output["data"][VIEW]["model_id"]]
                found.append((model["state"]["_anywidget_id"].rpartition(".")[2], cell["id"]))
    return found


def spoken(name):
    """The name of a class as words.

    >>> spoken("SwitchHeadsOff")
    'Switch heads off'
    """
    return " ".join(re.findall("[A-Z][a-z0-9]*", name)).capitalize()


def purpose(name):
    """What a widget is for: the first sentence about its class."""
    first = inspect.getdoc(getattr(widgets, name)).split("\n\n")[0]
    sentence = re.split(r"(?<=\.)\s|;\s", " ".join(first.split()))[0].rstrip(".")
    return sentence.replace("`", "") + "."


def table(places):
    """The index in Markdown, of {class name: [(page, cell id), ...]}."""
    lines = ["| widget | what it is for | where |", "|---|---|---|"]
    for name in sorted(places, key=spoken):
        where = ", ".join(
            f'<a href="../{page}.html#{cell}">chapter&nbsp;{number(page)}</a>'
            for page, cell in _first_of_each(places[name])
        )
        lines.append(f"| {spoken(name)} | {purpose(name)} | {where} |")
    return "\n".join(lines)


def _first_of_each(places):
    """Of several places in one chapter the first."""
    first = {}
    for page, cell in places:
        first.setdefault(page, cell)
    return first.items()


def fill(app, page, source):
    """Put the table where the page asks for it."""
    if page == PAGE and PLACE in source[0]:
        depend_on_chapters(app.env)
        places = {}
        for chapter in chapters(app.env):
            for name, cell in shown(notebook(app.env, chapter)):
                places.setdefault(name, []).append((chapter, cell))
        source[0] = source[0].replace(PLACE, table(places))


def setup(app):
    app.connect("source-read", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
