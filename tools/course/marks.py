"""From the scores of cells to the points, the status and the comment of each question."""

from dataclasses import dataclass

from . import hidden
from .sources import grade_id

GRADED, STOPPED, BY_HAND = "graded", "stopped", "to be graded by hand"
UNREADABLE, NOT_GRADED = "unreadable", "not graded"
STOPS = ("timeout", "flood", "died", "not run")  # how cells end that did not come back
NO_ANSWER = "no answer"
SHORT = 300  # characters of what went wrong in a test


@dataclass(frozen=True)
class Row:
    """One question of one student."""

    student: str
    assignment: str
    question: str
    points: float | None  # None: not graded yet
    max: float
    comment: str
    status: str
    graded: str  # when


@dataclass(frozen=True)
class Total:
    """One student's points of a whole assignment."""

    student: str
    shown: str
    moodle: str
    canvas: str
    points: float | None  # None: a part is not graded yet
    graded: str
    comment: str


def rows(assignment, record, scores):
    """The rows of a student's questions.

    Parameters
    ----------
    assignment : Assignment
    record : dict
        What a run found out about the submission (see ``grade.py``).
    scores : dict
        The :class:`gradebook.Score` of each graded cell; empty where the student is not in it.
    """
    return [_row(assignment, question, record, scores) for question in assignment.questions]


def total(assignment, record, rows):
    """The points of a student's rows together."""
    titles = {question.name: question.title for question in assignment.questions}
    points = [row.points for row in rows]
    if record["status"] in (NOT_GRADED, UNREADABLE):  # all rows give the same reason
        told = [record["reason"]]
    else:
        told = [f"{titles[row.question]}: {row.comment}" for row in rows if row.comment]
    return Total(
        record["student"],
        record["shown"],
        record["moodle"],
        record["canvas"],
        None if None in points else sum(points),
        record["graded"],
        "; ".join(told),
    )


def about(cell):
    """What a test cell grades, in the plain words of its comment, which students see."""
    lines = hidden.split(cell.source)[0].strip().split("\n")
    return " ".join(line.lstrip("# ").strip() for line in lines).rstrip(".")


def failures(question, record):
    """Of each failed test of a question what it grades and what it said, as a comment has it."""
    told = []
    for cell in question.tests:
        test = record["tests"][grade_id(cell)]
        if not test["passed"]:
            told.append(f"{about(cell)}: {test['message'][:SHORT]}")
    return told


def _row(assignment, question, record, scores):
    names = [grade_id(cell) for cell in (question.tests or (question.solution,))]
    points = None
    if record["status"] == NOT_GRADED:
        status, told = NOT_GRADED, [record["reason"]]
    elif record["status"] == UNREADABLE:
        status, told, points = UNREADABLE, [record["reason"]], 0.0
    else:
        given = [scores[name].points for name in names]
        points = None if None in given else sum(given)
        cells = record["answers"] | record["tests"]
        stopped = any(cells.get(n, {}).get("status") in STOPS for n in (question.name, *names))
        status = BY_HAND if points is None else STOPPED if stopped else GRADED
        told = _told(question, record, scores)
        told += [note for note in record["notes"] if note.partition(" ")[0] in names]
    return Row(
        record["student"],
        assignment.key,
        question.name,
        points,
        question.points,
        "; ".join(filter(None, told)),
        status,
        record["graded"],
    )


def _told(question, record, scores):
    """What there is to say of a question: the cells that failed, and a person's comment."""
    told = []
    answer = record["answers"].get(question.name)
    if answer is not None and answer["status"] != "ok":
        told.append(f"the answer's own cell: {answer['message'][:SHORT]}")
    told += failures(question, record)
    if question.manual:
        score = scores[question.name]
        told.append(score.comment)
        if score.points == 0 and not score.by_hand:
            told.append(NO_ANSWER)
    changed = [scores[grade_id(cell)] for cell in question.tests]
    reasons = [f": {score.comment}" if score.comment else "" for score in changed if score.by_hand]
    return told + [f"points were changed by hand{reason}" for reason in dict.fromkeys(reasons)]
