"""The tables that leave the grader: grades.csv, and what Moodle and Canvas import.

``grades.csv`` has a row for each student and question. The two others have a row for each student
with the points of the whole assignment, left empty where a part of it is not graded yet.

Moodle, "Upload grading worksheet" of an assignment (Feedback types: Offline grading worksheet). The
importer looks for the columns ``Identifier`` ("Participant" and the number that Moodle puts into
the names of downloaded files), ``Grade`` and ``Last modified (grade)``, all three needed, and
``Feedback comments``; it reads UTF-8 with commas, skips rows without a grade, and those that Moodle
graded later unless told otherwise (moodle: mod/assign/feedback/offline/importgradeslib.php and
locallib.php). ``Full name`` is there for people.

Canvas, Grades > Import. The header must begin with ``Student`` and ``ID``; ``SIS User ID`` and
``SIS Login ID`` may follow, ``Section`` must; then come assignments, by title, here with a row of
``Points Possible``. A student is found by Canvas's own number in ``ID``, else by the SIS columns,
else by name (canvas-lms: lib/gradebook_importer.rb). The number is taken from the names of
downloaded files; without one, the student's name here is given as the login.
"""

import csv
import io

from notebooks import write_atomically

GRADES = ("student", "assignment", "question", "points", "max", "comment", "status", "graded")
MOODLE = ("Identifier", "Full name", "Grade", "Last modified (grade)", "Feedback comments")
CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n")
LONGEST = 2000  # characters of a text
BOM = "\N{BYTE ORDER MARK}"  # by which Excel knows UTF-8


def harmless(text):
    """``text`` as no spreadsheet takes it for a formula, and not too long, cut between words.

    >>> harmless('=HYPERLINK("x")'), harmless("right")
    ('\\'=HYPERLINK("x")', 'right')
    >>> [harmless(text)[-8:] for text in ("word " * 500, "x" * 3000, " " * 3000)]
    ['word ...', 'xxxx ...', '     ...']
    """
    text = str(text)
    if len(text) > LONGEST:
        kept = text[: LONGEST - 4]
        text = f"{kept.rpartition(' ')[0] or kept} ..."
    return f"'{text}" if text.lstrip(" ").startswith(_ACTIVE) else text


def write_grades(path, rows):
    """Write grades.csv from the rows of questions (see ``marks.py``)."""
    lines = [
        (
            harmless(row.student),
            row.assignment,
            row.question,
            number(row.points),
            number(row.max),
            harmless(row.comment),
            row.status,
            row.graded,
        )
        for row in rows
    ]
    _write(path, [GRADES, *lines], BOM)


def write_moodle(path, totals):
    """Write the grading worksheet for Moodle."""
    lines = [
        (
            f"Participant {total.moodle}" if total.moodle else "",
            harmless(total.shown),
            number(total.points),
            total.graded,
            harmless(total.comment),
        )
        for total in totals
    ]
    _write(path, [MOODLE, *lines])


def write_canvas(path, totals, title, points):
    """Write the table for Canvas's gradebook, for an assignment of that title."""
    lines = [
        (
            harmless(total.shown),
            total.canvas,
            "",
            "" if total.canvas else harmless(total.shown),
            "",
            number(total.points),
        )
        for total in totals
    ]
    possible = ("    Points Possible", "", "", "", "", number(points))
    _write(path, [(*CANVAS, title), possible, *lines])


def number(points):
    """Points as text: without a point where they are whole, empty where there are none.

    >>> number(2.0), number(1.5), number(None)
    ('2', '1.5', '')
    """
    return "" if points is None else f"{points:g}"


def _write(path, lines, begin=""):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(lines)
    write_atomically(path, begin + file.getvalue())
