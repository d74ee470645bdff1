"""Patterns of hand-made weights, against loops, and of models whose heads are built to do a thing.

What each score is for is checked on weights that follow the pattern to the letter, and on weights
that follow another one.
"""

import math

import pytest
import torch
from inspection_models import Unchanged, make, some_tokens

from minitransformer.inspection.patterns import (
    copying,
    entropy,
    mean_distance,
    prefix_matching,
    same_token,
    share_at_offset,
    share_at_position,
    share_on_keys,
    share_on_tokens,
)
from minitransformer.models import Config, Decoder

BATCH, HEADS, TIME = 2, 3, 6
TOKENS = torch.tensor([[7, 8, 9, 7, 8, 7], [5, 5, 6, 9, 6, 5]])
MASK = torch.arange(TIME) < torch.tensor([6, 4])[:, None]


def random_weights(causal=False, seed=0):
    """Weights that put nothing on padding, float64."""
    shape = (BATCH, HEADS, TIME, TIME)
    scores = torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double()
    scores = scores.masked_fill(~MASK[:, None, None], -math.inf)
    if causal:
        scores = scores.masked_fill(~torch.ones(TIME, TIME).tril().bool(), -math.inf)
    return scores.softmax(-1)


def by_loop(weights, mask, wanted, number=lambda weight, query, key: weight):
    """The mean over real queries that have a wanted real key of the sum over these keys."""
    means = []
    for head in range(weights.shape[1]):
        sums = []
        for text in range(len(weights)):
            real = [i for i in range(weights.shape[-1]) if mask[text, i]]
            for query in real:
                keys = [key for key in real if wanted(text, query, key)]
                if keys:
                    parts = [number(weights[text, head, query, key], query, key) for key in keys]
                    sums.append(sum(float(part) for part in parts))
        means.append(sum(sums) / len(sums))
    return torch.tensor(means, dtype=torch.float64)


def followed(text, query, key):
    """Whether the query's token stands before the key, earlier than the query."""
    return 0 < key <= query and TOKENS[text, key - 1] == TOKENS[text, query]


PATTERNS = {
    "previous": (
        lambda weights: share_at_offset(weights, -1, MASK),
        lambda text, query, key: key == query - 1,
    ),
    "next": (
        lambda weights: share_at_offset(weights, 1, MASK),
        lambda text, query, key: key == query + 1,
    ),
    "own": (
        lambda weights: share_at_offset(weights, 0, MASK),
        lambda text, query, key: key == query,
    ),
    "first": (
        lambda weights: share_at_position(weights, 0, MASK),
        lambda text, query, key: key == 0 and query > 0,
    ),
    "first, itself included": (
        lambda weights: share_at_position(weights, 0, MASK, itself=True),
        lambda text, query, key: key == 0,
    ),
    "third": (
        lambda weights: share_at_position(weights, 2, MASK),
        lambda text, query, key: key == 2 and query != 2,
    ),
    "tokens": (
        lambda weights: share_on_tokens(weights, TOKENS, {8, 6}, MASK),
        lambda text, query, key: TOKENS[text, key] in (8, 6),
    ),
    "same token": (
        lambda weights: same_token(weights, TOKENS, MASK),
        lambda text, query, key: key != query and TOKENS[text, key] == TOKENS[text, query],
    ),
    "prefix matching": (
        lambda weights: prefix_matching(weights, TOKENS, MASK),
        followed,
    ),
}


@pytest.mark.parametrize(("score", "wanted"), PATTERNS.values(), ids=PATTERNS)
def test_shares_against_a_loop(score, wanted):
    weights = random_weights()
    with Unchanged(None, weights, TOKENS, MASK):
        came = score(weights)
    assert came.shape == (HEADS,)
    torch.testing.assert_close(came, by_loop(weights, MASK, wanted))


def test_distance_and_entropy_against_a_loop():
    weights = random_weights()
    everywhere = lambda text, query, key: True  # noqa: E731
    distance = by_loop(weights, MASK, everywhere, lambda w, query, key: w * abs(query - key))
    torch.testing.assert_close(mean_distance(weights, MASK), distance)
    spread = by_loop(weights, MASK, everywhere, lambda w, *_: -w * math.log(w) if w else 0)
    torch.testing.assert_close(entropy(weights, MASK), spread)
    # SciPy's is another's code for the same thing.
    stats = pytest.importorskip("scipy.stats", reason="scikit-learn brings SciPy")
    rows = torch.from_numpy(stats.entropy(weights.numpy(), axis=-1))
    torch.testing.assert_close(entropy(weights, MASK)[2], rows[:, 2][MASK].mean())


def test_causal_heads_cannot_look_at_later_copies():
    weights = random_weights(causal=True)
    came = same_token(weights, TOKENS, MASK)
    expected = by_loop(
        weights,
        MASK,
        lambda text, query, key: key < query and TOKENS[text, key] == TOKENS[text, query],
    )
    torch.testing.assert_close(came, expected)


def perfect(place_of_key):
    """Weights of 1 on the key that a function of text and query names, if there is one."""
    weights = torch.zeros(BATCH, 1, TIME, TIME)
    for text in range(BATCH):
        for query in range(TIME):
            weights[text, 0, query, place_of_key(text, query)] = 1
    return weights


def last_followed(text, query):
    keys = [key for key in range(TIME) if followed(text, query, key)]
    return keys[-1] if keys else 0


def test_heads_made_for_a_pattern_reach_1_and_others_do_not():
    previous = perfect(lambda text, query: max(query - 1, 0))
    induction = perfect(last_followed)
    sink = perfect(lambda text, query: 0)
    assert share_at_offset(previous, -1).item() == 1
    assert prefix_matching(induction, TOKENS).item() == 1
    assert share_at_position(sink).item() == 1
    assert mean_distance(sink).item() == pytest.approx(2.5)
    assert entropy(sink).item() == 0
    assert prefix_matching(previous, TOKENS).item() < 0.4
    assert prefix_matching(sink, TOKENS).item() < 0.2
    assert share_at_offset(sink, -1).item() == pytest.approx(1 / 5)


def test_uniform_weights_give_chance():
    uniform = torch.full((BATCH, HEADS, TIME, TIME), 1 / TIME)
    torch.testing.assert_close(entropy(uniform), torch.full((HEADS,), math.log(TIME)))
    chance = torch.full((HEADS,), 5 / 12)
    torch.testing.assert_close(share_on_tokens(uniform, TOKENS, {7, 6}), chance)


def test_what_does_not_fit_is_refused():
    weights = random_weights()
    with pytest.raises(ValueError, match="no query of these texts has such a key"):
        share_on_tokens(weights, TOKENS, {99})
    with pytest.raises(ValueError, match="no query"):
        prefix_matching(weights, torch.arange(2 * TIME).view(2, TIME))
    with pytest.raises(ValueError, match=r"\(batch, heads, query, key\)"):
        entropy(weights[0])
    with pytest.raises(ValueError, match="self-attention, got 4 × 6"):
        share_at_offset(weights[:, :, :4], -1)
    with pytest.raises(ValueError, match=r"key_mask must be boolean \(batch, time\) = \(2, 6\)"):
        entropy(weights, MASK.long())
    with pytest.raises(ValueError, match="key_mask must be boolean"):
        share_on_keys(weights, torch.ones(TIME, TIME).bool(), MASK[:1])


def copying_decoder(sign):
    """One layer whose head 1 of 3 writes each token's own embedding, times a sign; others nothing.

    13 tokens with 13 orthogonal embeddings, so that only that token's logit moves.
    """
    config = Config(
        vocab_size=13, n_layers=1, d_model=13, n_heads=3, d_head=13, positions="none", bias=False
    )
    model = Decoder(config)
    attention = model.blocks[0].attn
    with torch.no_grad():
        model.embed.weight.copy_(torch.eye(13))
        attention.qkv_proj.weight.zero_()
        values = attention.qkv_proj.weight.split(attention.widths)[2]
        values[13:26] = torch.eye(13)
        attention.o_proj.weight.zero_()
        attention.o_proj.weight[:, 13:26] = sign * torch.eye(13)
    return model.eval()


def test_a_head_that_copies_scores_1_and_one_that_suppresses_the_least():
    tokens = torch.tensor([[1, 2, 3, 4, 5], [9, 8, 3, 2, 0]])
    model = copying_decoder(1.0)
    with Unchanged(model, tokens):
        scores = copying(model, tokens)[0]
    assert scores[1].item() == pytest.approx(1, abs=1e-5)
    assert scores[0].item() == scores[2].item() == -1
    assert copying(copying_decoder(-1.0), tokens)[0, 1].item() == pytest.approx(-1)


def test_copying_does_not_depend_on_the_bias_of_the_last_norm():
    model, tokens = make("gpt2"), torch.tensor([[1, 2, 3, 4, 5], [9, 8, 3, 2, 0]])
    before = copying(model, tokens)
    with torch.no_grad():
        model.final_norm.bias.normal_(std=5)
    torch.testing.assert_close(copying(model, tokens), before)
    assert before.unique().numel() == 12


def test_copying_needs_different_tokens():
    with pytest.raises(ValueError, match="twice in a text"):
        copying(make("llama"), some_tokens(4, 9))
