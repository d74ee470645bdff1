"""The cost calculator: its Python side, and the module's formulas against the library's."""

import numpy as np
import pytest
from widget_harness import check_fault_is_seen, check_refused, run_node

from minitransformer import costs
from minitransformer.widgets import CostCalculator, module_source
from minitransformer.widgets.cost_calculator import LONGEST

SOURCE = module_source(CostCalculator)
NAMES = ("n", "d_model", "n_layers", "n_heads", "n_kv_heads", "causal", "bytes_per_number")
SIZES = [
    (1, 12, 2, 3, 1, False, 4),
    (100, 60, 3, 6, 2, True, 2),
    (128, 64, 5, 4, 4, False, 1),
    (129, 64, 5, 4, 2, True, 4),
    (LONGEST, 16384, 126, 128, 8, True, 2),  # above 2 ** 53 multiply-adds
]
CASES = [dict(zip(NAMES, sizes, strict=True)) for sizes in SIZES]


def check_parity(source):
    answers = run_node(
        source, [(name, [case]) for name in ("counted", "crossing") for case in CASES]
    )
    half = len(CASES)
    for case, counted, crossing in zip(CASES, answers[:half], answers[half:], strict=True):
        assert "error" not in counted, counted
        widget = CostCalculator(**case)
        assert list(counted["value"]) == list(widget.costs)
        np.testing.assert_allclose(
            list(counted["value"].values()), list(map(float, widget.costs.values())), rtol=1e-12
        )
        assert crossing["value"] == widget.crossing


def test_the_module_computes_what_python_computes():
    check_parity(SOURCE)


FAULTS = {
    "a causal mask without the diagonal": ("(n * (n + 1)) / 2", "(n * (n - 1)) / 2"),
    "all scores, mask or not": ("return causal ? (n", "return false ? (n"),
    "projections of all heads": (
        "(2 * d_model * n_kv_heads) / n_heads);\n  const feed",
        "2 * d_model);\n  const feed",
    ),
    "feed-forward twice as wide": ("n * 8 * d_model", "n * 16 * d_model"),
    "one head stored": ("return n_heads * nScores", "return nScores"),
    "half the matrix stored": ("nScores(n, false) * bytes", "nScores(n, true) * bytes"),
    "running maximum without sum": ("+ 2 * n) * bytes", "+ n) * bytes"),
    "a tile larger than the text": ("Math.min(n, TILE)", "TILE"),
    "another tile": ("const TILE = 128", "const TILE = 64"),
    "cache without layers": ("return 2 * n_layers * n_kv", "return 2 * n_kv"),
    "crossing without projections": ("= 10 * d_model", "= 8 * d_model"),
    "crossing of the full matrix": ("causal ? rest - 1", "causal ? rest / 2"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault], check_parity)


def test_the_numbers_are_those_of_the_library():
    widget = CostCalculator(**CASES[1])
    found = widget.costs
    products = costs.multiply_adds(100, 60, 3, 6, 2, causal=True)
    assert [found[name] for name in list(found)[2:6]] == list(products)
    assert found["scores of all heads and layers"] * 10 == products.scores  # d_head is 10
    assert found["cache of all layers"] == costs.cache_bytes(100, 3, 2, 10, 2)


def test_what_doubles_and_what_quadruples():
    growth = CostCalculator(n=1000).growth
    quadrupled = {name for name, times in growth.items() if times == 4}
    doubled = {name for name, times in growth.items() if times == 2}
    assert quadrupled == {
        "scores of one head",
        "scores of all heads and layers",
        "queries · keys",
        "weights · values",
        "scores of a layer, stored",
    }
    assert doubled == {"projections", "feed-forward", "cache of all layers"}
    assert CostCalculator(n=LONGEST).growth["scores of a layer, in tiles"] == pytest.approx(
        2, rel=0.01
    )


def test_the_causal_mask_halves_the_scores_and_not_the_rest():
    full, half = (CostCalculator(n=1000, causal=causal).costs for causal in (False, True))
    for name in list(full)[:4]:
        assert half[name] / full[name] == pytest.approx(0.5, rel=0.002)
    assert list(half.values())[4:] == list(full.values())[4:]


BAD = {
    "no token": ({"n": 0}, "n must be a whole number from 1 to 1000000, got 0"),
    "too many tokens": (
        {"n": 2_000_000},
        "n must be a whole number from 1 to 1000000, got 2000000",
    ),
    "tokens as float": ({"n": 1e3}, "n must be a whole number from 1 to 1000000, got 1000.0"),
    "a width that heads do not share": (
        {"d_model": 100},
        "d_model 100 must be a multiple of n_heads 12",
    ),
    "heads that do not share the width": (
        {"n_heads": 5},
        "d_model 768 must be a multiple of n_heads 5",
    ),
    "KV heads that do not fit": (
        {"n_kv_heads": 5},
        "n_heads 12 must be a multiple of n_kv_heads 5",
    ),
    "heads below KV heads": ({"n_heads": 6}, "n_heads 6 must be a multiple of n_kv_heads 12"),
    "no layer": ({"n_layers": 0}, "n_layers must be a whole number from 1 to 128, got 0"),
    "causal as text": ({"causal": "yes"}, "causal"),
    "3 bytes": ({"bytes_per_number": 3}, "bytes_per_number"),
    "other curves": ({"curves": "time"}, "curves"),
    "a model cut short": ({"models": [["mine", 1]]}, r"source\], got \['mine', 1\]"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    check_refused(CostCalculator(n=70), *BAD[kind])


def test_the_stored_table_reads_without_the_widget():
    data, _ = CostCalculator(n=1000)._repr_mimebundle_()
    row = '<th scope="row">scores of one head</th><td>1,000,000</td><td>× 4.00</td>'
    assert row in data["text/html"]
    assert "n=1000, d_model=768" in data["text/plain"]
