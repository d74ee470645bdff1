"""Our models against Hugging Face's, built from small random configs, with the same weights."""

import pytest
import torch

from minitransformer._hf_names import TABLES, config_from_huggingface, renamed
from minitransformer.generation import generate
from minitransformer.models import Config, Decoder, Encoder

transformers = pytest.importorskip("transformers", reason="the test extra brings transformers")
torch.set_num_threads(1)

TOLERANCE = 1e-5
BERT = {
    "vocab_size": 53,
    "num_hidden_layers": 3,
    "hidden_size": 24,
    "num_attention_heads": 4,
    "intermediate_size": 42,
    "max_position_embeddings": 33,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-3,
}
GPT2 = {
    "vocab_size": 53,
    "n_layer": 3,
    "n_embd": 24,
    "n_head": 4,
    "n_positions": 80,
    "layer_norm_epsilon": 1e-3,
    "bos_token_id": None,
    "eos_token_id": None,
}
LLAMA = {
    "vocab_size": 53,
    "num_hidden_layers": 3,
    "hidden_size": 24,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "intermediate_size": 42,
    "max_position_embeddings": 80,
    "rms_norm_eps": 1e-3,
    "rope_parameters": {"rope_type": "default", "rope_theta": 5000.0},
}


def shaken(model):
    """Random weights everywhere: norms of 1 and biases of 0 would hide a mix-up."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.15 * torch.randn(parameter.shape, generator=generator)
    return model.eval()


def pair(kind, ours_without=(), **changes):
    """A Hugging Face model and ours with its weights; ours does not hear of some options."""
    torch.manual_seed(7)
    name, sizes, ours = {
        "bert": ("Bert", BERT, Encoder),
        "gpt2": ("GPT2", GPT2, Decoder),
        "llama": ("Llama", LLAMA, Decoder),
    }[kind]
    config = getattr(transformers, f"{name}Config")(
        **(sizes | changes), attn_implementation="eager"
    )
    ending = {"bert": "Model", "gpt2": "LMHeadModel", "llama": "ForCausalLM"}[kind]
    theirs = shaken(getattr(transformers, name + ending)(config))
    values = config.to_dict()
    heard = {name: value for name, value in values.items() if name not in ours_without}
    our_config = config_from_huggingface(heard)
    model = ours(our_config).eval()
    weights = renamed(theirs.state_dict(), TABLES[kind], our_config.n_layers, our_config.tied_head)
    model.load_state_dict(dict(weights))
    return theirs, model


def tokens_of(batch, time, seed=11):
    return torch.randint(53, (batch, time), generator=torch.Generator().manual_seed(seed))


def assert_near(actual, expected):
    assert actual.shape == expected.shape
    assert expected.std() > 0.02, "numbers this small would fit anything"
    assert (actual - expected).abs().max() <= TOLERANCE


@torch.no_grad()
def test_bert_states_and_weights():
    theirs, ours = pair("bert")
    tokens, segments = tokens_of(3, 7), tokens_of(3, 7) % 2
    mask = torch.ones(3, 7, dtype=torch.bool)
    mask[1, 4:] = False
    expected = theirs(
        tokens,
        attention_mask=mask.long(),
        token_type_ids=segments,
        output_attentions=True,
        output_hidden_states=True,
    )
    states, cache = ours.run_with_cache(tokens, segments=segments, key_mask=mask)
    assert_near(states[mask], expected.last_hidden_state[mask])
    for layer in range(3):
        after = cache["resid_post", layer]
        assert_near(after[mask], expected.hidden_states[layer + 1][mask])
        assert_near(cache["pattern", layer][0], expected.attentions[layer][0])


CAUSAL = [
    ("gpt2", {}),
    ("gpt2", {"tie_word_embeddings": False, "n_inner": 31}),
    ("llama", {}),
    ("llama", {"tie_word_embeddings": True, "num_key_value_heads": 6}),
    ("llama", {"num_key_value_heads": 1, "head_dim": 4}),
]


@pytest.mark.parametrize(("kind", "changes"), CAUSAL)
@torch.no_grad()
def test_decoder_logits_states_and_weights(kind, changes):
    theirs, ours = pair(kind, **changes)
    tokens = tokens_of(3, 11)
    expected = theirs(tokens, output_attentions=True, output_hidden_states=True)
    assert_near(ours(tokens), expected.logits)  # the fused path
    logits, cache = ours.run_with_cache(tokens)  # the explicit path
    assert_near(logits, expected.logits)
    assert_near(ours.hidden(tokens), expected.hidden_states[-1])
    for layer in range(3):
        assert_near(cache["resid_pre", layer], expected.hidden_states[layer])
        assert_near(cache["pattern", layer], expected.attentions[layer])


@pytest.mark.parametrize(("kind", "changes"), CAUSAL)
def test_decoder_gradients(kind, changes):
    theirs, ours = pair(kind, **changes)
    tokens = tokens_of(2, 9)
    weight = torch.randn(2, 9, 53, generator=torch.Generator().manual_seed(1))
    (theirs(tokens).logits * weight).mean().backward()
    (ours(tokens) * weight).mean().backward()
    gradients = {name: parameter.grad for name, parameter in theirs.named_parameters()}
    table, config = TABLES[kind], ours.config
    expected = dict(renamed(gradients, table, config.n_layers, config.tied_head))
    for name, parameter in ours.named_parameters():
        largest = expected[name].abs().max()
        assert (parameter.grad - expected[name]).abs().max() <= TOLERANCE * max(1, largest), name


@pytest.mark.parametrize(("kind", "changes"), CAUSAL)
def test_50_greedy_tokens(kind, changes):
    theirs, ours = pair(kind, **changes)
    tokens = tokens_of(2, 5)
    theirs.generation_config.eos_token_id = None
    expected = theirs.generate(tokens, max_new_tokens=50, do_sample=False, pad_token_id=0)
    assert expected.shape == (2, 55)
    assert len(expected[:, 5:].unique()) > 5, "one token over and over would show little"
    torch.testing.assert_close(generate(ours, tokens, 50), expected)
    torch.testing.assert_close(generate(ours, tokens, 50, use_cache=False), expected)


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_left_padded_greedy_tokens(kind):
    theirs, ours = pair(kind)
    theirs.generation_config.eos_token_id = None
    tokens = tokens_of(3, 6)
    mask = torch.ones(3, 6, dtype=torch.bool)
    mask[0, :4], mask[2, :1] = False, False
    expected = theirs.generate(
        tokens, attention_mask=mask.long(), max_new_tokens=20, do_sample=False, pad_token_id=0
    )
    torch.testing.assert_close(generate(ours, tokens, 20, key_mask=mask), expected)


@pytest.mark.parametrize("kind", ["bert", "gpt2", "llama"])
def test_missing_and_unknown_weights_are_named(kind):
    theirs, ours = pair(kind)
    config, weights = ours.config, theirs.state_dict()
    lost = next(
        name
        for name in weights
        if name.endswith("1.mlp.c_fc.weight")
        or "1.intermediate.dense.weight" in name
        or "1.self_attn.k_proj.weight" in name
    )
    few = {name: tensor for name, tensor in weights.items() if name != lost}
    with pytest.raises(ValueError, match=lost.removeprefix(TABLES[kind].prefix)):
        dict(renamed(few, TABLES[kind], config.n_layers, config.tied_head))
    many = weights | {"extra.weight": torch.zeros(2)}
    with pytest.raises(ValueError, match=r"extra\.weight"):
        dict(renamed(many, TABLES[kind], config.n_layers, config.tied_head))


def test_a_head_said_to_be_tied_must_be():
    theirs, ours = pair("gpt2", tie_word_embeddings=False)
    with pytest.raises(ValueError, match="tied"):
        dict(renamed(theirs.state_dict(), TABLES["gpt2"], ours.config.n_layers, tied_head=True))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"model_type": "mamba"}, "mamba"),
        ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}}, "yarn"),
        ({"attention_bias": True}, "bias"),
        ({"vocab_size": None}, "vocab_size"),
    ],
)
def test_configs_that_are_not_ours(changes, word):
    values = transformers.LlamaConfig(**LLAMA).to_dict() | changes
    values = {name: value for name, value in values.items() if value is not None}
    with pytest.raises(ValueError, match=word):
        config_from_huggingface(values)


def outputs(theirs, ours):
    tokens = tokens_of(3, 7)
    expected = theirs(tokens)
    return ours(tokens), expected[0] if isinstance(ours, Encoder) else expected.logits


@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        ("bert", "is_decoder", True),
        ("gpt2", "scale_attn_weights", False),
        ("gpt2", "scale_attn_by_inverse_layer_idx", True),
        ("gpt2", "is_causal", False),
        ("llama", "is_causal", False),
    ],
)
@torch.no_grad()
def test_an_option_that_changes_the_result_is_refused(kind, option, value):
    actual, expected = outputs(*pair(kind, ours_without=[option], **{option: value}))
    assert (actual - expected).abs().max() > 0.05, "then there is no need to refuse it"
    with pytest.raises(ValueError, match=f"{option} must be {not value}.*{kind}.*got {value}"):
        pair(kind, **{option: value})
    assert_near(*outputs(*pair(kind, **{option: not value})))


@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        ("bert", "hidden_act", "gelu_new"),
        ("bert", "hidden_act", "relu"),
        ("bert", "type_vocab_size", 3),
        ("gpt2", "activation_function", "gelu"),
        ("gpt2", "reorder_and_upcast_attn", True),
        ("gpt2", "n_inner", 31),
        ("llama", "head_dim", None),
        ("llama", "num_key_value_heads", None),
        ("llama", "tie_word_embeddings", True),
        ("llama", "pretraining_tp", 2),
    ],
)
@torch.no_grad()
def test_an_option_that_is_ours_or_of_no_effect_is_read(kind, option, value):
    assert_near(*outputs(*pair(kind, **{option: value})))


# New weights, which no layer of ours has, or an option that only older versions of transformers
# heed: the results cannot be compared.
@pytest.mark.parametrize(
    ("kind", "option", "value"),
    [
        ("bert", "add_cross_attention", True),
        ("bert", "position_embedding_type", "relative_key"),
        ("bert", "pruned_heads", {"0": [1]}),
        ("bert", "hidden_act", "silu"),
        ("gpt2", "add_cross_attention", True),
        ("gpt2", "pruned_heads", {"0": [1]}),
        ("gpt2", "activation_function", "silu"),
        ("llama", "attention_bias", True),
        ("llama", "mlp_bias", True),
        ("llama", "hidden_act", "gelu"),
        ("llama", "partial_rotary_factor", 0.5),
        ("llama", "pruned_heads", {"0": [1]}),
        ("llama", "rope_parameters", {"rope_theta": 1e4, "partial_rotary_factor": 0.5}),
        ("llama", "rope_parameters", {"full_attention": {"rope_theta": 1e4}}),
        ("llama", "rope_scaling", {"type": "linear", "factor": 4.0}),
        ("llama", "rope_scaling", {"rope_theta": 77.0}),  # beside other rope_parameters
    ],
)
def test_an_option_that_we_lack_is_refused(kind, option, value):
    name, sizes = {"bert": ("Bert", BERT), "gpt2": ("GPT2", GPT2), "llama": ("Llama", LLAMA)}[kind]
    values = getattr(transformers, f"{name}Config")(**sizes).to_dict()
    config_from_huggingface(values)
    with pytest.raises(ValueError, match=option):
        config_from_huggingface(values | {option: value})


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("gpt2", ["transformer.h.1.attn.bias", "transformer.h.1.attn.masked_bias"]),
        ("gpt2", ["h.0.attn.bias"]),
        ("llama", ["model.layers.1.self_attn.rotary_emb.inv_freq"]),
        ("bert", ["embeddings.position_ids", "cls.predictions.bias", "pooler.dense.weight"]),
    ],
)
def test_what_old_files_carry_besides_is_left_out(kind, names):
    theirs, ours = pair(kind)
    more = theirs.state_dict() | {name: torch.ones(1, 1, 3, 3) for name in names}
    config = ours.config
    found = dict(renamed(more, TABLES[kind], config.n_layers, config.tied_head))
    assert found.keys() == ours.state_dict().keys()


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("bert", ("embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.weight")),
        ("gpt2", ("transformer.ln_f.bias", "ln_f.bias")),
        ("llama", ("model.norm.weight", "norm.weight")),
    ],
)
def test_two_weights_for_one_place_are_named(kind, names):
    theirs, ours = pair(kind)
    first, second = names
    twice = theirs.state_dict()
    assert first in twice
    twice[second] = twice[first] + 1
    with pytest.raises(ValueError, match=f"{first} and {second} are two weights for one place"):
        dict(renamed(twice, TABLES[kind], ours.config.n_layers, ours.config.tied_head))


@pytest.mark.parametrize(
    ("name", "preset", "sizes"),
    [
        ("Bert", Config.bert, {"vocab_size": 30522, "max_length": 512}),
        ("GPT2", Config.gpt2, {"vocab_size": 50257}),
        ("Llama", Config.llama, {"vocab_size": 32000, "max_length": 2048, "d_ff": 11008}),
    ],
)
def test_our_presets_are_their_defaults(name, preset, sizes):
    theirs = config_from_huggingface(getattr(transformers, f"{name}Config")().to_dict())
    shape = {"n_layers": theirs.n_layers, "d_model": theirs.d_model, "n_heads": theirs.n_heads}
    ours = preset(**shape, **sizes)
    if name == "Llama":  # eps: 1e-6 in the first Llama, 1e-5 in later ones and in ours
        assert theirs.norm_eps == 1e-6
        ours = preset(**shape, **sizes, norm_eps=1e-6)
    assert ours == theirs
