"""The library search: its Python side, and its module against reference.py, in node."""

import numpy as np
import pytest
from widget_harness import check_fault_is_seen, check_refused, run_node

from minitransformer import reference
from minitransformer.widgets import LibrarySearch, module_source

SOURCE = module_source(LibrarySearch)


def case(seed, cards=5, size=1.0, sharpness=1.3):
    rng = np.random.default_rng(seed)
    query, key = rng.normal(scale=size, size=2), rng.normal(scale=size, size=(cards, 2))
    return [query.tolist(), key.tolist(), rng.normal(size=cards).tolist(), sharpness]


def cases():
    ordinary = [case(seed, sharpness=s) for seed in range(10) for s in (0.0, 0.4, 1.3, 20.0)]
    return ordinary + [case(seed, cards=12, size=1000.0) for seed in range(5)]


def check_parity(source):
    for given, answer in zip(
        cases(), run_node(source, [("search", c) for c in cases()]), strict=True
    ):
        query, key, value, sharpness = given
        output, weights = reference.scaled_dot_product_attention(
            [query], key, np.array(value)[:, None], scale=sharpness
        )
        assert "error" not in answer, answer
        found = answer["value"]
        np.testing.assert_allclose(found["products"], np.array(key) @ query, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found["weights"], weights[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found["answer"], output[0, 0], rtol=1e-9, atol=1e-12)


def test_the_search_equals_the_reference():
    check_parity(SOURCE)


FAULTS = {
    "sharpness dropped": ("sharpness * product)", "product)"),
    "divided instead of multiplied": ("sharpness * product)", "product / sharpness)"),
    "scores mixed instead of weights": (
        "weights.reduce((sum, weight, j)",
        "scores.reduce((sum, weight, j)",
    ),
    "the first coordinate only": ("sum + x * query[k]", "sum + x * query[0]"),
    "books in reverse": ("weight * values[j]", "weight * values[values.length - 1 - j]"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault], check_parity)


def test_python_says_the_same_as_the_module():
    rng = np.random.default_rng(3)
    widget = LibrarySearch(
        words=list("abcde"),
        key=rng.normal(size=(5, 2)),
        value=rng.normal(size=(5, 1)),
        query=rng.normal(size=(1, 2)),
        sharpness=2.5,
    )
    books = [book for (book,) in widget.value]
    (answer,) = run_node(SOURCE, [("search", [widget.query[0], widget.key, books, 2.5])])
    for name in ("scores", "weights", "answer"):
        np.testing.assert_allclose(answer["value"][name], getattr(widget, name), rtol=1e-12)


def test_the_special_cases():
    assert LibrarySearch(sharpness=0).answer == pytest.approx(-0.05)
    assert LibrarySearch(sharpness=20).answer == pytest.approx(1, abs=1e-6)
    assert LibrarySearch(query=[[0, 0]]).weights.tolist() == [0.25] * 4


BAD = {
    "sharpness negative": (
        {"sharpness": -0.1},
        r"sharpness must be a number from 0 to 20, got -0.1",
    ),
    "sharpness beyond": ({"sharpness": 20.5}, r"from 0 to 20, got 20.5"),
    "sharpness NaN": ({"sharpness": float("nan")}, r"from 0 to 20, got nan"),
    "sharpness text": ({"sharpness": "1"}, r"from 0 to 20, got '1'"),
    "sharpness true": ({"sharpness": True}, r"from 0 to 20, got True"),
    "two requests": (
        {"query": [[1, 0], [0, 1]]},
        r"query must have shape \(1, 2\), got shape \(2, 2\)",
    ),
    "a flat request": ({"query": [1, 0]}, r"query must have shape \(1, 2\), got shape \(2,\)"),
    "a card too few": ({"key": [[1, 0]] * 3}, r"words has 4, key has 3, value has 4"),
    "a word too many": ({"words": list("abcde")}, r"words has 5, key has 4, value has 4"),
    "flat values": ({"value": [1, 2, 3, 4]}, r"value must have shape \(tokens, 1\)"),
    "infinite value": ({"value": [[1], [2], [float("inf")], [4]]}, r"value must hold finite"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    check_refused(LibrarySearch(sharpness=2), *BAD[kind])


def test_the_table_reads_without_the_widget():
    data, _ = LibrarySearch(words=["<b>", "Ufer", "Konto", "Kredit"])._repr_mimebundle_()
    table = data["text/html"]
    assert table.count('<th scope="row">') == 4
    assert table.count('<th scope="col">') == 5
    assert (
        '<th scope="row">Konto</th><td>[0, 2]</td><td>1</td><td>3.000</td><td>0.563</td>' in table
    )
    assert "sharpness 1. Answer: 0.527</caption>" in table
    assert "&lt;b&gt;" in table
    assert "application/vnd.jupyter.widget-view+json" in data
    assert " at 0x" not in data["text/plain"]


def test_the_saved_state_is_the_inputs():
    state = LibrarySearch().get_state()
    own = {key for key in state if not key.startswith("_")} - {"layout", "tabbable", "tooltip"}
    assert own == {"words", "key", "value", "query", "sharpness"}
    assert state["_anywidget_id"] == "minitransformer.widgets.library_search.LibrarySearch"


def test_the_module_keeps_to_python_s_limits():
    assert f"const LIMIT = {LibrarySearch.key.limit:.0e};".replace("e+0", "e") in SOURCE
    assert f"const MOST_SHARPNESS = {LibrarySearch.sharpness.most:g};" in SOURCE
