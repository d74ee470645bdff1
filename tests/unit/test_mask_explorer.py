"""The mask explorer: Python against the library's rules, and the module against Python, in node."""

import itertools

import numpy as np
import pytest
import torch
import traitlets
from widget_harness import check_fault_is_seen, run_node

from minitransformer import reference
from minitransformer.attention import scaled_dot_product_attention
from minitransformer.widgets import MaskExplorer, module_source

SOURCE = module_source(MaskExplorer)
NAMES = ("n_queries", "n_keys", "q_offset", "causal", "window", "pad_left", "pad_right")
SIZES = [(6, 6, 0), (1, 6, 5), (1, 6, 0), (3, 8, 5), (2, 5, 9), (4, 3, 0), (10, 10, 0)]
PADDING = [(0, 0), (2, 0), (0, 1), (1, 2)]


def states():
    for (q, k, offset), causal, window, (left, right) in itertools.product(
        SIZES, (True, False), (None, 0, 2, 9), PADDING
    ):
        yield dict(zip(NAMES, (q, k, offset, causal, window, left, right), strict=True))


def check_parity(source):
    cases = list(states())
    answers = run_node(source, [("masked", [state]) for state in cases])
    for state, answer in zip(cases, answers, strict=True):
        assert "error" not in answer, answer
        widget, value = MaskExplorer(**state), answer["value"]
        assert value["mask"] == widget.mask.tolist(), state
        assert value["places"] == widget.places.tolist()
        np.testing.assert_allclose(value["scores"], widget.scores, rtol=0, atol=1e-12)
        np.testing.assert_allclose(value["weights"], widget.weights, rtol=0, atol=1e-12)


def test_the_module_computes_what_python_does():
    check_parity(SOURCE)


FAULTS = {
    "strict": ("j <= p)", "j < p)"),
    "top-left always": ("q_offset + i)", "i)"),
    "window too wide": ("<= window", "<= window + 1"),
    "padding on the wrong side": ("j >= pad_left", "j >= pad_right"),
    "one pad too few": ("n_keys - pad_right &&", "n_keys - pad_right + 1 &&"),
    "mask ignored": ("softmax(row, mask[i])", "softmax(row)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault], check_parity)


@pytest.mark.parametrize("state", list(states())[::3], ids=str)
def test_mask_and_window_are_those_of_the_attention_function(state):
    """The same weights as attention computes with is_causal, window and a mask for the padding."""
    widget = MaskExplorer(**state)
    real = torch.ones(widget.n_keys, dtype=torch.bool)
    real[: widget.pad_left] = False
    real[widget.n_keys - widget.pad_right :] = False
    scores = torch.tensor(widget.scores)
    key = torch.eye(widget.n_keys, dtype=torch.float64)  # so that scores are what comes out
    mask = real.expand(widget.n_queries, -1)
    place = {"is_causal": widget.causal, "window": widget.window and (widget.window,) * 2}
    if widget.window == 0:
        place["window"] = (0, 0)
    if widget.causal or widget.window is not None:
        place["q_offset"] = widget.q_offset
    _, weights = scaled_dot_product_attention(
        scores, key, key, mask, scale=1.0, need_weights=True, **place
    )
    np.testing.assert_allclose(widget.weights, weights, rtol=0, atol=1e-12)


def test_rows_with_nothing_to_see_are_zero():
    widget = MaskExplorer(n_queries=3, n_keys=5, pad_left=2)
    assert widget.weights.sum(axis=1).round(12).tolist() == [0, 0, 1]


BAD = {
    "no query": ({"n_queries": 0}, "n_queries must be 1 to 10, got 0"),
    "no key": ({"n_keys": 0}, "n_keys must be 1 to 10, got 0"),
    "11 keys": ({"n_keys": 11}, "n_keys must be a whole number from 0 to 10, got 11"),
    "offset 10": ({"q_offset": 10}, "q_offset must be a whole number from 0 to 9, got 10"),
    "offset negative": ({"q_offset": -1}, "q_offset must be a whole number from 0 to 9, got -1"),
    "window 10": ({"window": 10}, "window must be a whole number from 0 to 9, got 10"),
    "window as text": ({"window": "2"}, "window must be a whole number from 0 to 9, got '2'"),
    "causal as text": ({"causal": "no"}, "causal"),
    "more padding than keys": ({"pad_left": 3, "pad_right": 4}, "7 together, more than the 6 keys"),
    "fewer keys than padding": ({"n_keys": 2, "pad_right": 3}, "3 together, more than the 2 keys"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused(kind):
    changes, message = BAD[kind]
    with pytest.raises(traitlets.TraitError, match=message):
        MaskExplorer(**changes)


def test_a_widget_that_exists_keeps_its_old_state():
    widget = MaskExplorer(pad_left=4)
    with pytest.raises(traitlets.TraitError, match="4 together, more than the 3 keys"):
        widget.n_keys = 3
    assert (widget.n_keys, widget.pad_left) == (6, 4)


def test_the_saved_state_is_the_inputs():
    state = MaskExplorer().get_state()
    own = {key for key in state if not key.startswith("_")} - {"layout", "tabbable", "tooltip"}
    assert own == set(NAMES)
    assert state["_anywidget_id"] == "minitransformer.widgets.mask_explorer.MaskExplorer"


def test_the_bundle_holds_a_table_that_reads_without_the_widget():
    data, _ = MaskExplorer(n_queries=2, n_keys=3, q_offset=1)._repr_mimebundle_()
    table = data["text/html"]
    weights = MaskExplorer(n_queries=2, n_keys=3, q_offset=1).weights
    assert f'<th scope="row">2</th><td>{weights[0, 0]:.2f}</td>' in table
    assert table.count("<td>–</td>") == 1
    assert table.count('<th scope="col">') == 4
    assert " at 0x" not in data["text/plain"]


def test_the_default_is_the_causal_mask():
    assert (MaskExplorer().mask == reference.causal_mask(6)).all()
