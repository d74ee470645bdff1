"""The positions widget: Python against the library, and the module against Python, in node."""

import itertools

import numpy as np
import pytest
import torch
from widget_harness import check_fault_is_seen, check_refused, inputs, run_node

from minitransformer.positions import apply_rope, sinusoidal_positions
from minitransformer.widgets import Positions, module_source
from minitransformer.widgets.positions import KINDS

SOURCE = module_source(Positions)
WORDS = ["der", "Hund", "beißt", "der", "Mann"]
CASES = [
    {"kind": kind, "n_positions": n, "d_model": d, "base": base, "query_at": 1, "key_at": 0}
    for kind, (n, d), base in itertools.product(
        KINDS, ((2, 2), (7, 4), (64, 32)), (1.0, 100.0, 1e6)
    )
]


def check_numbers(source):
    names = ("kind", "n_positions", "d_model", "base")
    calls = [("positioned", [case[name] for name in names]) for case in CASES]
    for case, answer in zip(CASES, run_node(source, calls), strict=True):
        assert "error" not in answer, answer
        widget, found = Positions(**case, pair=0), answer["value"]
        np.testing.assert_allclose(found["encoding"], widget.encoding, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found["scores"], widget.scores, rtol=0, atol=1e-9)
        assert (found["alone"] is not None) == (case["kind"] == "sinusoidal")
        if found["alone"] is not None:
            alone = widget.encoding @ widget.encoding.T / widget.d_model**0.5
            np.testing.assert_allclose(found["alone"], alone, rtol=0, atol=1e-9)


def check_orders(source):
    cases = list(itertools.product(KINDS, (WORDS, ["a", "b"], ["a", "b", "c"]), (2, 16), (50.0,)))
    answers = run_node(source, [("orders", list(case)) for case in cases])
    for (kind, words, d_model, base), answer in zip(cases, answers, strict=True):
        assert "error" not in answer, answer
        widget = Positions(kind=kind, words=words, d_model=d_model, base=base, pair=0)
        found = answer["value"]
        np.testing.assert_allclose(found["weights"], widget.order_weights, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found["changes"], widget.order_changes, rtol=0, atol=1e-9)


def test_the_module_computes_what_python_does():
    check_numbers(SOURCE)
    check_orders(SOURCE)


FAULTS = {
    "turned backwards": ("x * cos - row[c + half]", "x * cos + row[c + half]", check_numbers),
    "interleaved pairs turned": ("position, c % half,", "position, c >> 1,", check_numbers),
    "sine and cosine exchanged": ("c % 2 === 0 ?", "c % 2 !== 0 ?", check_numbers),
    "an angle a column": ("Math.floor(c / 2), d", "c, d", check_numbers),
    "unscaled scores": ("x / Math.sqrt(d)", "x", check_numbers),
    "unscaled words": ("x * scale)", "x)", check_orders),
    "values turned too": ('kind === "rotary" ? rows : placed', "placed", check_orders),
    "outputs by place, not by word": (
        "[...backwards.output].reverse()",
        "backwards.output",
        check_orders,
    ),
    "a word anew each time": ("words.indexOf(word) + 1", "words.lastIndexOf(word)", check_orders),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault])


@pytest.mark.parametrize("d_model", [2, 8, 32])
@pytest.mark.parametrize("base", [10.0, 10000.0])
def test_the_encoding_is_the_library_s(d_model, base):
    options = {"n_positions": 50, "d_model": d_model, "base": base, "pair": 0}
    added = Positions(kind="sinusoidal", **options).encoding
    np.testing.assert_allclose(added, sinusoidal_positions(50, d_model, base), rtol=0, atol=1e-6)
    ones = torch.ones(1, 1, 50, d_model, dtype=torch.float64)
    turned = Positions(kind="rotary", **options).encoding
    np.testing.assert_allclose(turned, apply_rope(ones, base=base)[0, 0], rtol=0, atol=1e-9)
    assert not Positions(kind="none", **options).encoding.any()


@pytest.mark.parametrize("kind", KINDS)
def test_the_distance_alone_counts_without_positions_and_with_rotary_ones(kind):
    scores = Positions(kind=kind, n_positions=20, d_model=8, base=500.0).scores
    diagonals = [np.ptp(np.diagonal(scores, shift)) for shift in range(-18, 19)]
    assert (max(diagonals) < 1e-12) == (kind != "sinusoidal")
    assert (np.ptp(scores) < 1e-12) == (kind == "none")


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_counts_unless_nothing_tells_it(kind):
    changes = Positions(kind=kind, words=["Hund", "beißt", "Mann"]).order_changes
    assert (changes.max() < 1e-12) == (kind == "none")
    assert kind == "none" or changes.min() > 0.05


BAD = {
    "another kind": ({"kind": "learned"}, "kind"),
    "one position": ({"n_positions": 1}, "n_positions must be 2 to 64, got 1"),
    "65 positions": ({"n_positions": 65}, "n_positions must be a whole number from 0 to 64"),
    "an odd width": ({"d_model": 5}, "d_model"),
    "base 0": ({"base": 0}, "base must be a number from 1 to 1e\\+06, got 0"),
    "base NaN": ({"base": float("nan")}, "base must be a number from 1"),
    "query outside": ({"query_at": 32}, "query_at must be 0 to 31 with n_positions = 32"),
    "key outside": ({"key_at": 40}, "key_at must be 0 to 31 .*, got 40"),
    "a key before the first": ({"key_at": -1}, "key_at must be a whole number from 0 to 63"),
    "no such pair": ({"pair": 8}, "pair must be 0 to 7 .* d_model = 16, got 8"),
    "one word": ({"words": ["Hund"]}, "words must hold at least 2 strings, .* got 1"),
    "seven words": ({"words": list("abcdefg")}, "words must hold 1 to 6 strings, got 7"),
    "a blank word": ({"words": ["a", " "]}, r"words\[1\] must be a string that is not blank"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    check_refused(Positions(), *BAD[kind])


def test_the_stored_table_reads_without_the_widget():
    widget = Positions(kind="rotary", query_at=3, key_at=9)
    data, _ = widget._repr_mimebundle_()
    table = data["text/html"]
    assert table.count('<th scope="row">') == 5
    assert f'<th scope="row">14</th><td>20</td><td>{widget.scores[14, 20]:.3f}</td>' in table
    assert table.count(f"<td>{widget.scores[3, 9]:.3f}</td>") == 5
    assert "Positions: rotary" in table
    assert "Positions(kind='rotary', n_positions=32" in data["text/plain"]


def test_the_saved_state_is_the_inputs():
    state = Positions().get_state()
    own = {key for key in state if not key.startswith("_")} - {"layout", "tabbable", "tooltip"}
    assert own == set(inputs(Positions()))
    assert state["_anywidget_id"] == "minitransformer.widgets.positions.Positions"
