"""Every chapter runs on Colab: all cells, unedited, and Colab's own packages stay as they are.

Simulated: an environment with Colab's versions and a stand-in for its module, in which the
chapter's own set-up cell installs this repository from its git address.
"""

import sys

import colab
import pytest
from notebooks import chapter_files, code_cells, read, view_ids
from setup_cell import PACKAGES, models_used


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    if sys.version_info >= (3, 13):
        pytest.skip("Colab's NumPy 2.0.2 has no wheel for Python 3.13 or newer")
    reason = colab.unreachable(tmp_path_factory.mktemp("probe"))
    if reason:
        pytest.skip(f"the package index cannot be reached: {reason}")


@pytest.fixture
def environment(index):
    """As Colab hands it out to each notebook: without what the set-up cell of another brought."""
    return colab.environment()


def printed(cell):
    return "".join(o.text for o in cell.outputs if o.output_type == "stream" and o.name == "stdout")


@pytest.mark.parametrize("chapter", chapter_files(), ids=lambda path: path.stem)
def test_a_chapter_runs_on_colab_as_it_is(chapter, environment, tmp_path):
    before = colab.packages(environment)
    stored, notebook = read(chapter), read(chapter)
    setup = code_cells(notebook)[0][0] - 1
    enabled = {}

    def after_cell(index):
        if index == setup:
            enabled["by the set-up cell"] = (tmp_path / "calls").exists()

    colab.run(notebook, environment, tmp_path, after_cell)
    assert enabled == {"by the set-up cell": True}
    after = colab.packages(environment)
    assert {name: after.get(name) for name in before} == before
    models = {PACKAGES[name] for name in models_used(stored)}
    allowed = colab.NEW_ON_COLAB | (colab.NEW_WITH_MODELS if models else set())
    assert {"anywidget", "minitransformer"} | models <= set(after) - set(before) <= allowed
    for old, new in zip(stored.cells, notebook.cells, strict=True):
        if old.cell_type == "code" and "setup" not in old.metadata.get("tags", []):
            assert not [o for o in new.outputs if o.output_type == "error"]
            assert printed(new) == printed(old)
            assert len(view_ids(new.outputs)) == len(view_ids(old.outputs))
