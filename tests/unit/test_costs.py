"""The costs: formulas against counted multiplications, counted scores and measured bytes."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from minitransformer import costs, reference
from minitransformer.attention import MultiHeadAttention
from minitransformer.blocks import TransformerBlock
from minitransformer.cache import KVCache

SIZES = [(5, 12, 3, 1), (7, 24, 6, 2), (11, 20, 5, 5)]  # n, d_model, n_heads, n_kv_heads


class Counted:
    """Multiply-adds by operation while the block runs; the counter counts each as 2."""

    def __enter__(self):
        self.counter = FlopCounterMode(display=False)
        self.counter.__enter__()
        return self

    def __exit__(self, *error):
        self.counter.__exit__(*error)
        counts = {
            str(name): flops // 2 for name, flops in self.counter.flop_counts["Global"].items()
        }
        self.products = counts.pop("aten.bmm", 0)
        self.linear = sum(counts.values())


@pytest.mark.parametrize(("n", "d_model", "n_heads", "n_kv_heads"), SIZES)
def test_attention_multiplies_as_often_as_the_formula_says(n, d_model, n_heads, n_kv_heads):
    attention = MultiHeadAttention(d_model, n_heads, n_kv_heads, bias=False)
    with Counted() as counted:
        attention(torch.randn(1, n, d_model), need_weights=True)
    expected = costs.multiply_adds(n, d_model, 1, n_heads, n_kv_heads)
    assert counted.products == expected.scores + expected.values
    assert counted.linear == expected.projections


@pytest.mark.parametrize("activation", ["gelu", "swiglu"])
@pytest.mark.parametrize(("n", "d_model", "n_heads", "n_kv_heads"), SIZES[:2])
def test_a_stack_multiplies_as_often_as_the_formula_says(
    n, d_model, n_heads, n_kv_heads, activation
):
    d_ff = 4 * d_model if activation == "gelu" else 8 * d_model // 3
    kinds = {"n_kv_heads": n_kv_heads, "activation": activation, "bias": False}
    blocks = [TransformerBlock(d_model, n_heads, d_ff, **kinds) for _ in range(3)]
    x = torch.randn(1, n, d_model)
    with Counted() as counted:
        for block in blocks:
            x = x + block.attn(block.ln1(x), need_weights=True)[0]
            x = x + block.mlp(block.ln2(x))
    expected = costs.multiply_adds(n, d_model, 3, n_heads, n_kv_heads)
    assert counted.products == expected.scores + expected.values
    assert counted.linear == expected.projections + expected.feed_forward


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_scores_that_count_are_those_of_the_mask(n):
    assert costs.n_scores(n) == n * n
    assert costs.n_scores(n, causal=True) == reference.causal_mask(n).sum()
    full, half = (costs.multiply_adds(n, 6, 2, 3, causal=causal) for causal in (False, True))
    assert half.scores * n**2 == full.scores * reference.causal_mask(n).sum()
    assert half[2:] == full[2:]  # projections and feed-forward know no mask


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("d_model", "n_heads", "n_kv_heads"), [(12, 3, 3), (30, 5, 1), (24, 6, 2)])
def test_where_attention_overtakes_the_rest(d_model, n_heads, n_kv_heads, causal):
    n = costs.crossing_length(d_model, n_heads, n_kv_heads, causal=causal)
    at, before = (
        costs.multiply_adds(length, d_model, 2, n_heads, n_kv_heads, causal=causal)
        for length in (n, n - 1)
    )
    assert at.scores + at.values == at.projections + at.feed_forward
    assert before.scores + before.values < before.projections + before.feed_forward


def test_stored_scores_are_as_large_as_the_tensor_of_weights():
    attention = MultiHeadAttention(12, 6, 2)
    weights = attention(torch.randn(1, 9, 12), is_causal=True, need_weights=True)[1]
    assert costs.score_bytes(9, 6) == weights.nbytes
    assert costs.score_bytes(9, 6, 2) == weights.half().nbytes


def test_tiles_hold_what_online_softmax_holds():
    n_heads, n, tile = 3, 10, 4
    scores = np.zeros((n_heads, tile, tile), np.float32)
    largest = total = np.zeros((n_heads, n), np.float32)
    held = scores.nbytes + largest.nbytes + total.nbytes
    assert costs.tiled_score_bytes(n, n_heads, tile=tile) == held
    assert costs.tiled_score_bytes(3, 1, tile=4) == 4 * (9 + 6)  # a text shorter than a tile


def test_doubling_the_length_quadruples_the_matrix_and_doubles_the_rest():
    n, tile = 1024, 128
    assert costs.score_bytes(2 * n) == 4 * costs.score_bytes(n)
    growth = [costs.tiled_score_bytes(k * n, tile=tile) for k in (1, 2, 3)]
    assert growth[2] - growth[1] == growth[1] - growth[0] == 8 * n
    before, after = (costs.multiply_adds(k * n, 64, 2, 4) for k in (1, 2))
    assert [b / a for a, b in zip(before, after, strict=True)] == [4, 4, 2, 2]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("n_kv_heads", [1, 4])
def test_the_cache_is_as_large_as_the_formula_says(dtype, n_kv_heads):
    cache = KVCache(n_layers=3, batch=5, n_kv_heads=n_kv_heads, max_length=7, d_head=2, dtype=dtype)
    expected = costs.cache_bytes(7, 3, n_kv_heads, 2, dtype.itemsize, batch=5)
    assert cache.bytes == expected
    assert cache.bytes_per_token * 5 * 7 == expected


def test_published_sizes_fit_together():
    for sizes in costs.PUBLISHED:
        assert sizes.n_heads % sizes.n_kv_heads == 0
        assert sizes.d_model == sizes.n_heads * sizes.d_head
        assert sizes.source
    by_name = {sizes.name: sizes for sizes in costs.PUBLISHED}
    assert by_name["GPT-3 175B"].d_model == 12288
    assert by_name["Llama 3.1 405B"].d_model == 16384


def test_mistral_s_sizes_are_those_of_its_configuration_in_transformers():
    transformers = pytest.importorskip("transformers", reason="an extra of the tests")
    config = transformers.MistralConfig()
    mistral = next(sizes for sizes in costs.PUBLISHED if sizes.name == "Mistral 7B")
    heads = (config.num_attention_heads, config.num_key_value_heads, config.head_dim)
    assert mistral[1:5] == (config.num_hidden_layers, *heads)
    assert mistral.d_model == config.hidden_size


@pytest.mark.models
def test_smollm2_s_sizes_are_those_of_its_file():
    from minitransformer.pretrained import load_pretrained

    config = load_pretrained("smollm2").model.config
    smollm2 = next(sizes for sizes in costs.PUBLISHED if sizes.name == "SmolLM2-135M")
    assert smollm2[1:5] == (config.n_layers, config.n_heads, config.n_kv_heads, config.d_head)
    assert smollm2.d_model == config.d_model


BAD = {
    "negative n": (lambda: costs.n_scores(-1), ValueError, "n must be at least 0, got -1"),
    "n as float": (lambda: costs.n_scores(1e3), TypeError, "n must be a whole number, got 1000.0"),
    "heads that do not fit": (
        lambda: costs.multiply_adds(3, 10, n_heads=4),
        ValueError,
        "d_model 10 does not split into 4 heads",
    ),
    "KV heads that do not fit": (
        lambda: costs.multiply_adds(3, 12, n_heads=6, n_kv_heads=4),
        ValueError,
        "n_heads 6 must be a multiple of n_kv_heads 4",
    ),
    "no layer": (
        lambda: costs.multiply_adds(3, 12, 0),
        ValueError,
        "n_layers must be at least 1, got 0",
    ),
    "no tile": (
        lambda: costs.tiled_score_bytes(3, tile=0),
        ValueError,
        "tile must be at least 1, got 0",
    ),
    "no KV head": (
        lambda: costs.cache_bytes(3, 1, 0, 2),
        ValueError,
        "n_kv_heads must be at least 1, got 0",
    ),
    "half a batch": (
        lambda: costs.cache_bytes(3, 1, 1, 2, batch=0.5),
        TypeError,
        "batch must be a whole number, got 0.5",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_size_is_refused(kind):
    call, error, message = BAD[kind]
    with pytest.raises(error, match=message):
        call()
