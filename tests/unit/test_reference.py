"""The formulas of reference.py: their laws, their edges, and what they refuse."""

import math
import statistics
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minitransformer import reference
from minitransformer.reference import (
    causal_mask,
    multi_head_attention,
    online_softmax_attention,
    scaled_dot_product_attention,
    self_attention,
    softmax,
)

BATCH, HEADS, QUERIES, KEYS, D_K, D_V = 2, 3, 5, 7, 4, 6


def inputs(dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    shapes = (QUERIES, D_K), (KEYS, D_K), (KEYS, D_V)
    return [rng.normal(size=(BATCH, HEADS, *shape)).astype(dtype) for shape in shapes]


def by_loops(query, key, value, mask):
    """One query, one key, one number at a time."""
    output = np.zeros((len(query), value.shape[1]))
    weights = np.zeros((len(query), len(key)))
    for i in range(len(query)):
        allowed = [j for j in range(len(key)) if mask[i, j]]
        scores = {
            j: sum(a * b for a, b in zip(query[i], key[j], strict=True)) / math.sqrt(len(query[i]))
            for j in allowed
        }
        total = sum(math.exp(score) for score in scores.values())
        for j in allowed:
            weights[i, j] = math.exp(scores[j]) / total
            output[i] += weights[i, j] * value[j]
    return output, weights


def test_attention_equals_loops_over_numbers():
    query, key, value = inputs()
    mask = np.random.default_rng(1).random((QUERIES, KEYS)) < 0.6
    mask[3] = False
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    for b in range(BATCH):
        for h in range(HEADS):
            expected = by_loops(query[b, h], key[b, h], value[b, h], mask)
            np.testing.assert_allclose(output[b, h], expected[0], rtol=0, atol=1e-14)
            np.testing.assert_allclose(weights[b, h], expected[1], rtol=0, atol=1e-14)


def test_leading_dimensions_are_independent():
    query, key, value = inputs()
    together, _ = scaled_dot_product_attention(query, key, value)
    alone, _ = scaled_dot_product_attention(query[1, 2], key[1, 2], value[1, 2])
    np.testing.assert_allclose(together[1, 2], alone, rtol=0, atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_is_kept(dtype):
    query, key, value = inputs(dtype)
    x, w = query[..., :D_K], np.ones((D_K, D_K), dtype)
    results = [
        *scaled_dot_product_attention(query, key, value),
        *scaled_dot_product_attention(query, key, value, scale=0.3),
        online_softmax_attention(query, key, value, block_size=3),
        *self_attention(x, w, w, w),
        *multi_head_attention(x, w, w, w, w, n_heads=2),
        softmax(query),
    ]
    assert {result.dtype for result in results} == {np.dtype(dtype)}


def test_half_precision_is_computed_in_single():
    query = np.full((1, 64), 40.0, np.float16)  # the dot product, 102400, is no float16
    output, _ = scaled_dot_product_attention(query, query, query)
    assert output.dtype == np.float32
    np.testing.assert_array_equal(output, query)


def test_whole_numbers_are_computed_as_float64():
    assert softmax([1, 2]).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [1e4, -1e4])
def test_large_scores_neither_overflow_nor_vanish(dtype, shift):
    scores = np.array([shift, shift + 1], dtype)
    with np.errstate(all="raise"):
        weights = softmax(scores)
    np.testing.assert_allclose(weights, [1 / (1 + math.e), math.e / (1 + math.e)], rtol=1e-6)


@pytest.mark.parametrize("junk", [np.inf, -np.inf, np.nan])
def test_what_stands_in_a_masked_place_does_not_matter(junk):
    scores = np.array([[0.5, junk, -2.0], [junk, junk, 1.0]])
    mask = np.array([[True, False, True], [False, False, True]])
    expected = softmax(np.where(mask, scores, 0.0), mask=mask)
    np.testing.assert_array_equal(softmax(scores, mask=mask), expected)


@pytest.mark.parametrize("junk", [np.inf, -np.inf, np.nan])
def test_a_masked_key_does_not_matter(junk):
    query, key, value = inputs()
    mask = np.ones((QUERIES, KEYS), bool)
    mask[:, 2] = False
    expected, _ = scaled_dot_product_attention(query, key, value, mask)
    key[:, :, 2] = junk
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    np.testing.assert_array_equal(output, expected)
    assert (weights[..., 2] == 0).all()
    online = online_softmax_attention(query, key, value, mask, block_size=2)
    np.testing.assert_allclose(online, expected, rtol=0, atol=1e-14)


def test_a_query_that_sees_nothing_gets_zeros():
    query, key, value = inputs()
    mask = np.ones((QUERIES, KEYS), bool)
    mask[4] = False
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert (output[..., 4, :] == 0).all()
    assert (weights[..., 4, :] == 0).all()
    np.testing.assert_allclose(weights[..., :4, :].sum(-1), 1, rtol=0, atol=1e-15)
    online = online_softmax_attention(query, key, value, mask, block_size=3)
    assert (online[..., 4, :] == 0).all()


def test_no_keys_give_zeros():
    query, key, value = inputs()
    output, weights = scaled_dot_product_attention(query, key[..., :0, :], value[..., :0, :])
    assert weights.shape == (BATCH, HEADS, QUERIES, 0)
    assert (output == 0).all()
    assert output.shape == (BATCH, HEADS, QUERIES, D_V)


@pytest.mark.parametrize("shape", [(0, 5, 4), (2, 0, 4)])
def test_no_tokens_have_no_heads_to_mix(shape):
    w = np.ones((4, 6))
    output, _ = multi_head_attention(np.zeros(shape), w, w, w, w.T, n_heads=3)
    assert output.shape == shape


def test_softmax_along_another_axis():
    scores = np.random.default_rng(2).normal(size=(3, 5, 2))
    np.testing.assert_allclose(softmax(scores, axis=1).sum(axis=1), np.ones((3, 2)))
    np.testing.assert_array_equal(
        softmax(scores, axis=1), np.moveaxis(softmax(np.moveaxis(scores, 1, -1)), -1, 1)
    )


@settings(deadline=None)
@given(
    block_size=st.integers(1, KEYS + 2),
    seed=st.integers(0, 1000),
    density=st.floats(0, 1),
    size=st.sampled_from([1.0, 30.0, 300.0]),
)
def test_online_softmax_is_exact_for_every_block_size(block_size, seed, density, size):
    query, key, value = inputs(seed=seed)
    mask = np.random.default_rng(seed).random((BATCH, 1, QUERIES, KEYS)) < density
    expected, _ = scaled_dot_product_attention(size * query, key, value, mask)
    online = online_softmax_attention(size * query, key, value, mask, block_size=block_size)
    np.testing.assert_allclose(online, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("block_size", [1, 2, 3, 4, 7, 8])
def test_online_softmax_when_the_first_block_is_masked_and_scores_are_very_negative(block_size):
    """flash-attention #2082: a maximum that sticks at 0 makes exp(-800 - 0) vanish, and 0 / 0."""
    query, key, value = np.full((1, 1), 800.0), np.full((KEYS, 1), -1.0), np.eye(KEYS)
    mask = np.arange(KEYS) >= 4
    online = online_softmax_attention(query, key, value, mask[None], block_size, scale=1.0)
    np.testing.assert_allclose(online, mask[None] / 3, rtol=0, atol=1e-15)


def test_multi_head_attention_equals_a_loop_over_heads():
    rng = np.random.default_rng(5)
    n_heads, d_head, d_value, d_model, time_, d_out = 3, 5, 7, 11, 13, 17  # no two alike
    x = rng.normal(size=(2, time_, d_model))
    w_q, w_k = rng.normal(size=(2, d_model, n_heads * d_head))
    w_v = rng.normal(size=(d_model, n_heads * d_value))
    w_o = rng.normal(size=(n_heads * d_value, d_out))
    output, weights = multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads, causal_mask(time_))
    expected = 0
    for h in range(n_heads):
        of_head = slice(h * d_head, (h + 1) * d_head)
        of_value = slice(h * d_value, (h + 1) * d_value)
        mixed, of_this = self_attention(
            x, w_q[:, of_head], w_k[:, of_head], w_v[:, of_value], causal_mask(time_)
        )
        expected = expected + mixed @ w_o[of_value]
        np.testing.assert_allclose(weights[:, h], of_this, rtol=0, atol=1e-13)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("q_offset", [-2, 0, 2, 4])
def test_causal_mask_places_the_first_query_after_q_offset_keys(q_offset):
    mask = causal_mask(5, 7, q_offset=q_offset)
    for i in range(5):
        for j in range(7):
            assert mask[i, j] == (j <= i + q_offset)


X, Q, K, V = np.ones((5, 4)), np.ones((5, 4)), np.ones((7, 4)), np.ones((7, 6))
MASK = np.ones((5, 7), bool)
WITH_NAN = np.where(np.eye(7, 4) > 0, np.nan, 1.0)
attend = scaled_dot_product_attention
BAD = {  # name: (call, error, what the message must say)
    "ragged rows": (lambda: softmax([[1.0], [1.0, 2.0]]), ValueError, "different lengths"),
    "text": (lambda: softmax(["a", "b"]), TypeError, "real numbers, got dtype <U1"),
    "complex numbers": (lambda: softmax([1j]), TypeError, "real numbers, got dtype complex128"),
    "booleans": (lambda: softmax([True]), TypeError, "real numbers, got dtype bool"),
    "None": (lambda: softmax(None), TypeError, "real numbers, got dtype object"),
    "one number": (lambda: softmax(3.0), ValueError, "single number"),
    "NaN that takes part": (lambda: softmax([np.nan, 1.0]), ValueError, r"NaN or \+infinity"),
    "infinity that takes part": (lambda: softmax([np.inf]), ValueError, r"NaN or \+infinity"),
    "integer mask": (lambda: softmax([1.0], mask=[1]), TypeError, "boolean.*got dtype int64"),
    "float mask": (lambda: attend(Q, K, V, MASK * 1.0), TypeError, "boolean.*got dtype float64"),
    "NaN in a mask": (lambda: attend(Q, K, V, MASK * np.nan), TypeError, "it holds NaN"),
    "mask of another size": (
        lambda: attend(Q, K, V, MASK[:, :6]),
        ValueError,
        r"\(5, 6\) does not fit.*\(5, 7\)",
    ),
    "mask with more dimensions": (
        lambda: attend(Q, K, V, np.ones((2, 5, 7), bool)),
        ValueError,
        r"\(2, 5, 7\) does not fit",
    ),
    "a row instead of a matrix": (lambda: attend(Q[0], K, V), ValueError, r"query.*got shape \(4,"),
    "widths that differ": (lambda: attend(Q[:, :3], K, V), ValueError, r"one width.*\(5, 3\)"),
    "width 0": (lambda: attend(Q[:, :0], K[:, :0], V), ValueError, r"width 0.*\(5, 0\)"),
    "a value too few": (lambda: attend(Q, K, V[1:]), ValueError, r"7 keys.*6 values"),
    "batches that differ": (
        lambda: attend(np.ones((2, 5, 4)), np.ones((3, 7, 4)), V),
        ValueError,
        "leading dimensions",
    ),
    "NaN in values": (lambda: attend(Q, K, V * np.nan), ValueError, "value holds NaN"),
    "NaN in a key": (lambda: attend(Q, WITH_NAN, V), ValueError, r"NaN or \+infinity"),
    "scale as text": (lambda: attend(Q, K, V, scale="1"), TypeError, "scale.*got '1'"),
    "scale True": (lambda: attend(Q, K, V, scale=True), TypeError, "scale.*got True"),
    "scale infinite": (lambda: attend(Q, K, V, scale=np.inf), ValueError, "scale.*got inf"),
    "block size 0": (
        lambda: online_softmax_attention(Q, K, V, block_size=0),
        ValueError,
        "at least 1, got 0",
    ),
    "block size 2.0": (
        lambda: online_softmax_attention(Q, K, V, block_size=2.0),
        TypeError,
        "got 2.0",
    ),
    "online: integer mask": (
        lambda: online_softmax_attention(Q, K, V, MASK.astype(int)),
        TypeError,
        "boolean",
    ),
    "online: NaN in a key": (
        lambda: online_softmax_attention(Q, WITH_NAN, V, block_size=3),
        ValueError,
        r"NaN or \+inf",
    ),
    "projection of another height": (
        lambda: self_attention(X, K[:3], K[:4], K[:4]),
        ValueError,
        r"w_q.*\(4, columns\).*\(3, 4",
    ),
    "projection that is no matrix": (
        lambda: self_attention(X, K[:4], K[None, :4], K[:4]),
        ValueError,
        r"w_k.*got \(1, 4, 4\)",
    ),
    "heads that do not divide": (
        lambda: multi_head_attention(X, K[:4], K[:4], K[:4], K[:4], 3),
        ValueError,
        "4 columns.*3",
    ),
    "no heads": (
        lambda: multi_head_attention(X, K[:4], K[:4], K[:4], K[:4], 0),
        ValueError,
        "got 0",
    ),
    "half a head": (
        lambda: multi_head_attention(X, K[:4], K[:4], K[:4], K[:4], 1.5),
        TypeError,
        "got 1.5",
    ),
    "negative length": (lambda: causal_mask(-1), ValueError, "n_queries.*got -1"),
    "length 2.5": (lambda: causal_mask(2.5), TypeError, "n_queries.*got 2.5"),
    "two lengths, no offset": (
        lambda: causal_mask(1, 3),
        ValueError,
        r"q_offset=0 .*top-left.*q_offset=2 .*bottom-right",
    ),
    "half an offset": (lambda: causal_mask(1, 3, q_offset=0.5), TypeError, "q_offset.*got 0.5"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_refused_with_a_message_that_names_it(kind):
    call, error, message = BAD[kind]
    with pytest.raises(error, match=f"(?s){message}"):
        call()


def test_every_public_function_is_documented():
    for name in reference.__all__:
        text = getattr(reference, name).__doc__
        for part in ("Returns", "Raises", "Examples", "Source:"):
            assert part in text, f"{name} has no {part}"


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout


def test_importing_the_package_loads_nothing_heavy():
    loaded = run("import sys, minitransformer; print(*sys.modules)").split()
    heavy = {"numpy", "torch", "matplotlib", "ipywidgets", "anywidget", "IPython"}
    assert heavy.isdisjoint(loaded)


def test_the_formulas_need_numpy_alone():
    code = "import sys, minitransformer.reference; print(*{n.split('.')[0] for n in sys.modules})"
    outside = set(run(code).split()) - set(run("import sys, numpy; print(*sys.modules)").split())
    outside -= sys.stdlib_module_names
    assert outside == {"minitransformer"}


def seconds(code):
    start = time.perf_counter()
    run(code)
    return time.perf_counter() - start


def test_importing_the_package_is_quick():
    differences = [seconds("import minitransformer") - seconds("pass") for _ in range(7)]
    assert statistics.median(differences) < 0.050
