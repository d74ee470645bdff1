"""The published answer of assignment 4 meets what is asked, with room to spare."""

import nbformat
import pytest
import torch

from benchmarks import measure_assignment_4 as script
from minitransformer.models import Config, Decoder


def test_one_seed_has_room_to_spare():
    loss, agreement, seconds = script.measured(script.SEEDS[-1])
    assert 1.4 < loss <= script.LARGEST_LOSS - 0.08
    assert agreement >= 0.97
    assert seconds < script.SECONDS / 2


def test_an_untrained_model_meets_nothing():
    torch.manual_seed(0)
    config = Config.gpt2(vocab_size=64, n_layers=1, d_model=8, n_heads=2, max_length=24)
    loss, agreement = script.judged(Decoder(config), n_texts=200)
    assert loss > 4
    assert agreement == pytest.approx(0.5, abs=0.2)


def test_the_notebook_asks_for_what_the_script_compares_with():
    cells = nbformat.read(script.NOTEBOOK, as_version=4).cells
    [task] = [cell.source for cell in cells if cell.id == "a4-train-task"]
    assert f"a held-out loss of at most **{script.LARGEST_LOSS:.2f}**" in task
    assert f"at most {script.SECONDS:.0f} seconds" in task
