"""The head view: what is stored against the weights it was made of, and the module in node."""

import itertools

import numpy as np
import pytest
import torch
import traitlets
from widget_harness import check_fault_is_seen, check_refused, inputs, run_node

from minitransformer.attention import MultiHeadAttention
from minitransformer.reference import softmax
from minitransformer.widgets import HeadView, head_view, module_source
from minitransformer.widgets.head_view import HIDE, MOST_BYTES, pack_weights

SOURCE = module_source(HeadView)
TOKENS = ["[CLS]", "the", "cat", "'", "s", "mat", ",", "é", "<|im_end|>", "…", "ok.", "[ SEP"]
MARKS = [0, 3, 6, 8, 9]


def weights_of(layers=3, heads=2, time=12, seed=0, size=2.0, causal=False):
    scores = np.random.default_rng(seed).normal(scale=size, size=(layers, heads, time, time))
    return softmax(scores, mask=np.tri(time, dtype=bool) if causal else None)


def view(**choices):
    texts = [("one", TOKENS, weights_of()), ("two", list("abcde"), weights_of(time=5, seed=1))]
    return HeadView.of("a model", texts, **choices)


def steps(widget, text):
    return np.rint(widget.weights(text) * 255).astype(int)


def check_rows(source):
    widget = view()
    maps, stored = steps(widget, 0).ravel().tolist(), widget.weights(0)
    cases = list(itertools.product(range(3), range(2), (0, 4, 11), ([], MARKS)))
    hide = {tuple(marks): [j in marks for j in range(12)] for marks in ([], MARKS)}
    calls = [("lookUp", [maps, 12, 2, *case[:3], hide[tuple(case[3])]]) for case in cases]
    for (layer, head, query, hidden), answer in zip(cases, run_node(source, calls), strict=True):
        assert "error" not in answer, answer
        row, found = stored[layer, head, query], answer["value"]
        np.testing.assert_allclose(found["row"], row, rtol=0, atol=1e-12)
        assert found["share"] == pytest.approx(row[hidden].sum(), abs=1e-12)
        order = found["order"]
        assert set(order) == set(np.flatnonzero(row)) - set(hidden)
        assert (np.diff(row[order]) <= 0).all()


def check_small_maps(source):
    widget = view()
    maps, n = steps(widget, 0), 12
    hidden = np.isin(np.arange(n), MARKS)
    for size in (12, 5, 4):
        calls = [("shrink", [maps.ravel().tolist(), k * n * n, n, size, hidden.tolist()])
                 for k in range(6)]  # fmt: skip
        block = np.arange(n) * size // n
        for k, answer in enumerate(run_node(source, calls)):
            expected = np.zeros((size, size), int)
            shown = np.where(hidden, 0, maps.reshape(-1, n, n)[k])
            np.maximum.at(expected, (block[:, None], block[None, :]), shown)
            assert list(answer["value"].values()) == expected.ravel().tolist()


def check_hidden(source):
    answers = run_node(source, [("hiddenKeys", [TOKENS, hide]) for hide in HIDE])
    found = [np.flatnonzero(answer["value"]).tolist() for answer in answers]
    assert found == [[], [0], MARKS]


def test_the_module_looks_up_what_python_stores():
    check_rows(SOURCE)
    check_small_maps(SOURCE)
    check_hidden(SOURCE)


FAULTS = {
    "layers and heads exchanged": (
        "(layer * nHeads + head) * n",
        "(head * nHeads + layer) * n",
        check_rows,
    ),
    "columns for rows": ("maps[start + j] / STEPS", "maps[start + j * n] / STEPS", check_rows),
    "256 steps": ("const STEPS = 255", "const STEPS = 256", check_rows),
    "hidden keys in the order": ("hidden[j] || w === 0", "w === 0", check_rows),
    "the smallest first": ("row[b] - row[a]", "row[a] - row[b]", check_rows),
    "share of all": ("hidden[j] ? sum + w : sum", "sum + w", check_rows),
    "the last, not the largest": (
        "steps > small[to + place[j]] && !hidden[j]",
        "!hidden[j]",
        check_small_maps,
    ),
    "hidden keys painted": (" && !hidden[j])", ")", check_small_maps),
    "letters of English only": ("[^\\p{L}\\p{N}]*$", "[^A-Za-z0-9]*$", check_hidden),
    "any bracket": ("(\\[\\w+\\]|<.*>)", "(\\[.*|<.*>)", check_hidden),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault])


@pytest.mark.parametrize("size", [0.1, 2.0, 30.0])
def test_what_is_stored_is_within_half_a_step(size):
    weights = weights_of(size=size, causal=True)
    stored = HeadView.of("m", [("t", TOKENS, weights)]).weights(0)
    assert stored.shape == weights.shape
    assert abs(stored - weights).max() <= 0.5 / 255 + 1e-12


def test_the_weights_of_a_module_are_taken_as_they_come():
    torch.manual_seed(0)
    attention = MultiHeadAttention(6, 3)
    with torch.no_grad():
        _, weights = attention(torch.randn(2, 5, 6), need_weights=True)
    widget = HeadView.of("m", [("t", list("abcde"), weights[:, :, :, :])])
    assert (widget.n_layers, widget.n_heads) == (2, 3)  # here: two texts as if they were layers
    np.testing.assert_allclose(widget.weights(0), weights, rtol=0, atol=0.002)


def test_12_by_12_heads_on_128_tokens_fit():
    packed = pack_weights(weights_of(12, 12, 128, size=2.0))
    assert 100_000 < len(packed) <= MOST_BYTES


BAD_WEIGHTS = {
    "three axes": (np.ones((2, 3, 3)), ValueError, r"must be \(layer, head, query, key\), got"),
    "more keys than queries": (np.ones((1, 1, 2, 3)) / 3, ValueError, "got \\(1, 1, 2, 3\\)"),
    "scores": (np.ones((1, 1, 3, 3)), ValueError, "each row must sum to 1 or be 0"),
    "negative": (np.array([[[[2.0, -1.0], [0.5, 0.5]]]]), ValueError, "must not be negative"),
    "NaN": (np.full((1, 1, 2, 2), np.nan), ValueError, "must not be negative"),
    "text": (np.array([["a"]]), TypeError, "weights must hold real numbers"),
}


@pytest.mark.parametrize("kind", BAD_WEIGHTS)
def test_what_is_no_weights_is_refused(kind):
    weights, error, message = BAD_WEIGHTS[kind]
    with pytest.raises(error, match=message):
        pack_weights(weights)


def test_too_many_weights_are_refused(monkeypatch):
    weights = weights_of()
    monkeypatch.setattr(head_view, "MOST_BYTES", len(pack_weights(weights)) - 1)
    with pytest.raises(ValueError, match=r"weights take \d+ bytes packed, more than \d+"):
        pack_weights(weights)


def test_texts_that_are_too_large_together_are_refused(monkeypatch):
    size = sum(map(len, view().maps))
    monkeypatch.setattr(head_view, "MOST_BYTES", size - 1)
    with pytest.raises(traitlets.TraitError, match=f"2 texts, 2 maps of {size} bytes"):
        view()


BAD = {
    "another length": ({"texts": [["one", ["a"]], ["two", list("abcde")]]}, "on 1 tokens have 6"),
    "a text too few": ({"texts": [["one", TOKENS]]}, "got 1 texts, 2 maps"),
    "no tokens": ({"texts": [["one", []]]}, r"list of \[title, 1 to 128 tokens\]"),
    "129 tokens": ({"texts": [["one", ["a"] * 129]]}, r"list of \[title, 1 to 128 tokens\]"),
    "tokens as numbers": ({"texts": [["one", [1, 2]]]}, "tokens of 'one' must be strings"),
    "no texts": ({"texts": []}, r"texts must be a list of \[title"),
    "no base64": ({"maps": ["§", "§"]}, "maps of 'one' do not unpack"),
    "not compressed": ({"maps": ["AAAA", "AAAA"]}, "maps of 'one' do not unpack"),
    "more layers": ({"n_layers": 4}, "hold 864 weights, but 4 layers .* have 1152"),
    "no such text": ({"text": 2}, "text must be 0 to 1, got 2"),
    "no such layer": ({"layer": 3}, "layer must be 0 to 2, got 3"),
    "no such head": ({"head": 2}, "head must be 0 to 1, got 2"),
    "no such query": ({"query": 12}, "query must be 0 to 11, got 12"),
    "hide another": ({"hide": "all"}, "hide"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    check_refused(view(), *BAD[kind])


def test_the_stored_table_is_small_and_reads_without_the_widget():
    widget = view(text=1)
    data, _ = widget._repr_mimebundle_()
    table = data["text/html"]
    first = widget.weights(1)[2, 1, 1:, 0].mean()
    assert f"<td>{first:.2f}</td></tr></tbody>" in table
    assert "a model, two: mean weight of the first token" in table
    assert len(table) < 2000
    assert data["text/plain"] == (
        "HeadView(model='a model', layers=3, heads=2, texts=['one', 'two'])"
    )


def test_the_saved_state_is_the_inputs():
    state = view().get_state()
    own = {key for key in state if not key.startswith("_")} - {"layout", "tabbable", "tooltip"}
    assert own == set(inputs(view()))
    assert state["_anywidget_id"] == "minitransformer.widgets.head_view.HeadView"
