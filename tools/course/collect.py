"""Find out whose notebook is which in a folder of submissions, and name students safely.

Three layouts are known, and may be mixed:

- a folder per student with notebooks anywhere in it, as nbgrader and Moodle give them;
- files, ``<student>_<assignment>.ipynb``, with other signs between the two and the other way round
  as well; without the assignment in it, the whole of the name is the student's;
- the names that learning platforms give: Moodle's ``<name>_<number>_assignsubmission_file_…`` and
  Canvas's ``<name>_[LATE_]<user>_<file>_<file name>``. Their numbers go into the tables that the
  platforms import (see ``export.py``).
"""

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from .sources import CourseError

_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_\w+?_?(?:[^\w].*|_.*)?")
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<number>\d+)_\d+_.+")
_SIDE_PATHS = ("__MACOSX", ".ipynb_checkpoints")
_COPY = re.compile(r"[ _-]*(?:\(\d+\)|copy\d*|-\d+)$", re.IGNORECASE)
_ANOTHER = r"a\d+(?:_[a-z]+)*"  # an assignment's name, whichever it is
_UNSAFE = re.compile(r"[^\w.@-]+")
LONGEST = 60  # characters of a student's name in a path


@dataclass
class Submission:
    """What one student handed in: the notebooks, of which one is taken later."""

    student: str  # safe in paths and in nbgrader
    shown: str  # the name as it was found, without what cannot be printed
    moodle: str = ""  # the number of Moodle's participant
    canvas: str = ""  # the number of Canvas's user
    files: list = field(default_factory=list)


def collect(folder, assignment):
    """The submissions in ``folder``, and what was left aside: (submissions, [(path, reason)]).

    Parameters
    ----------
    folder : path
    assignment : str
        The name of the assignment's notebook, such as ``"a1_attention"``.

    Raises
    ------
    CourseError
        If there is no such folder, or nothing in it to grade.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise CourseError(f"{folder} is no folder; SUBMISSIONS= names the one with the submissions")
    found, aside = {}, []
    for entry in sorted(folder.iterdir(), key=_in_order):
        reason = _add(entry, assignment, found, aside)
        if reason:
            aside.append((entry, reason))
    if not found:
        raise CourseError(f"there is no submission in {folder}")
    return [found[key] for key in sorted(found)], aside


def safe_name(name):
    """``name`` as a student is called in paths: no separator, no leading dot, never empty.

    What had to be changed gets a mark made from the whole name, so no two names become one.

    >>> safe_name("anna"), safe_name("Ánna Müller")
    ('anna', 'Ánna-Müller')
    >>> safe_name("../anna")
    'anna-ec02c7'
    """
    plain = unicodedata.normalize("NFC", name)
    spaced = re.sub(r"\s+", "-", plain.strip())
    safe = _UNSAFE.sub("-", spaced).strip(".-@")[:LONGEST]
    if safe and safe == spaced:
        return safe
    mark = hashlib.sha256(plain.encode("utf-8", "surrogateescape")).hexdigest()[:6]
    return f"{safe}-{mark}".lstrip("-")


def _add(entry, assignment, found, aside):
    """Enter a file or folder into what was found; why not, if it was not."""
    if entry.is_symlink():
        return "a link is not followed"
    if entry.name.startswith("._") or entry.name in _SIDE_PATHS:
        return "no hand-in: a program has put it there"
    if entry.is_dir():
        files = list(_notebooks(entry, aside))
        if not files:
            return "no notebook in it"
        submission = _whose(entry.name, "")
    elif entry.suffix.lower() != ".ipynb":
        packed = entry.suffix.lower() in (".zip", ".tar", ".gz", ".7z")
        return "an archive: unpack it first" if packed else "no notebook"
    else:
        files, submission = [entry], _whose(entry.stem, assignment)
    if submission is None:
        return "its name tells no student"
    known = found.setdefault(submission.student.casefold(), submission)
    if known.shown != submission.shown:
        return f"its student {submission.shown!r} is not told from {known.shown!r}: rename one"
    known.files += files
    return ""


def _notebooks(folder, aside):
    """The notebooks below a student's folder, the newest of numbered copies last."""
    for path in sorted(folder.rglob("*"), key=_in_order):
        inner = path.relative_to(folder).parts
        if any(part in _SIDE_PATHS or part.startswith(".") for part in inner):
            continue
        if path.is_symlink():
            aside.append((path, "a link is not followed"))
        elif path.is_file() and path.suffix.lower() == ".ipynb":
            yield path
        elif path.is_file():
            aside.append((path, "not used: one notebook is handed in"))


def _whose(name, assignment):
    """The student that a folder's or file's name tells of; None if it tells of none."""
    name = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for letter in unicodedata.normalize("NFC", name)
    )
    moodle, canvas = _MOODLE.fullmatch(name), _CANVAS.fullmatch(name)
    if moodle:
        key = f"{moodle['name']}_{moodle['number']}"
        return Submission(safe_name(key), moodle["name"], moodle=moodle["number"])
    if not assignment:  # a folder: the whole name is the student's
        return Submission(safe_name(name), name)
    if canvas:
        key = f"{canvas['name']}_{canvas['number']}"
        return Submission(safe_name(key), canvas["name"], canvas=canvas["number"])
    student = _without(assignment, name)
    return Submission(safe_name(student), student) if student else None


def _without(assignment, name):
    """What is left of a file's name without the assignment: in front of it, or else behind."""
    for known in (*map(re.escape, (assignment, assignment.partition("_")[0])), _ANOTHER):
        found = re.search(rf"(?<![^\W_]){known}(?![^\W_])", name, re.IGNORECASE)
        if found:
            parts = name[: found.start()], _COPY.sub("", name[found.end() :])
            return next(filter(None, (part.strip(" ._-") for part in parts)), "")
    return name.strip()


def _in_order(path):
    """A key that sorts numbers in names by value, and a name before its copies."""
    name = str(path.with_suffix(""))
    parts = re.split(r"(\d+)", unicodedata.normalize("NFC", name).casefold())
    return [int(part) if part.isdecimal() else part for part in parts], path.name
