"""Pages for students: points, what went wrong, and their own code; nothing of the hidden tests.

Of a test cell a page shows its comment, which students know. What students wrote or printed is
escaped, and lines of hidden tests are left out of it, should their code have got hold of them. A
page is one file that loads nothing.
"""

from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from notebooks import write_atomically

from . import hidden
from .marks import NOT_GRADED, about, failures
from .sources import grade_id, role

LEFT_OUT = "[a line of the hidden tests is left out here]"
TELLING = 12  # characters that a line must have to be taken for one of the hidden tests
LONGEST = 4000  # characters of a cell's output

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: auto; padding: 1rem; }}
table {{ border-collapse: collapse; }}
td, th {{ border: 1px solid #888; padding: .3rem .6rem; text-align: left; vertical-align: top; }}
pre {{ border-left: 4px solid #888; padding-left: .8rem; white-space: pre-wrap; }}
pre, td:last-child {{ overflow-wrap: anywhere; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


@dataclass(frozen=True)
class Answers:
    """What a person reads of one student."""

    shown: str
    texts: dict  # by the name of the question
    code: list  # cells of the student's own, executed
    path: str  # of the executed notebook, from the page


def hidden_lines(notebook):
    """The lines of a notebook's hidden tests, and of what is put in front of them."""
    lines = hidden.preamble().split("\n")
    for cell in notebook.cells:
        if role(cell) == "test":
            lines += hidden.split(cell.source)[1].split("\n")
    return {line.strip() for line in lines if len(line.strip()) >= TELLING}


def without(lines, text):
    """``text`` without what has one of the ``lines`` in it.

    >>> without({"judge.close(answer, 3)"}, "so far\\n  judge.close(answer, 3)")
    'so far\\n[a line of the hidden tests is left out here]'
    """
    return "\n".join(
        LEFT_OUT if any(line in one for line in lines) else one for one in text.split("\n")
    )


def student_page(assignment, record, rows, executed):
    """The page of one student, as HTML.

    Parameters
    ----------
    assignment : Assignment
    record : dict
        What a run found out about the submission.
    rows : list of marks.Row
    executed : notebook or None
    """
    told = hidden_lines(assignment.notebook)
    points = [row.points for row in rows]
    total = "not complete yet" if None in points else f"{sum(points):g} of {assignment.points:g}"
    body = [f"<p><strong>Points: {total}</strong></p>"]
    if record["reason"]:
        body.append(f"<p>{escape(without(told, record['reason']))}</p>")
    notes = [one for one in record.get("notes", []) if not any(one in row.comment for row in rows)]
    body += [f"<p>{escape(note)}.</p>" for note in notes]
    shown = executed is not None and record["status"] != NOT_GRADED
    questions = {one.name: one for one in assignment.questions}
    lines = [_summary(questions[row.question], row, record if shown else None) for row in rows]
    body.append(_table(("question", "points", "status", "comment"), lines))
    if shown:
        for question in assignment.questions:
            body += _question(question, record, executed, told)
    title = f"{assignment.title}: {record['shown']}"
    return _PAGE.format(title=escape(title), body="\n".join(body))


def answers_page(assignment, answers):
    """The written answers of all students, to be read by those who give points.

    Parameters
    ----------
    assignment : Assignment
    answers : list of Answers
    """
    body = [
        "<p>Points go into <code>manual.csv</code>, beside this page; then grade again: what has "
        "not changed does not run again.</p>"
    ]
    for question in filter(lambda one: one.manual, assignment.questions):
        body.append(f"<h2>{escape(question.title)} ({question.points:g} points)</h2>")
        for n, one in enumerate(answers):
            text = one.texts.get(question.name, "")
            body.append(f"<h3>{escape(one.shown)}</h3><pre>{escape(text)}</pre>")
            body.append(f'<p><a href="#cells-{n}">Cells of their own</a></p>')
    body.append("<h2>Cells of the students' own</h2>")
    body.append("<p>Code and what it printed; the executed notebooks have the pictures.</p>")
    for n, one in enumerate(answers):
        body.append(f'<h3 id="cells-{n}">{escape(one.shown)}</h3>')
        link = f'<a href="{quote(one.path)}"><code>{escape(one.path)}</code></a>'
        body.append(f"<p>The executed notebook: {link if one.path else 'none'}</p>")
        body += [_cell(cell.source, _printed(cell)) for cell in one.code]
    title = f"Written answers: {assignment.title}"
    return _PAGE.format(title=escape(title), body="\n".join(body))


def write_pages(folder, pages):
    """Write pages as {student: text} into ``folder``, and remove those of earlier runs."""
    if folder.is_dir():
        for page in folder.glob("*.html"):
            page.unlink()
    for student, text in pages.items():
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{student}.html", text)


def _summary(question, row, record):
    """A line of the first table; the failed tests of a ``record`` are told below, not here."""
    points = "–" if row.points is None else f"{row.points:g}"
    comment = row.comment
    for told in failures(question, record) if record else ():
        comment = comment.replace(told, "", 1)
    comment = "; ".join(filter(None, comment.split("; ")))
    return question.title, f"{points} of {row.max:g}", row.status, comment


def _table(head, lines):
    cells = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(text))}</td>" for text in line) + "</tr>\n"
        for line in lines
    )
    return f"<table>\n<thead><tr>{cells}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def _question(question, record, executed, told):
    """A question's answer, what the cell printed, and its tests."""
    yield f"<h2>{escape(question.title)}</h2>"
    cell = next((one for one in executed.cells if grade_id(one) == question.name), None)
    if cell is None:
        yield "<p>There is no cell with an answer.</p>"
    else:
        yield _cell(without(told, cell.source), without(told, _printed(cell)))
    lines = []
    for test in question.tests:
        said = record["tests"][grade_id(test)]
        points = test.metadata.nbgrader.points
        came = "passed" if said["passed"] else said["message"]
        lines.append((about(test), f"{points if said['passed'] else 0:g} of {points:g}", came))
    if lines:
        yield _table(("test", "points", "outcome"), lines)


def _cell(source, printed):
    """What stands in a cell, and what it printed."""
    shown = f"<pre>{escape(source)}</pre>"
    if printed:
        shown += f"\n<p>It printed:</p>\n<pre>{escape(printed[:LONGEST])}</pre>"
    return shown


def _printed(cell):
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append("\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
        else:
            parts.append(output.get("data", {}).get("text/plain", ""))
    return "\n".join(part.rstrip("\n") for part in parts if part)
