"""Student versions: nbgrader takes solutions and hidden tests out of the checked sources.

What is graded later is the grader's copy in ``source/``, in which every hidden test is guarded (see
``hidden.py``). A student version depends on its source alone, so another run gives the same bytes.
"""

import os
import sys
import tempfile
from pathlib import Path

import nbformat.v4 as v4
from notebooks import ROOT, read, to_text, write_atomically
from setup_cell import repository

from .faults import find_checked
from .hidden import course_secret
from .sources import CourseError
from .validate import solved, validate

COURSE = Path("_build", "course")
HANDOUTS = Path("_build", "assignments")
STUB = "raise NotImplementedError  # your code comes here"
ANSWER = "YOUR ANSWER HERE"
BRANCH = "gh-pages"  # the site is published there, student versions in its folder assignments/
NO_NBGRADER = (
    "this needs nbgrader, and nbgrader needs Python 3.11 or newer: remove .venv and set up again "
    "with such a Python, as in `make assignments PYTHON=python3.12`"
)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def course_api(course):
    """nbgrader's own API on a course folder, which is made if need be.

    Raises
    ------
    CourseError
        If nbgrader is not installed.
    """
    try:
        from nbgrader.apps.api import NbGraderAPI
        from nbgrader.coursedir import CourseDirectory
    except ImportError:
        raise CourseError(NO_NBGRADER) from None
    from traitlets.config import Config

    # nbgrader runs alembic by its bare name, to set up a new gradebook.
    programs = str(Path(sys.executable).parent)
    if programs not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = programs + os.pathsep + os.environ["PATH"]
    course = Path(course).resolve()
    course.mkdir(parents=True, exist_ok=True)
    config = Config()
    config.CourseDirectory.root = str(course)
    config.CourseDirectory.db_url = f"sqlite:///{course / 'gradebook.db'}"
    config.ClearSolutions.code_stub = {"python": STUB}
    config.ClearSolutions.text_stub = ANSWER
    return NbGraderAPI(CourseDirectory(config=config), config=config)


def colab_cell(name, root=ROOT):
    """The Markdown cell with the link that opens the student version ``name`` in Colab."""
    address = repository(root)[0].removeprefix("https://github.com/")
    link = f"https://colab.research.google.com/github/{address}/blob/{BRANCH}/assignments/{name}"
    return v4.new_markdown_cell(f"[**▶ Open in Colab**]({link}.ipynb)", id="open-in-colab")


def graders_copy(assignment, secret, root=ROOT):
    """The notebook that is graded: with the link to Colab, and its hidden tests guarded."""
    notebook = solved(assignment, secret)
    notebook.cells.insert(1, colab_cell(assignment.name, root))
    notebook.metadata["kernelspec"] = KERNEL
    return notebook


def release(assignment, root=ROOT, course=None, handouts=None):
    """Write the grader's copy and the student version of an assignment; the student's file.

    Also enters the assignment into the gradebook. Grades that are there stay.

    Raises
    ------
    CourseError
        If nbgrader refuses, for example since cells were added to an assignment that students
        have handed in; the message has its reason. Released files have not changed then.
    """
    course, handouts = Path(course or root / COURSE), Path(handouts or root / HANDOUTS)
    api = course_api(course)
    copied = to_text(graders_copy(assignment, course_secret(course), root))
    text = _student_text(api, assignment, copied)
    former = [*course.glob(f"source/{assignment.key}/*.ipynb")]
    former += [*course.glob(f"release/{assignment.key}/*.ipynb")]
    for file in [*former, *handouts.glob(f"{assignment.key}_*.ipynb")]:
        if file.name != assignment.path.name:
            file.unlink()  # nbgrader would take it for a second notebook
    _write(course / "source" / assignment.key / assignment.path.name, copied)
    _write(course / "release" / assignment.key / assignment.path.name, text)
    _write(handouts / assignment.path.name, text)
    return handouts / assignment.path.name


def _student_text(api, assignment, copied):
    """What nbgrader makes of the grader's copy, made in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(dir=api.coursedir.root, prefix=".release-") as draft:
        _write(Path(draft, "source", assignment.key, assignment.path.name), copied)
        api.coursedir.source_directory = f"{Path(draft).name}/source"
        api.coursedir.release_directory = f"{Path(draft).name}/release"
        result = api.generate_assignment(assignment.key)
        if not result["success"]:
            reason = result.get("log") or result.get("error", "")
            raise CourseError(f"{assignment.path.name}: nbgrader made no student version\n{reason}")
        return to_text(read(next(Path(draft, "release").rglob("*.ipynb"))))


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, text)


def add_arguments(parser):
    """The arguments of ``assignments``."""
    parser.add_argument("keys", nargs="*", metavar="a1", help="which assignments; all without one")


def run(options, root=ROOT):
    """Check the sources, run their solutions and write the student versions."""
    assignments = find_checked(options.keys, root)
    seconds = validate(assignments, root / COURSE, root)
    for one in assignments:
        file = release(one, root)
        tried = f"solutions ran in {seconds[one.key]:.0f} s" if one.key in seconds else "unchanged"
        print(f"{file.relative_to(root)}: {one.title}, {one.points:g} points ({tried})")
    return 0
