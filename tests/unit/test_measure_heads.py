"""The script behind the tables of heads, and a sample of the tables measured again."""

import json

import pytest
import torch

from benchmarks import _tables, measure_heads
from minitransformer import measurements
from minitransformer.inspection.ablation import losses_without, separate_ablation
from minitransformer.inspection.measures import next_token_loss
from minitransformer.inspection.texts import PASSAGES, SENTENCE_PAIRS, halves
from minitransformer.models import Config
from minitransformer.pretrained import load_pretrained

torch.set_num_threads(1)
CONFIG = Config(n_layers=2, d_model=6, n_heads=3, vocab_size=2600)


def test_a_stopped_run_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(_tables, "KEPT", tmp_path)
    asked, inputs = [], [torch.arange(5)]

    def compute(part):
        asked.append(part)
        if part == 2 and asked.count(2) == 1:
            raise KeyboardInterrupt
        return torch.tensor([part, part / 3])

    with pytest.raises(KeyboardInterrupt):
        _tables.resumed("tiny", inputs, range(4), compute)
    assert _tables.resumed("tiny", inputs, range(4), compute)[3] == [3.0, 1.0]
    assert asked == [0, 1, 2, 2, 3]
    [file] = tmp_path.iterdir()
    assert json.loads(file.read_text()).keys() == {"0", "1", "2", "3"}
    _tables.resumed("tiny", [torch.arange(6)], [1], compute)  # other texts are measured anew
    assert asked[-1] == 1


def test_halves_share_no_text():
    for collection in (PASSAGES, SENTENCE_PAIRS):
        chosen, reported = halves(collection)
        assert len(chosen) == len(reported)
        assert not set(chosen) & set(reported)


def test_random_repeats_come_four_times_in_the_same_order():
    tokens = measure_heads.random_repeats(CONFIG, start=1, end=2)
    assert tokens.shape == (10, 102)
    assert (tokens[:, 0] == 1).all()
    assert (tokens[:, -1] == 2).all()
    inside = tokens[:, 1:-1].view(10, 4, 25)
    assert (inside == inside[:, :1]).all()
    assert all(len(set(row.tolist())) == 25 for row in inside[:, 0])
    assert len({tuple(row.tolist()) for row in inside[:, 0]}) == 10
    assert inside.min() >= 2000


def test_orders_hold_every_head_once():
    damage = torch.tensor([[0.3, -0.1, 0.2], [0.0, 0.5, 0.1]])
    importance = torch.tensor([[3.0, 4.0, 0.0], [0.1, 0.2, 0.3]])
    ranked = measure_heads.orders(CONFIG, damage, importance)
    assert ranked["least damage first"] == [(0, 1), (1, 0), (1, 2), (0, 2), (0, 0), (1, 1)]
    assert ranked["most damage first"] == ranked["least damage first"][::-1]
    # Divided by each layer's length: 0.6, 0.8, 0 and 0.27, 0.53, 0.80.
    assert ranked["least important first"] == [(0, 2), (1, 0), (1, 1), (0, 0), (0, 1), (1, 2)]
    drawn = [tuple(order) for name, order in ranked.items() if name.startswith("random")]
    assert len(set(drawn)) == len(drawn) == 5
    assert all(len(set(order)) == 6 for order in ranked.values())


def test_changes_are_those_of_each_half():
    intact = torch.tensor([1.0, 2.0, 3.0, 4.0])
    losses = torch.tensor([[[1.5, 2.5, 3.0, 6.0]]])
    columns = measure_heads.changes("damage", intact, losses)
    assert columns["damage_choose"].item() == 0.5
    assert columns["damage_report"].item() == 1
    assert columns["damage_sd"].item() == pytest.approx(2**0.5)


def table_losses(name):
    """{(layer, head): losses of all texts}; (-1, -1) is the model as it is."""
    rows = measurements.table(f"{name}_ablation")
    return {
        (row["layer"], row["head"]): [v for key, v in row.items() if key.startswith("text_")]
        for row in rows
    }


SIZES = {"minilm": (6, 12, len(SENTENCE_PAIRS)), "smollm2": (30, 9, len(PASSAGES))}
MEASURED = [name for name in SIZES if f"{name}_heads" in measurements.names()]


@pytest.mark.parametrize("name", MEASURED)
def test_every_head_has_its_row_and_its_damage(name):
    n_layers, n_heads, n_texts = SIZES[name]
    losses = table_losses(name)
    heads = [(layer, head) for layer in range(n_layers) for head in range(n_heads)]
    assert list(losses) == [(-1, -1), *heads]
    assert {len(row) for row in losses.values()} == {n_texts}
    rows = {(row["layer"], row["head"]): row for row in measurements.table(f"{name}_heads")}
    assert list(rows) == heads
    half = n_texts // 2
    for head, row in rows.items():
        change = [a - b for a, b in zip(losses[head], losses[-1, -1], strict=True)]
        assert row["damage_choose"] == pytest.approx(sum(change[:half]) / half, abs=3e-5)
        assert row["damage_report"] == pytest.approx(sum(change[half:]) / half, abs=3e-5)


@pytest.mark.models
@torch.no_grad()
def test_a_sample_of_minilm_measured_again():
    model, tokenizer = load_pretrained("minilm")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokens, real = measure_heads.sentence_tokens(tokenizer)
    measure = measure_heads.minilm_measure(model, tokens, real)
    heads, losses = [(0, 2), (3, 7), (5, 9)], table_losses("minilm")
    came = separate_ablation(model, tokens, measure, [[head] for head in heads], key_mask=real)
    intact = losses_without(model, tokens, measure, [], key_mask=real)
    for row, head in zip([intact, *came], [(-1, -1), *heads], strict=True):
        expected = torch.tensor(losses[head])
        torch.testing.assert_close(row[: len(SENTENCE_PAIRS)], expected, rtol=1e-3, atol=1e-4)


@pytest.mark.models
@pytest.mark.skipif("smollm2" not in MEASURED, reason="make measurements has not run to its end")
@torch.no_grad()
def test_a_sample_of_smollm2_measured_again():
    model, tokenizer = load_pretrained("smollm2")
    tokens = measure_heads.passage_tokens(tokenizer)[[0, 9, 15]]
    heads, losses = [(25, 3), (29, 8)], table_losses("smollm2")
    came = separate_ablation(model, tokens, next_token_loss(tokens), [[head] for head in heads])
    for row, head in zip(came, heads, strict=True):
        expected = torch.tensor(losses[head])[[0, 9, 15]]
        torch.testing.assert_close(row, expected, rtol=1e-3, atol=1e-4)
