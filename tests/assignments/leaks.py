"""Find lines of solutions and hidden tests where students could read them.

A secret is a line of at least 25 characters that stands in a solution, a hidden region or a model
answer, and nowhere in the open: not in the rest of the sources, the chapters or the library. What
the library says about assignments does not count as open, since a leak could be there.
"""

import html
import json
import re
import zipfile
from pathlib import Path

from course.hidden import BEGIN, split
from course.sources import BEGIN_SOLUTION, END_SOLUTION, find, role
from notebooks import ROOT, chapter_files, read

SHORTEST = 25
ASSIGNMENT_CHECKS = "assignment_*.py"

_TAG = re.compile(r"<[^<>]*>")
_MARKS = re.compile(r"[\s*`_]+")  # a page may break lines elsewhere and set words in bold


def normal(line):
    """A line without spaces and the marks of Markdown, as it is compared."""
    return _MARKS.sub("", line)


def lines_of(text):
    """The normal forms of the lines of a text that are long enough to tell something."""
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return {normal(line) for line in lines if len(line) >= SHORTEST}


def parts(cell):
    """A cell's text as (open, secret)."""
    if role(cell) == "manual":
        return "", cell.source
    if role(cell) == "test" and BEGIN in cell.source:
        return split(cell.source)
    seen, secret, inside = [], [], False
    for line in cell.source.split("\n"):
        if line.strip() in (BEGIN_SOLUTION, END_SOLUTION):
            inside = line.strip() == BEGIN_SOLUTION
        else:
            (secret if inside else seen).append(line)
    return "\n".join(seen), "\n".join(secret)


def secrets(root=ROOT):
    """The secret lines of all assignments, in normal form."""
    found, seen = set(), set()
    for assignment in find(root=root):
        for cell in assignment.notebook.cells:
            in_the_open, secret = parts(cell)
            seen |= lines_of(in_the_open)
            found |= lines_of(secret)
    for file in chapter_files(root=root):
        for cell in read(file).cells:
            seen |= lines_of(cell.source)
    for file in (root / "src").rglob("*.py"):
        if not file.match(ASSIGNMENT_CHECKS):
            seen |= lines_of(file.read_text(encoding="utf-8"))
    return found - seen


def readable(path):
    """Pairs of name and text of what a file lets a reader see; a zip file has many."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield from _readable(f"{path.name}/{name}", archive.read(name))
    else:
        yield from _readable(path.name, path.read_bytes())


def leaks(paths, secret):
    """Triples of file, name within it and secret line, of all that can be read in ``paths``."""
    files = [f for path in map(Path, paths) for f in (path.rglob("*") if path.is_dir() else [path])]
    return [
        (str(file), name, line)
        for file in sorted(files)
        if file.is_file()
        for name, text in readable(file)
        for line in sorted(lines_of(text) & secret)
    ]


def _readable(name, data):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return  # a picture, a font, a catalogue of translations
    if name.endswith((".ipynb", ".json")):
        yield name, "\n".join(_strings(json.loads(text)))
    elif name.endswith((".html", ".svg", ".xml")):
        yield name, html.unescape(_TAG.sub("", text))
    else:
        # A script may carry text in its strings.
        yield name, text + "\n" + text.replace("\\n", "\n").replace('\\"', '"')


def _strings(value):
    """All strings in what was read from a JSON file; lists of lines are put together."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _strings(one)
    elif isinstance(value, list):
        if all(isinstance(one, str) for one in value):
            yield "".join(value)
        for one in value:
            yield from _strings(one)
