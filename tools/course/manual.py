"""Points that people give: a table that a teacher fills in, and that each run reads and rewrites.

``manual.csv`` has a row for each written answer. Its column ``submission`` names the very file that
was read, so points given for one version are not taken over to another. Rows can also be added for
test cells, to change their points. What was entered in nbgrader's formgrader goes into the table as
well, and where both have points those of the table count. Points that stood in the table when it
was written and no longer do are taken back: a copy beside it, ``.manual.csv``, tells which.
"""

import csv
import io
from dataclasses import dataclass, replace

from notebooks import write_atomically

from .export import BOM, harmless, number
from .sources import CourseError

COLUMNS = ("student", "question", "cell", "points", "max", "comment", "submission")


@dataclass(frozen=True)
class Row:
    """One row of the table; ``points`` is None where nobody has given any."""

    student: str
    question: str
    cell: str
    points: float | None
    max: float
    comment: str
    submission: str

    @property
    def key(self):
        """What a row is about."""
        return self.student, self.cell, self.submission


def read(path, largest):
    """The rows of a table; none if there is no file.

    Parameters
    ----------
    path : Path
    largest : dict
        The points of each graded cell, by name.

    Raises
    ------
    CourseError
        If a row is not about a graded cell, or its points are no number from 0 to the maximum. All
        such rows are named. Or if the file is not in UTF-8.
    """
    rows, faults = _read(path, largest)
    if faults:
        raise CourseError("\n".join(faults))
    return rows


def taken_back(path, rows, largest):
    """The rows that had points when the table was written, and have none in ``rows``, as read now.

    Without a table none: a file that is gone takes nothing back.
    """
    given = {row.key for row in rows if row.points is not None}
    former = _read(_copy(path), largest)[0] if path.exists() else []
    return [row for row in former if row.points is not None and row.key not in given]


def _read(path, largest):
    """The rows of a table, and what is wrong with others."""
    if not path.exists():
        return [], []
    try:
        content = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        told = "save it anew as CSV with the character set UTF-8 (Excel: CSV UTF-8)"
        raise CourseError(f"{path} is not in UTF-8: {told}") from None
    head = content.partition("\n")[0]
    comma = max(",;\t", key=head.count)  # spreadsheets write any of them
    table = csv.DictReader(io.StringIO(content, newline=""), delimiter=comma)
    missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
    if missing:
        raise CourseError(f"{path}: the first row lacks {', '.join(missing)}")
    rows, faults = [], []
    for line in table:
        if not any(line.values()):
            continue
        try:
            rows.append(_row(line, largest))
        except ValueError as error:
            faults.append(f"{path}, line {table.line_num}: {error}")
    return rows, faults


def _row(line, largest):
    values = {name: (line[name] or "").strip() for name in COLUMNS}
    cell, given = values["cell"], values["points"]
    if cell not in largest:
        raise ValueError(f"{cell!r} is no graded cell of this assignment")
    try:
        points = float(given.replace(",", ".")) if given else None
    except ValueError:
        raise ValueError(f"{given!r} is no number of points") from None
    if points is not None and not 0 <= points <= largest[cell]:
        raise ValueError(f"{given} points are not from 0 to {largest[cell]:g}")
    return Row(**{**values, "points": points, "max": largest[cell]})


def write(path, rows):
    """Write the table, in the order of students and cells, and its copy."""
    file = io.StringIO(newline="")
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in sorted(rows, key=lambda row: row.key):
        cells = (row.student, row.question, row.cell, number(row.points), number(row.max))
        table.writerow([*cells, harmless(row.comment), row.submission])
    for one in (path, _copy(path)):
        write_atomically(one, BOM + file.getvalue())


def _copy(path):
    return path.with_name(f".{path.name}")


def joined(rows, others):
    """``rows``, and of ``others`` what they lack: rows about something else, and points."""
    known = {row.key: row for row in rows}
    for row in others:
        mine = known.get(row.key)
        if mine is None or mine.points is None:
            comment = mine.comment if mine is not None and mine.comment else row.comment
            known[row.key] = replace(row, comment=comment)
    return list(known.values())
