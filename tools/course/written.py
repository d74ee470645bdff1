"""Written answers in a notebook that was brought back to its form: put together, and read out.

Many write below the cell that was given for an answer, not into it. What stands in new cells up to
the next given one belongs to the answer; a cell of code is shown in it and stays where it is.
"""

from .sources import grade_id, role


def gather(notebook, released):
    """Put into each written answer what the student wrote in new cells below it, in place.

    Parameters
    ----------
    notebook : notebook
        As :func:`normalise.normalise` gives it.
    released : notebook
        The student version.
    """
    given = {cell.id: cell.source.strip() for cell in released.cells}
    kept, answer = [], None
    for cell in notebook.cells:
        if cell.id in given:
            answer = cell if role(cell) == "manual" else None
        elif answer is not None and cell.source.strip():
            before = answer.source.strip()
            untouched = before == given[answer.id]
            answer.source = "\n\n".join(filter(None, ("" if untouched else before, _text(cell))))
            if cell.cell_type == "markdown":
                if cell.get("attachments"):
                    answer["attachments"] = answer.get("attachments", {}) | cell.attachments
                continue
        kept.append(cell)
    notebook.cells = kept


def texts(executed):
    """The written answers in an executed notebook, by their names, as students wrote them."""
    cells = executed.cells if executed is not None else ()
    written = [cell for cell in cells if role(cell) == "manual"]
    return {grade_id(cell): cell.source.replace("&lt;", "<") for cell in written}


def own_code(executed, assignment):
    """The cells of code that are the student's own or that a student changed, questions apart."""
    given = {cell.source.strip() for cell in assignment.notebook.cells}
    cells = executed.cells if executed is not None else ()
    code = [cell for cell in cells if cell.cell_type == "code" and not role(cell)]
    return [cell for cell in code if cell.source.strip() and cell.source.strip() not in given]


def _text(cell):
    source = cell.source.strip()
    return source if cell.cell_type == "markdown" else f"```\n{source}\n```"
