"""Bring a notebook that a student handed in back to the form that was handed out.

Other programs lose the metadata that nbgrader goes by, and students copy, move, delete and edit
cells. Each cell of the released version is looked for in the notebook: by its name, by its text, by
the functions it defines, and by its neighbours. What students write stays as it is and where it is;
what they were given to be tested with is put back from the source, once each and after the answer.
"""

import difflib
import re
from dataclasses import dataclass, field

import nbformat
import nbformat.v4 as v4

from .sources import grade_id, role

LARGEST = 50_000_000  # bytes of a notebook
ALIKE = 0.6  # how much of a changed cell must still be that of the released one
COMPARED = 4000  # characters of a cell that are compared
MOST = 1000  # cells of a notebook
FOREIGN = "no cell of this assignment is in it"
NAMES = "names"  # where a cell that came in keeps the names it had, until it is matched

_DEFINED = re.compile(r"^(?:def|class)\s+(\w+)", re.MULTILINE)


class Unreadable(ValueError):
    """A file that holds no notebook of this assignment; the message says why."""


@dataclass
class Normalised:
    """A notebook ready to be graded, and what was done to it, as lines of text."""

    notebook: dict
    notes: list = field(default_factory=list)


def read_submission(path):
    """The notebook at ``path``, whatever program saved it.

    Raises
    ------
    Unreadable
        If there is none, or it is too large.
    """
    if path.stat().st_size > LARGEST:
        raise Unreadable(f"it is larger than {LARGEST / 1e6:g} MB")
    try:
        text = path.read_text(encoding="utf-8-sig")
        notebook = nbformat.reads(text, as_version=4)
        cells = [cell for cell in map(_plain, notebook.cells) if cell is not None]
    except (ValueError, RecursionError):
        raise Unreadable("it is no notebook: cut off, or another kind of file") from None
    except Exception:  # a file can be wrong in any way
        raise Unreadable("it is no notebook: there are no cells in it") from None
    if len(cells) > MOST:
        raise Unreadable(f"it has more than {MOST} cells")
    return v4.new_notebook(cells=cells)


def normalise(submitted, released, source):
    """The notebook ``submitted``, with the cells of ``released`` in their places.

    Parameters
    ----------
    submitted : notebook
        As :func:`read_submission` gives it.
    released : notebook
        The student version.
    source : notebook
        The instructor's, of which come the test cells with their hidden parts.

    Returns
    -------
    Normalised

    Raises
    ------
    Unreadable
        If no cell of the assignment is in it.
    """
    if not fit(submitted, released):
        raise Unreadable(FOREIGN)
    found = _match(submitted.cells, released.cells, LOOKS)
    originals = {grade_id(cell): cell for cell in source.cells if grade_id(cell)}
    taken = {place: n for n, place in found.items()}
    notes, cells = [], []
    for n, place in enumerate(_places(found, released.cells)):
        given = released.cells[n]
        if role(given) in ("test", "check"):
            cells.append((place, _locked(given, originals)))
            notes += _about(given, submitted.cells[found[n]] if n in found else None)
    copies = 0
    for n, cell in enumerate(submitted.cells):
        given = released.cells[taken[n]] if n in taken else None
        if given is None and _is_copy(cell, released.cells):
            copies += 1
        elif given is None or role(given) not in ("test", "check"):
            cells.append(((n, 0), _written(cell, given)))
    if copies:
        notes.append(f"{_count(copies, 'copy', 'copies')} of a given cell left out")
    lost = sum(
        grade_id(submitted.cells[m]) != grade_id(released.cells[n]) for n, m in found.items()
    )
    if lost:
        notes.append(f"names of {_count(lost, 'cell', 'cells')} restored")
    ordered = [cell for _, cell in sorted(cells, key=lambda pair: pair[0])]
    return Normalised(_whole(ordered, released), notes)


def fit(submitted, released):
    """How many cells of the questions of ``released`` are in the notebook ``submitted``."""
    sure = _match(submitted.cells, released.cells, LOOKS[:-1])
    return sum(bool(role(released.cells[n])) for n in sure)


def _match(submitted, released, looks):
    """Which cell of a submission is which of the released ones: {place there: place here}."""
    found = {}
    for look in looks:
        for n, cell in enumerate(released):
            if n not in found:
                taken = set(found.values())
                free = [m for m in range(len(submitted)) if m not in taken]
                m = look(cell, n, submitted, free, found)
                if m is not None:
                    found[n] = m
    return found


def _by_name(cell, _n, submitted, free, _found):
    """By the name that nbgrader or a program gave it; of copies, the one that was worked on."""
    name = grade_id(cell) or cell.get("id")
    named = [m for m in free if name in submitted[m].metadata[NAMES]]
    changed = [m for m in named if submitted[m].source.strip() != cell.source.strip()]
    if role(cell) in ("test", "check"):
        changed = [m for m in named if m not in changed]  # an edited copy is the student's own
    return (changed or named or [None])[-1]


def _by_text(cell, _n, submitted, free, _found):
    text = cell.source.strip()
    return next((m for m in free if text and submitted[m].source.strip() == text), None)


def _by_definitions(cell, _n, submitted, free, _found):
    """A solution cell by what it defines; the last one, as it is the one that counts."""
    wanted = set(_DEFINED.findall(cell.source))
    if role(cell) != "solution" or not wanted:
        return None
    named = [m for m in free if wanted <= set(_DEFINED.findall(submitted[m].source))]
    return named[-1] if named else None


def _by_likeness(cell, _n, submitted, free, _found):
    if not role(cell):
        return None
    rated = [
        (_likeness(cell.source, submitted[m].source), m)
        for m in free
        if submitted[m].cell_type == cell.cell_type
    ]
    best = max(rated, default=(0, None))
    return best[1] if best[0] >= ALIKE else None


def _by_neighbours(cell, n, submitted, free, found):
    """A cell students write in, as the first unknown one between those known around it."""
    if role(cell) not in ("solution", "manual"):
        return None
    before = max((found[k] for k in found if k < n), default=-1)
    after = min((found[k] for k in found if k > n), default=len(submitted))
    between = [m for m in free if before < m < after]
    fitting = [m for m in between if submitted[m].cell_type == cell.cell_type]
    return fitting[0] if fitting else None


LOOKS = (_by_name, _by_text, _by_definitions, _by_likeness, _by_neighbours)


def _likeness(one, other):
    matcher = difflib.SequenceMatcher(None, one[:COMPARED], other[:COMPARED], autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= ALIKE else 0.0


def _places(found, released):
    """Where each released cell goes: (place in the submission, order there)."""
    places, before, answer = [], (-1, 0), (-1, 0)
    for n, cell in enumerate(released):
        place = (found[n], 0) if n in found else (before[0], before[1] + 1)
        if role(cell) in ("solution", "manual"):
            answer = place
        elif role(cell) and place <= answer:  # a test that stands before what it tests
            last = max(answer, before)
            place = (last[0], last[1] + 1)
        places.append(place)
        before = place
    return places


def _about(given, cell):
    """What to say of a locked cell as it came in."""
    if role(given) != "test":
        return []
    if cell is None:
        return [f"{grade_id(given)} was missing: put back"]
    if cell.source.strip() != given.source.strip():
        return [f"{grade_id(given)} had been edited: put back as it was"]
    return []


def _is_copy(cell, released):
    """Whether a cell says, word for word, what one that was given for a question does."""
    return any(role(given) and given.source.strip() == cell.source.strip() for given in released)


def _locked(given, originals):
    """A cell that students were given: from the source, where it has hidden parts."""
    cell = v4.new_code_cell(originals[grade_id(given)].source, id=given.id)
    cell.metadata["nbgrader"] = dict(given.metadata.nbgrader)
    return cell


def _written(cell, given):
    """A cell as the student wrote it, with the name and kind of the released one."""
    kind = cell.cell_type if given is None else given.cell_type
    make = v4.new_code_cell if kind == "code" else v4.new_markdown_cell
    made = make(cell.source)
    if kind == "markdown" and cell.get("attachments"):
        made["attachments"] = cell["attachments"]
    if given is not None:
        made["id"] = given.id
        if role(given):
            made.metadata["nbgrader"] = dict(given.metadata.nbgrader)
    return made


def _plain(cell):
    """What counts of a cell that came in; None for one that is neither code nor text."""
    if cell.cell_type not in ("code", "markdown"):
        return None
    make = v4.new_code_cell if cell.cell_type == "code" else v4.new_markdown_cell
    made = make(str(cell.source))
    marks = cell.metadata.get("nbgrader")
    marked = marks.get("grade_id") if isinstance(marks, dict) else None
    names = [marked, cell.get("id"), cell.metadata.get("id")]  # the last is Colab's
    made.metadata[NAMES] = [name for name in names if isinstance(name, str)]
    if isinstance(marked, str):
        made.metadata["nbgrader"] = {"grade_id": marked}
    if isinstance(cell.get("attachments"), dict):
        made["attachments"] = cell["attachments"]
    return made


def _whole(cells, released):
    """A notebook of the cells, in which no two have the same id."""
    seen = set()
    for cell in cells:
        if cell.id in seen:
            cell["id"] = v4.new_code_cell().id
        seen.add(cell.id)
    return v4.new_notebook(cells=cells, metadata=dict(released.metadata))


def _count(number, one, many):
    return f"{number} {one if number == 1 else many}"
