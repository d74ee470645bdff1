"""The block walk: Python against the torch block, and the module against Python, in node."""

import itertools

import numpy as np
import pytest
import torch
import traitlets
from widget_harness import check_fault_is_seen, check_refused, inputs, run_node

from minitransformer.blocks import TransformerBlock
from minitransformer.positions import RotaryPositions
from minitransformer.widgets import BlockWalk, module_source

SOURCE = module_source(BlockWalk)
TOKENS = ["der", "Hund", "beißt", "den", "Mann"]
WALKED = {  # the block's hook points by the walk's parts
    "attention": ("hook_attn_out", "attn.hook_pattern", "weights"),
    "feed": ("hook_mlp_out", "mlp.hook_post", "hidden"),
}


def block(d_model=6, n_heads=2, d_ff=10, seed=0, size=1.5, **options):
    """A block whose weights, norms and biases are all far from their starting values."""
    torch.manual_seed(seed)
    made = TransformerBlock(d_model, n_heads, d_ff, **options).double()
    with torch.no_grad():
        for part in made.parameters():
            part.add_(torch.randn_like(part) * size / part.shape[-1] ** 0.5)
    return made


def stream(d_model=6, seed=1):
    return torch.randn(5, d_model, generator=torch.Generator().manual_seed(seed)).double()


def walk_of(made, **choices):
    return BlockWalk.of(made, stream(made.attn.d_model), TOKENS, **choices)


BLOCKS = [
    block(norm_position=position, activation=activation, norm=norm, is_causal=causal, bias=bias)
    for position, activation, norm, causal, bias in (
        ("pre", "relu", "layer", False, True),
        ("pre", "gelu", "layer", True, True),
        ("post", "gelu_tanh", "layer", False, False),
        ("pre", "swiglu", "rms", True, False),
        ("post", "swiglu", "layer", False, True),
    )
]
BLOCKS.append(block(d_model=12, n_heads=4, d_ff=32, n_kv_heads=2, norm_eps=0.1, seed=3))
BLOCKS.append(block(d_model=5, n_heads=3, d_ff=7, d_head=2, norm_position="post", seed=4))
SWITCHES = list(itertools.product((True, False), (True, False)))


def walks():
    return [
        walk_of(made, attention=attention, feed_forward=feed_forward)
        for made in BLOCKS
        for attention, feed_forward in SWITCHES
    ]


def state(widget):
    return {name: getattr(widget, name) for name in inputs(widget)}


def check_parity(source):
    cases = walks()
    answers = run_node(source, [("walk", [state(widget)]) for widget in cases])
    for widget, answer in zip(cases, answers, strict=True):
        assert "error" not in answer, answer
        steps, passed = answer["value"], widget.passes()
        parts = [step["part"] for step in steps]
        order = ["in", "attention", "add", "norm", "feed", "add", "norm"]
        pre = ["in", "norm", "attention", "add", "norm", "feed", "add"]
        assert parts == (pre if widget.norm_position == "pre" else order)
        for part, (out, inner, name) in WALKED.items():
            step = steps[parts.index(part)]
            np.testing.assert_allclose(step["rows"], passed[out], rtol=0, atol=1e-9)
            np.testing.assert_allclose(step[name], passed[inner], rtol=0, atol=1e-9)
        middle = steps[3]["rows"]
        np.testing.assert_allclose(middle, passed["hook_resid_mid"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(steps[-1]["rows"], passed["hook_resid_post"], rtol=0, atol=1e-9)


def test_the_module_walks_as_the_block_does():
    check_parity(SOURCE)


FAULTS = {
    "no bias": ("x + bias[c])) : out", "x)) : out"),
    "variance over n - 1": ("(x - centre) ** 2)) + eps", "(x - centre) ** 2)) * 1.2 + eps"),
    "eps outside the root": ("** 2)) + eps)", "** 2)))"),
    "centred RMS": ('norm === "layer" ? mean(row) : 0', "mean(row)"),
    "norm without weight": ("x * weight[c] +", "x +"),
    "keys and values exchanged": ("columns(key), columns(value)", "columns(value), columns(key)"),
    "one key head for all": ("Math.floor((h * kvHeads) / heads) * width", "0"),
    "groups interleaved": ("Math.floor((h * kvHeads) / heads) * width", "(h % kvHeads) * width"),
    "strictly causal": ("j <= i)", "j < i)"),
    "never causal": ("!causal || j <= i", "true"),
    "tanh for all": ("gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2))", "gelu: (x) => silu(x)"),
    "gate on the wrong map": ("silu(x) * up[i][k]", "x * silu(up[i][k])"),
    "silu of relu": ("relu: (x) => Math.max(0, x)", "relu: silu"),
    "no residual": ("add(stream, rows)", "rows"),
    "residual of the norm": ("add(stream, rows)", "add(into, rows)"),
    "always on": ("const rows = on ?", "const rows = true ?"),
    "one norm for both": ('["feed", 2, feed', '["feed", 1, feed'),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_in_the_module_is_seen(fault):
    check_fault_is_seen(SOURCE, *FAULTS[fault], check_parity)


@pytest.mark.parametrize("made", BLOCKS, ids=range(len(BLOCKS)))
def test_the_walk_ends_where_the_block_it_was_made_of_does(made):
    with torch.no_grad():
        expected = made(stream(made.attn.d_model)[None])[0]
    np.testing.assert_allclose(walk_of(made).output, expected, rtol=0, atol=1e-12)


def test_single_precision_and_a_batch_of_one_are_taken():
    made = block().float()
    x = stream().float()[None]
    with torch.no_grad():
        expected = made(x)[0]
    widget = BlockWalk.of(made, x, TOKENS)
    np.testing.assert_allclose(widget.output, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("position", ["pre", "post"])
def test_what_is_off_adds_nothing(position):
    made = block(norm_position=position)
    passed = walk_of(made, attention=False, feed_forward=False).passes()
    assert not passed["hook_attn_out"].any()
    assert not passed["hook_mlp_out"].any()
    assert (passed["hook_resid_post"] == passed["hook_resid_pre"]).all() == (position == "pre")


def test_rotary_and_cross_attention_are_refused():
    for options in ({"rope": RotaryPositions(2)}, {"cross_attention": True}):
        with pytest.raises(ValueError, match="no cross-attention and no rotary positions"):
            walk_of(block(n_heads=2, d_head=2, **options))


def without(name):
    return {key: part for key, part in BlockWalk().weights.items() if key != name}


def changed(name, part):
    return BlockWalk().weights | {name: part}


BAD = {
    "fewer tokens": ({"tokens": ["a", "b"]}, r"x must have shape \(2 tokens, d_model\).*\(4, 6\)"),
    "another width": ({"x": [[1.0] * 5] * 4}, "must have shape"),
    "x as a vector": ({"x": [1.0, 2.0]}, r"x must have shape \(4 tokens, .* got shape \(2,\)"),
    "too wide": ({"x": [[1.0] * 13] * 4}, "d_model at most 12, got shape"),
    "ragged": ({"x": [[1.0], [2.0, 3.0]]}, "x is not rectangular"),
    "NaN": ({"x": [[float("nan")] * 6] * 4}, "x must hold finite numbers of size at most 10000"),
    "text": ({"x": "rows"}, "x must hold real numbers"),
    "no dictionary": ({"weights": [1.0]}, "weights must be a dictionary.* got list"),
    "a weight missing": (
        {"weights": without("attn.o_proj.weight")},
        r"missing \['attn.o_proj.weight'\], not known \[\]",
    ),
    "a weight too many": ({"weights": changed("head.weight", [1.0])}, r"known \['head.weight'\]"),
    "a weight of another shape": (
        {"weights": changed("ln1.bias", [1.0] * 5)},
        r"ln1.bias must have shape \(6,\), got \(5,\)",
    ),
    "a flat matrix": ({"weights": changed("mlp.down_proj.weight", [1.0] * 6)}, "down_proj.weight"),
    "a bias of RMS norm": ({"norm": "rms"}, r"not known \['ln1.bias', 'ln2.bias'\]"),
    "no gate": ({"activation": "swiglu"}, r"missing \['mlp.gate_proj.weight'\]"),
    "4 heads of 6 numbers": ({"n_heads": 4}, "n_heads = 4 does not fit 18 rows"),
    "no head": ({"n_heads": 0}, "n_heads at least 1"),
    "no such token": ({"token": 4}, "token 0 to 3; got dict, 2 and 4"),
    "step 7": ({"step": 7}, "step must be a whole number from 0 to 6, got 7"),
    "another norm position": ({"norm_position": "middle"}, "norm_position"),
    "attention as text": ({"attention": "off"}, "attention"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_input_is_refused_and_the_old_state_kept(kind):
    check_refused(BlockWalk(), *BAD[kind])


def test_x_and_weights_come_together():
    for name in ("x", "weights"):
        with pytest.raises(traitlets.TraitError):
            BlockWalk(**{name: getattr(BlockWalk(), name)})


def test_33_hidden_units_are_too_many():
    with pytest.raises(traitlets.TraitError, match="at most 32 hidden units, got 33"):
        walk_of(block(d_ff=33))


def test_the_stored_table_reads_without_the_widget():
    widget = walk_of(block(), token=3)
    data, _ = widget._repr_mimebundle_()
    table = data["text/html"]
    assert table.count('<th scope="row">') == 5
    assert f"<td>{widget.output[3, 5]:.3f}</td></tr></tbody>" in table
    assert "den in a pre-norm block" in table
    assert data["text/plain"].startswith("BlockWalk(tokens=['der', 'Hund'")


def test_the_saved_state_is_the_inputs_as_plain_lists():
    saved = walk_of(block()).get_state()
    own = {key for key in saved if not key.startswith("_")} - {"layout", "tabbable", "tooltip"}
    assert own == set(inputs(BlockWalk()))
    assert type(saved["weights"]["ln1.weight"]) is list
    assert saved["_anywidget_id"] == "minitransformer.widgets.block_walk.BlockWalk"
