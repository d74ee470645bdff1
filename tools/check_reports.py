"""A pytest plugin that writes down what was checked of each chapter: pytest --reports DIR

Each kind of check of each chapter has a file of its own in the folder, ``KIND/CHAPTER.json``: when,
how much was checked, how much of it failed, and the hash of the notebook it was about. What nbval
ran is written down as ``executed``; a test writes down others with the fixture ``checked``. Nothing
is written of a chapter that ran in part, or changed while it was checked.
"""

import ast
import json
import platform
from collections import defaultdict
from datetime import datetime, timezone
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from notebooks import ROOT, cell_tree, chapter_files, code_cells, read, tags, write_atomically

EXECUTED = "executed"
NOTE = "checked of a chapter"  # what a test says, among the properties of its report
PACKAGES = ("numpy", "torch", "matplotlib", "ipywidgets")
NOT_COMPARED = {"nbval-ignore-output", "nbval-skip"}


def pytest_addoption(parser):
    parser.addoption("--reports", help="folder in which to write down what was checked")


def pytest_configure(config):
    folder = config.getoption("--reports")
    if folder and not hasattr(config, "workerinput"):  # a worker's reports reach the main process
        config.pluginmanager.register(Recorder(Path(folder)))


@pytest.fixture
def checked(request):
    """A function that writes down: of this chapter, this kind, so many were checked."""

    def note(chapter, kind, count):
        note = {"chapter": Path(chapter).stem, "kind": kind, "count": count}
        request.node.user_properties.append((NOTE, note))

    return note


def digest(path):
    """The hash of a file, by which a report knows what it is about."""
    return sha256(path.read_bytes()).hexdigest()


def assertions(source):
    """How many assertions a cell makes.

    >>> assertions("%matplotlib inline\\nassert x\\nif a:\\n    %pip install b\\n    assert b")
    2
    """
    return sum(isinstance(node, ast.Assert) for node in ast.walk(cell_tree(source)))


def versions():
    """The versions that the checks ran with."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


class Recorder:
    """Gathers the reports of a run, and writes them down at its end."""

    def __init__(self, folder, root=ROOT):
        self.folder = folder
        self.chapters = {path.stem: path for path in chapter_files(root=root)}
        self.before = {name: digest(path) for name, path in self.chapters.items()}
        self.cells = defaultdict(dict)  # chapter: {number of its code cell: report}
        self.notes = defaultdict(list)  # (chapter, kind): [(count, failed)]

    def pytest_runtest_logreport(self, report):
        path, _, name = report.nodeid.partition("::")
        if report.when == "call" and path.endswith(".ipynb"):
            self.cells[Path(path).stem][int(name.removeprefix("Cell "))] = report
        for key, note in report.user_properties if report.when == "call" else ():
            if key == NOTE:
                self.notes[note["chapter"], note["kind"]].append((note["count"], report.failed))

    def pytest_sessionfinish(self):
        for chapter in self.cells:
            if chapter in self.chapters and (facts := self._executed(chapter)):
                self._write(chapter, EXECUTED, facts)
        for (chapter, kind), notes in self.notes.items():
            counts, failures = zip(*notes, strict=True)
            self._write(chapter, kind, {"count": max(counts), "failed": sum(failures)})

    def _executed(self, chapter):
        """What is known of a run of a whole chapter; None if it ran in part."""
        cells = [cell for _, cell in code_cells(read(self.chapters[chapter]))]
        reports = self.cells[chapter]
        if sorted(reports) != list(range(len(cells))):
            return None
        right = [cell for n, cell in enumerate(cells) if reports[n].passed]
        compared = [cell for cell in right if not NOT_COMPARED & set(tags(cell))]
        return {
            "count": sum(len(cell.outputs) for cell in compared),
            "failed": len(cells) - len(right),
            "cells": len(cells),
            "assertions": sum(assertions(cell.source) for cell in right),
            "seconds": round(sum(report.duration for report in reports.values()), 1),
            "versions": versions(),
        }

    def _write(self, chapter, kind, facts):
        path = self.chapters.get(chapter)
        if path is None or digest(path) != self.before[chapter]:
            return
        when = datetime.now(timezone.utc).isoformat(timespec="seconds")
        facts = {"when": when, "notebook": self.before[chapter], **facts}
        file = self.folder / kind / f"{chapter}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(facts, indent=1) + "\n")
