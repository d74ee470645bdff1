"""Tiles: the steps of Python against the tiled reference, and the module's against Python's."""

import itertools

import numpy as np
import pytest
import traitlets
from widget_harness import check_fault_is_seen, check_refused, run_node

from minitransformer import reference, reference_tiled
from minitransformer.widgets import Tiles, module_source

SOURCE = module_source(Tiles)
RNG = np.random.default_rng(1)
SHAPES = [(6, 8, False), (5, 3, False), (1, 7, False), (8, 8, True), (5, 5, True)]
SIZES = [(1, 1), (2, 4), (3, 2), (8, 8), (4, 1)]


def made(n_queries, n_keys, causal, query_tile, key_tile):
    """A widget over large random scores, so that the largest rises often."""
    query = RNG.normal(size=(n_queries, 2), scale=4)
    key, value = RNG.normal(size=(2, n_keys, 2), scale=4)
    kinds = {"query_tile": query_tile, "key_tile": key_tile, "causal": False}
    widget = Tiles(query=query, key=key, value=value, **kinds)
    widget.causal = causal
    return widget


WIDGETS = [made(*shape, *size) for shape, size in itertools.product(SHAPES, SIZES)]
WRITTEN = ("rows", "columns", "total", "summed")  # what the outputs are made of
NAMES = ("query", "key", "value", "query_tile", "key_tile", "causal")


def arrays(widget):
    return np.array(widget.query), np.array(widget.key), np.array(widget.value)


def check_parity(source):
    calls = [("tileSteps", [getattr(widget, name) for name in NAMES]) for widget in WIDGETS]
    for widget, answer in zip(WIDGETS, run_node(source, calls), strict=True):
        assert "error" not in answer, answer
        found, expected = answer["value"], widget.steps
        assert len(found) == len(expected)
        for step, python in zip(found, expected, strict=True):
            assert step["rows"] == python["rows"]
            assert step["columns"] == python["columns"]
            assert step["moved"] == python["moved"]
            for name in ("largest", "total", "summed"):
                np.testing.assert_allclose(step[name], python[name], rtol=1e-12, atol=1e-12)
        counts = tiled(widget)[1]
        assert found[-1]["moved"] == counts.moved
        assert max(step["held"] for step in found) == counts.held


def check_outputs(source):
    """What is written out in the end, plain attention, and the moves of stored attention."""
    steps = run_node(
        source, [("tileSteps", [getattr(widget, name) for name in NAMES]) for widget in WIDGETS]
    )
    calls = [
        call
        for widget, answer in zip(WIDGETS, steps, strict=True)
        for taken in [[{name: step[name] for name in WRITTEN} for step in answer["value"]]]
        for call in (
            ("writtenOutputs", [taken, len(widget.query)]),
            ("plainOutput", [widget.query, widget.key, widget.value, widget.causal]),
            ("storedMoves", [widget.query, widget.key, widget.value]),
        )
    ]
    answers = [answer["value"] for answer in run_node(source, calls)]
    for k, widget in enumerate(WIDGETS):
        written, plain, moves = answers[3 * k : 3 * k + 3]
        np.testing.assert_allclose(written, widget.plain_output, rtol=0, atol=1e-12)
        np.testing.assert_allclose(plain, widget.plain_output, rtol=0, atol=1e-12)
        assert moves == reference_tiled.stored_attention(*arrays(widget))[1].moved


def tiled(widget):
    sizes = (widget.query_tile, widget.key_tile)
    return reference_tiled.tiled_attention(*arrays(widget), *sizes, causal=widget.causal)


def test_the_steps_of_the_module_are_those_of_python():
    check_parity(SOURCE)


def test_the_outputs_of_the_module_are_those_of_plain_attention():
    check_outputs(SOURCE)


FAULTS = {
    "no shrinking of the total": ("t * shrink[i]", "t", check_parity),
    "no shrinking of the sums": ("x * shrink[i]", "x", check_parity),
    "shrinking the wrong way": ("largest[i] - top)", "top - largest[i])", check_parity),
    "the largest of the tile alone": (
        "Math.max(largest[i], ...row)",
        "Math.max(...row)",
        check_parity,
    ),
    "no scaling of scores": ("x / Math.sqrt(d_k)", "x", check_parity),
    "queries read with every tile of keys": (
        "moved += columns.length * (d_k + d_v)",
        "moved += columns.length * (d_k + d_v) + rows.length * d_k",
        check_parity,
    ),
    "outputs not counted": ("moved += rows.length * d_v", "moved += 0", check_parity),
    "a strict mask": ("columns[j] > rows[i]", "columns[j] >= rows[i]", check_parity),
    "hidden tiles read": (
        "causal ? rows[rows.length - 1] + 1",
        "causal ? key.length",
        check_parity,
    ),
    "a tile held without its scores": (" + rows.length * columns.length;", ";", check_parity),
    "sums for outputs": ("x / total[i]", "x", check_outputs),
    "plain attention without a mask": ("causal ? row.map", "false ? row.map", check_outputs),
    "weights not stored": ("return 4 * n * m", "return 2 * n * m", check_outputs),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault])


@pytest.mark.parametrize("widget", WIDGETS, ids=str)
def test_the_steps_lead_to_plain_attention_and_the_counts_of_the_reference(widget):
    output, counts = tiled(widget)
    mask = reference.causal_mask(len(widget.query)) if widget.causal else None
    plain, _ = reference.scaled_dot_product_attention(*arrays(widget), mask=mask)
    np.testing.assert_allclose(widget.output, plain, rtol=0, atol=1e-12)
    np.testing.assert_allclose(widget.output, output, rtol=0, atol=1e-12)
    np.testing.assert_allclose(widget.plain_output, plain, rtol=0, atol=1e-12)
    assert widget.steps[-1]["moved"] == counts.moved


def test_after_each_step_is_known_what_the_keys_so_far_give():
    """As if there were no further keys: the softmax over those seen."""
    widget = WIDGETS[1]
    query, key, value = arrays(widget)
    for step in widget.steps:
        seen = step["columns"][-1] + 1 if step["columns"] else len(key)
        rows = np.array(step["rows"])
        output, _ = reference.scaled_dot_product_attention(query[rows], key[:seen], value[:seen])
        so_far = step["summed"] / step["total"][:, None]
        np.testing.assert_allclose(so_far, output, rtol=0, atol=1e-12)
        np.testing.assert_allclose(
            step["largest"], (query[rows] @ key[:seen].T).max(axis=1) / np.sqrt(2)
        )


def test_larger_tiles_of_queries_move_less_and_those_of_keys_do_not_matter():
    moved = {size: Tiles(query_tile=size).steps[-1]["moved"] for size in (1, 2, 4, 8)}
    assert list(moved.values()) == [32 + 32 * 8 // size for size in moved]
    assert len({Tiles(key_tile=size).steps[-1]["moved"] for size in range(1, 9)}) == 1


def test_the_largest_score_rises_in_what_the_reader_sees_first():
    first, second = Tiles().steps[:2]
    assert (second["largest"] > first["largest"]).any()


BAD = {
    "no query": ({"query": []}, "query must have shape .tokens, 2., got shape"),
    "nine queries": ({"query": [[0, 0]] * 9}, "query must have 1 to 8 rows, got 9"),
    "keys without values": (
        {"key": [[0, 1]] * 3},
        "every key needs one value: 3 keys and 8 values",
    ),
    "a width of 3": ({"value": [[1, 2, 3]] * 8}, r"value must have shape \(tokens, 2\)"),
    "NaN": ({"query": [[0, float("nan")]]}, "query must hold finite numbers"),
    "no tile": ({"query_tile": 0}, "query_tile must be a whole number from 1 to 8, got 0"),
    "a tile of nine": ({"key_tile": 9}, "key_tile must be a whole number from 1 to 8, got 9"),
    "half a tile": ({"key_tile": 1.5}, "key_tile must be a whole number from 1 to 8, got 1.5"),
    "a step back": ({"step": -1}, "step must be a whole number from 0 to 72, got -1"),
    "causal as text": ({"causal": "yes"}, "causal"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    check_refused(Tiles(step=3), *BAD[kind])


def test_causal_needs_as_many_keys_as_queries():
    widget = made(6, 8, False, 2, 4)
    with pytest.raises(traitlets.TraitError, match="got 6 queries and 8 keys"):
        widget.causal = True
    assert not widget.causal


def test_the_stored_table_reads_without_the_widget():
    widget = Tiles(query_tile=4, key_tile=8)
    data, _ = widget._repr_mimebundle_()
    assert data["text/html"].count('<th scope="row">') == 4
    assert "<td>queries 1 to 4</td><td>keys 1 to 8</td>" in data["text/html"]
    assert "<td>queries 5 to 8</td><td>write the outputs</td>" in data["text/html"]
    assert data["text/html"].endswith("<td>96</td></tr></tbody></table>")
    assert data["text/plain"] == "Tiles(query_tile=4, key_tile=8, causal=False, step=0)"
