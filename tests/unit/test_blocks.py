"""Norms, feed-forward networks and the block: the formulas, the fast modules, bad input."""

import pytest
import torch
import torch.nn.functional as F

from minitransformer import blocks
from minitransformer.blocks import (
    FeedForward,
    LayerNorm,
    RMSNorm,
    SwiGLU,
    TransformerBlock,
    gelu,
    layer_norm,
    rms_norm,
)
from minitransformer.generation import KVCache
from minitransformer.hooks import hooked
from minitransformer.positions import RotaryPositions

torch.set_num_threads(1)


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def assert_same_with_gradients(one, other, inputs):
    """Both functions give the same output and the same gradient of each input."""
    results = []
    for function in (one, other):
        copies = [tensor.clone().requires_grad_() for tensor in inputs]
        output = function(*copies)
        output.backward(random(*output.shape, seed=9))
        results.append([output.detach(), *(copy.grad for copy in copies)])
    torch.testing.assert_close(results[0], results[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("eps", [1e-12, 0.3])
def test_layer_norm_equals_torch(eps):
    assert_same_with_gradients(
        lambda x, w, b: layer_norm(x, w, b, eps=eps),
        lambda x, w, b: F.layer_norm(x, (7,), w, b, eps),
        [random(2, 5, 7) * 3 + 2, random(7, seed=1), random(7, seed=2)],
    )


@pytest.mark.parametrize("eps", [1e-12, 0.3])
def test_rms_norm_equals_torch(eps):
    assert_same_with_gradients(
        lambda x, w: rms_norm(x, w, eps=eps),
        lambda x, w: F.rms_norm(x, (7,), w, eps),
        [random(2, 5, 7) * 3 + 2, random(7, seed=1)],
    )


def test_norms_over_two_axes():
    x = random(2, 5, 7)
    torch.testing.assert_close(layer_norm(x, axis=1), F.layer_norm(x, (5, 7)))
    torch.testing.assert_close(rms_norm(x, axis=-2, eps=0.1), F.rms_norm(x, (5, 7), eps=0.1))


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu_equals_torch(approximate):
    assert_same_with_gradients(
        lambda x: gelu(x, approximate),
        lambda x: F.gelu(x, approximate="tanh" if approximate else "none"),
        [random(3, 40) * 3],
    )


def test_the_two_gelus_differ_by_what_their_docstring_says():
    x = torch.linspace(-9, 9, 10_001, dtype=torch.float64)
    difference = (gelu(x) - gelu(x, approximate=True)).abs().max()
    assert 1e-4 < difference < 5e-4


@pytest.mark.parametrize("kind", [LayerNorm, RMSNorm])
def test_norm_modules_equal_their_formulas(kind):
    module = kind(7, eps=0.2).double()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += random(7, seed=3)
    x = random(2, 5, 7)
    if kind is LayerNorm:
        expected = layer_norm(x, module.weight, module.bias, eps=0.2)
    else:
        expected = rms_norm(x, module.weight, eps=0.2)
    torch.testing.assert_close(module(x), expected)
    assert LayerNorm(7, bias=False).bias is None


@pytest.mark.parametrize(
    ("activation", "function"),
    [("relu", F.relu), ("gelu", gelu), ("gelu_tanh", lambda x: gelu(x, approximate=True))],
)
def test_feed_forward_is_its_formula(activation, function):
    network = FeedForward(5, 11, activation).double()
    x = random(2, 3, 5)
    (w1, b1), (w2, b2) = network.up_proj.parameters(), network.down_proj.parameters()
    torch.testing.assert_close(network(x), function(x @ w1.T + b1) @ w2.T + b2)


def test_swiglu_is_its_formula():
    network = SwiGLU(5, 11).double()
    x = random(2, 3, 5)
    w_gate, w_up, w_down = network.parameters()
    gate = x @ w_gate.T
    torch.testing.assert_close(network(x), (gate * torch.sigmoid(gate) * (x @ w_up.T)) @ w_down.T)


BLOCKS = {
    "pre": {"norm_position": "pre"},
    "post": {"norm_position": "post"},
    "llama": {"norm": "rms", "activation": "swiglu", "n_kv_heads": 1, "bias": False},
}


@pytest.fixture
def convolved(monkeypatch):
    """The inputs of convolutions that are computed from now on, on a CPU that is fast at them."""
    seen, convolve = [], F.conv2d

    def noted(x, *rest):
        seen.append(x.shape)
        return convolve(x, *rest)

    monkeypatch.setattr(F, "conv2d", noted)
    monkeypatch.setattr(blocks, "_LARGE", 2 * 5 * 3 * 7)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX512")
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    return seen


@pytest.mark.parametrize("kind", [FeedForward, SwiGLU])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("by_time", [True, False])
def test_as_convolutions_a_feed_forward_network_is_the_same(
    convolved, monkeypatch, kind, bias, by_time
):
    torch.manual_seed(0)
    network = kind(3, 7, bias=bias)
    memory = torch.randn(2, 5, 3) if by_time else torch.randn(5, 2, 3).transpose(0, 1)
    x, gradient = memory.requires_grad_(), torch.randn(2, 5, 3)

    def found():
        out = network(x)
        return [out, *torch.autograd.grad(out, [x, *network.parameters()], gradient)]

    by_convolution = found()
    n_maps = 2 if kind is FeedForward else 3
    assert convolved == [(1, 3, 1, 10)] * (n_maps - 1) + [(1, 7, 1, 10)]
    monkeypatch.setattr(blocks, "_LARGE", 10**9)
    by_product = found()
    assert len(convolved) == n_maps
    for one, other in zip(by_convolution, by_product, strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_as_convolutions_positions_do_not_see_each_other(convolved):
    torch.manual_seed(0)
    network, x = FeedForward(3, 7), torch.randn(2, 5, 3)
    changed = x.clone()
    changed[:, 3:] += 1
    before, after = network(x), network(changed)
    assert len(convolved) == 4
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.isclose(before[:, 3:], after[:, 3:]).any()


def test_what_convolutions_are_not_faster_at_stays_a_product(convolved, monkeypatch):
    network = FeedForward(3, 7)
    network(torch.zeros(2, 4, 3))
    network.double()(torch.zeros(2, 5, 3).double())
    network.float().to("meta")(torch.zeros(2, 5, 3, device="meta"))
    network = FeedForward(3, 7)
    for where, answer in (
        ("backends.cpu.get_cpu_capability", "AVX2"),
        ("backends.mkldnn.is_available", False),
        ("get_num_threads", 1),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"torch.{where}", lambda answer=answer: answer)
            network(torch.zeros(2, 5, 3))
    assert convolved == []
    network(torch.zeros(2, 5, 3))
    assert len(convolved) == 2


@pytest.mark.parametrize("kind", [FeedForward, SwiGLU])
def test_a_large_network_compiles_into_one_graph(monkeypatch, kind):
    """What the processor is good at cannot be asked inside a graph; there it stays a product."""
    monkeypatch.setattr(blocks, "_LARGE", 1)
    torch.manual_seed(0)
    network, x = kind(3, 7), torch.randn(2, 5, 3)
    compiled = torch.compile(network, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x), network(x))


@pytest.mark.parametrize("name", BLOCKS)
def test_block_is_its_formula(name):
    torch.manual_seed(0)
    block = TransformerBlock(6, 3, 13, is_causal=True, **BLOCKS[name]).double()
    x = random(2, 5, 6)
    if name == "post":
        middle = block.ln1(x + block.attn(x, is_causal=True))
        expected = block.ln2(middle + block.mlp(middle))
    else:
        middle = x + block.attn(block.ln1(x), is_causal=True)
        expected = middle + block.mlp(block.ln2(middle))
    torch.testing.assert_close(block(x), expected)


@pytest.mark.parametrize("norm_position", ["pre", "post"])
def test_cross_attention_is_its_formula(norm_position):
    torch.manual_seed(0)
    block = TransformerBlock(6, 3, 13, norm_position=norm_position, cross_attention=True).double()
    x, memory = random(2, 5, 6), random(2, 4, 6, seed=1)
    mask = torch.tensor([[True, True, False, True], [True, False, False, False]])
    if norm_position == "post":
        first = block.ln1(x + block.attn(x))
        second = block.ln_cross(first + block.cross_attn(first, memory, key_mask=mask))
        expected = block.ln2(second + block.mlp(second))
    else:
        first = x + block.attn(block.ln1(x))
        second = first + block.cross_attn(block.ln_cross(first), memory, key_mask=mask)
        expected = second + block.mlp(block.ln2(second))
    torch.testing.assert_close(block(x, memory=memory, memory_mask=mask), expected)
    without_the_masked = memory.clone()
    without_the_masked[~mask] = 99.0
    torch.testing.assert_close(block(x, memory=without_the_masked, memory_mask=mask), expected)


def test_the_hooks_see_the_residual_stream_add_up():
    torch.manual_seed(0)
    block = TransformerBlock(6, 3, cross_attention=True).double()
    x, seen = random(2, 5, 6), {}
    names = ("resid_pre", "attn_out", "resid_mid", "cross_attn_out", "resid_cross", "mlp_out")
    names = [f"hook_{name}" for name in (*names, "resid_post")]

    def keep(tensor, hook):
        seen[hook.name] = tensor

    with hooked(block, [(name, keep) for name in names]):
        output = block(x, memory=random(2, 4, 6))
    assert list(seen) == names  # in this order
    torch.testing.assert_close(seen["hook_resid_pre"], x)
    total = x
    for added, after in (
        ("attn_out", "resid_mid"),
        ("cross_attn_out", "resid_cross"),
        ("mlp_out", "resid_post"),
    ):
        total = total + seen[f"hook_{added}"]
        torch.testing.assert_close(seen[f"hook_{after}"], total)
    torch.testing.assert_close(output, total)


def test_a_hook_on_what_a_sublayer_adds_takes_it_out():
    torch.manual_seed(0)
    block = TransformerBlock(6, 3)
    x = random(2, 5, 6).float()

    def nothing(tensor, hook):
        return torch.zeros_like(tensor)

    with hooked(block, [("hook_attn_out", nothing), ("hook_mlp_out", nothing)]):
        assert torch.equal(block(x), x)
    assert not torch.equal(block(x), x)


def test_dropout_works_in_training_only():
    torch.manual_seed(0)
    block = TransformerBlock(6, 3, dropout=0.5)
    x = random(2, 5, 6).float()
    assert not torch.equal(block(x), block(x))
    block.eval()
    assert torch.equal(block(x), block(x))


def test_a_block_with_rope_and_cache_goes_on_where_it_stopped():
    torch.manual_seed(0)
    block = TransformerBlock(
        12, 6, n_kv_heads=2, d_head=4, rope=RotaryPositions(4), is_causal=True
    ).double()
    x = random(2, 7, 12)
    cache = KVCache(1, 2, 2, 7, 4, dtype=torch.float64)
    pieces = []
    for piece in x.split([3, 1, 3], dim=1):
        pieces.append(block(piece, cache=cache, layer=0))
        cache.advance(piece.shape[1])
    torch.testing.assert_close(torch.cat(pieces, dim=1), block(x))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FeedForward(5, 7, "gelo"), "gelo"),
        (lambda: TransformerBlock(6, 3, norm="batch"), "batch"),
        (lambda: TransformerBlock(6, 3, norm_position="both"), "both"),
        (lambda: TransformerBlock(6, 3, activation="gelo"), "gelo"),
        (lambda: TransformerBlock(7, 3), "7"),
        (lambda: LayerNorm(5)(torch.zeros(2, 3)), r"\(2, 3\)"),
        (lambda: RMSNorm(5)(torch.zeros(2, 3)), r"\(2, 3\)"),
        (lambda: FeedForward(5, 7)(torch.zeros(2, 3)), r"\(2, 3\)"),
        (lambda: SwiGLU(5, 7)(torch.zeros(2, 3)), r"\(2, 3\)"),
        (lambda: TransformerBlock(6, 3, cross_attention=True)(torch.zeros(2, 5, 6)), "memory"),
        (
            lambda: TransformerBlock(6, 3)(torch.zeros(2, 5, 6), memory=torch.zeros(2, 4, 6)),
            "memory",
        ),
        (lambda: layer_norm(torch.zeros(3), axis=2), "axis"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(ValueError, match=words):
        make()
