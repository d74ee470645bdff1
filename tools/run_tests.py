"""Run every check of the book: python tools/run_tests.py [further arguments of pytest]

One pytest run on two workers takes the unit tests, the examples in docstrings, the conformance
tests, nbval's comparison of the chapters, and the tests of notebooks and site. The end names what
was left out on this machine, and why.
"""

import os
import subprocess
import sys

from notebooks import ROOT, chapter_files

# Each test file stays on one worker: a chapter's cells share a kernel, a file's tests a fixture.
# They are handed out in the order given below, not by their number of tests.
PYTEST = (
    *("-m", "pytest", "-q", "--numprocesses=2"),
    *("--dist=loadfile", "--no-loadscope-reorder"),
)
WHAT = ("--doctest-modules", "--nbval", "--nbval-current-env", "--nbval-cell-timeout=300")
FOLDERS = ("tests", "src", "tools", "book/_extensions")
REPORTS = ("--reports", str(ROOT / "_build" / "reports"))  # what the health page shows
LONGEST = (
    "tests/notebooks/test_colab.py",
    "tests/assignments/test_assignment_answers.py",
    "tests/assignments/test_grade_a1.py",
    "tests/site/test_live_chapters.py",
)
# Two workers share the processor: with more threads than cores, torch waits for itself.
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def main(arguments):
    """Run pytest over the whole repository; its exit status."""
    # What takes longest comes first, so that no worker is left alone with it.
    chapters = [str(file.relative_to(ROOT)) for file in chapter_files()]
    command = [sys.executable, *PYTEST, *WHAT, *REPORTS, *chapters, *LONGEST, *FOLDERS]
    command += arguments
    return subprocess.run(command, cwd=ROOT, env=ONE_THREAD | os.environ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
