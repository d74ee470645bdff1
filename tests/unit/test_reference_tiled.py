"""Tiles change no output, and their counters equal closed forms for every tile size."""

import math

import numpy as np
import pytest

from minitransformer.reference import causal_mask, scaled_dot_product_attention
from minitransformer.reference_tiled import Counts, online_step, stored_attention, tiled_attention

N, KEYS, D, D_V = 7, 5, 2, 3  # no two alike
TILES = [(rows, columns) for rows in range(1, N + 3) for columns in range(1, KEYS + 3)]


def inputs(n=N, n_keys=KEYS, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    query, key = size * rng.normal(size=(n, D)), rng.normal(size=(n_keys, D))
    return query, key, rng.normal(size=(n_keys, D_V))


def expected_moved(n, n_keys, query_tile, causal):
    """Each query in, each output out, and for every tile of queries the keys that it sees."""
    starts = range(0, n, query_tile)
    seen = [min(start + query_tile, n) if causal else n_keys for start in starts]
    return (D + D_V) * (n + sum(seen))


@pytest.mark.parametrize(("query_tile", "key_tile"), TILES)
@pytest.mark.parametrize("size", [1.0, 300.0])
def test_the_output_is_exact_for_every_tile_size(query_tile, key_tile, size):
    query, key, value = inputs(size=size)
    expected, _ = scaled_dot_product_attention(query, key, value)
    output, _ = tiled_attention(query, key, value, query_tile, key_tile)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("query_tile", "key_tile"), TILES)
def test_the_causal_output_is_exact_for_every_tile_size(query_tile, key_tile):
    query, key, value = inputs(n_keys=N)
    expected, _ = scaled_dot_product_attention(query, key, value, causal_mask(N))
    output, _ = tiled_attention(query, key, value, query_tile, key_tile, causal=True)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("query_tile", "key_tile"), TILES)
def test_what_is_moved_equals_the_closed_form(query_tile, key_tile):
    _, counts = tiled_attention(*inputs(), query_tile, key_tile)
    assert counts.moved == expected_moved(N, KEYS, query_tile, causal=False)
    assert counts.moved == (D + D_V) * (N + KEYS * math.ceil(N / query_tile))
    _, counts = tiled_attention(*inputs(n_keys=N), query_tile, key_tile, causal=True)
    assert counts.moved == expected_moved(N, N, query_tile, causal=True)


@pytest.mark.parametrize(("query_tile", "key_tile"), TILES)
def test_what_is_multiplied_is_that_of_the_whole_and_the_rescaling(query_tile, key_tile):
    _, stored = stored_attention(*inputs())
    assert stored.multiplied == N * KEYS * (D + D_V)
    _, tiled = tiled_attention(*inputs(), query_tile, key_tile)
    assert tiled.multiplied == stored.multiplied + N * D_V * math.ceil(KEYS / key_tile)


@pytest.mark.parametrize(("query_tile", "key_tile"), TILES)
def test_what_is_held_is_one_tile_of_everything(query_tile, key_tile):
    _, counts = tiled_attention(*inputs(), query_tile, key_tile)
    rows, columns = min(query_tile, N), min(key_tile, KEYS)
    assert counts.held == (rows + columns) * (D + D_V) + rows * columns + 2 * rows


def test_a_causal_mask_spares_tiles_but_not_a_stored_matrix():
    arrays = inputs(n=12, n_keys=12)
    full, causal = (tiled_attention(*arrays, 3, 3, causal=c)[1] for c in (False, True))
    tiles = 12 // 3
    products = {c: counts.multiplied for c, counts in ((False, full), (True, causal))}
    assert products[True] * tiles**2 == products[False] * tiles * (tiles + 1) // 2
    stored = [stored_attention(*arrays, causal=c)[1] for c in (False, True)]
    assert stored[0] == stored[1]


@pytest.mark.parametrize("causal", [False, True])
def test_storing_gives_the_same_output_and_moves_four_matrices(causal):
    query, key, value = inputs(n_keys=N if causal else KEYS)
    mask = causal_mask(N) if causal else None
    expected, _ = scaled_dot_product_attention(query, key, value, mask)
    output, counts = stored_attention(query, key, value, causal)
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-14)
    assert counts.moved == (D + D_V) * (N + len(key)) + 4 * N * len(key)


def test_float32_stays_float32():
    arrays = [array.astype(np.float32) for array in inputs()]
    assert tiled_attention(*arrays, 2, 2)[0].dtype == np.float32
    assert stored_attention(*arrays)[0].dtype == np.float32


def test_a_step_counts_into_what_it_is_given():
    counts = Counts()
    state = -np.inf, 0.0, np.zeros((4, D_V))
    online_step(*state, np.zeros((4, KEYS)), np.ones((KEYS, D_V)), counts)
    assert counts == Counts(moved=0, multiplied=4 * D_V * (KEYS + 1), held=0)


@pytest.mark.parametrize("call", [stored_attention, lambda *a, **k: tiled_attention(*a, 2, 2, **k)])
def test_what_does_not_fit_is_refused(call):
    query, key, value = inputs()
    with pytest.raises(ValueError, match=r"query must be a matrix, one head, got shape \(1, 7, 2"):
        call(query[None], key, value)
    with pytest.raises(ValueError, match="as many keys as queries, got 7 and 5"):
        call(query, key, value, causal=True)
    with pytest.raises(ValueError, match="there are no keys"):
        call(query, key[:0], value[:0])
    with pytest.raises(ValueError, match="every key needs one value"):
        call(query, key, value[:-1])


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0)])
def test_tiles_have_a_size(sizes):
    with pytest.raises(ValueError, match=r"_tile must be at least 1, got 0"):
        tiled_attention(*inputs(), *sizes)
