"""The head board: Python against the library, and the module against Python, in node."""

import numpy as np
import pytest
import torch
import traitlets
from widget_harness import check_fault_is_seen, run_node

from minitransformer.attention import MultiHeadAttention
from minitransformer.widgets import HeadBoard, module_source

SOURCE = module_source(HeadBoard)
NAMES = {"tokens", "head_queries", "head_keys", "links", "query"}
SIZES = [(1, 1, 1), (2, 5, 3), (4, 17, 8), (8, 20, 2)]


def board(heads=2, time=5, d_head=3, size=1.0, seed=0, **more):
    rng = np.random.default_rng(seed)
    queries, keys = rng.normal(scale=size, size=(2, heads, time, d_head)).tolist()
    tokens = [f"word {i}" for i in range(time)]
    more = {"links": [["first → last", 0, time - 1]]} | more
    return HeadBoard(tokens=tokens, head_queries=queries, head_keys=keys, **more)


def check_parity(source):
    boards = [board(*sizes, size=size, seed=7) for sizes in SIZES for size in (1.0, 30.0)]
    answers = run_node(source, [("headWeights", [b.head_queries, b.head_keys]) for b in boards])
    for widget, answer in zip(boards, answers, strict=True):
        assert "error" not in answer, answer
        np.testing.assert_allclose(answer["value"], widget.weights, rtol=0, atol=1e-12)


def test_the_module_computes_what_python_does():
    check_parity(SOURCE)


FAULTS = {
    "unscaled": ("x * scale)", "x)"),
    "one head for all": ("transpose(keys[h])", "transpose(keys[0])"),
    "exchanged": ("matmul(query, transpose(keys[h]))", "matmul(keys[h], transpose(query))"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault], check_parity)


def test_the_weights_are_those_of_the_attention_they_come_from():
    torch.manual_seed(0)
    attention, x = MultiHeadAttention(6, 3).double(), torch.randn(1, 5, 6).double()
    (_, weights), cache = attention.run_with_cache(x, need_weights=True)
    query, key = (cache[f"hook_{name}"][0].transpose(0, 1).tolist() for name in "qk")
    widget = HeadBoard(tokens=list("abcde"), head_queries=query, head_keys=key, links=[])
    np.testing.assert_allclose(widget.weights, weights[0].detach(), rtol=0, atol=1e-12)


GOOD = [[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]]
BAD = {
    "flat": ({"head_queries": GOOD[0]}, "must have shape .heads, tokens, d_head."),
    "9 heads": ({"head_queries": GOOD * 9, "head_keys": GOOD * 9}, "1 to 8 heads"),
    "not a number": ({"head_keys": [[[float("nan"), 0]] * 3]}, "finite numbers"),
    "text": ({"head_keys": "many"}, "head_keys"),
    "other heads": ({"head_keys": GOOD * 3}, "need one shape"),
    "two tokens": ({"tokens": ["a", "b"]}, "2 tokens"),
    "query outside": ({"query": 3}, "0 to 2"),
    "link outside": ({"links": [["far", 0, 3]]}, "0 to 2"),
    "link of two": ({"links": [["far", 0]]}, "name, query, key"),
    "link without name": ({"links": [[" ", 0, 1]]}, "name, query, key"),
    "link at True": ({"links": [["far", 0, True]]}, "got True"),
    "links as text": ({"links": "far"}, "name, query, key"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused(kind):
    changes, message = BAD[kind]
    with pytest.raises(traitlets.TraitError, match=message):
        HeadBoard(**changes)


def test_a_widget_that_exists_keeps_its_old_state():
    widget = board(query=4)
    with pytest.raises(traitlets.TraitError, match="need one shape"):
        widget.tokens = ["one"]
    assert (len(widget.tokens), widget.query) == (5, 4)


def test_the_saved_state_is_the_inputs():
    state = HeadBoard().get_state()
    assert {key for key in state if not key.startswith("_")} - {
        "layout",
        "tabbable",
        "tooltip",
    } == NAMES
    assert state["_anywidget_id"] == "minitransformer.widgets.head_board.HeadBoard"


def test_the_bundle_holds_a_table_that_reads_without_the_widget():
    widget = board(heads=3, links=[["<b>", 1, 2], ["far", 4, 0]])
    data, _ = widget._repr_mimebundle_()
    cells = "".join(f"<td>{w:.2f}</td>" for w in widget.weights[:, 4, 0])
    assert f'<th scope="row">far: word 4 → word 0</th>{cells}' in data["text/html"]
    heads = "".join(f'<th scope="col">head {h}</th>' for h in range(3))  # from 0, as in the code
    assert heads in data["text/html"]
    assert "<b>" not in data["text/html"]
    assert " at 0x" not in data["text/plain"]
