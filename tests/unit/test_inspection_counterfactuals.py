"""Other weights in the model's place: where they lie, what they do, and what an adversary finds."""

import math

import pytest
import torch
from inspection_models import BATCH, TIME, Unchanged, make, some_mask, some_tokens

from minitransformer.inspection.counterfactuals import (
    adversarial_weights,
    jensen_shannon,
    permuted_weights,
    run_with_weights,
    total_variation,
    uniform_weights,
)

HEADS = 3


def masked_weights(seed=0):
    mask = some_mask()[:, None, None].expand(-1, HEADS, TIME, -1)
    scores = torch.randn(mask.shape, generator=torch.Generator().manual_seed(seed)).double()
    return scores.masked_fill(~mask, -math.inf).softmax(-1), mask


def test_permuted_rows_hold_the_same_weights_on_allowed_keys():
    weights, mask = masked_weights()
    with Unchanged(None, weights, mask):
        came = permuted_weights(weights, torch.Generator().manual_seed(0), mask)
    assert (came[~mask] == 0).all()
    assert torch.equal(came.sort(-1).values, weights.sort(-1).values)
    moved = (came != weights).any(-1)
    assert moved.float().mean() > 0.7  # 3 keys stay in order once in 6 times
    assert not torch.equal(came[:, 0].argsort(-1), came[:, 1].argsort(-1))  # each row its own order


def test_every_order_comes_as_often():
    weights = torch.tensor([0.5, 0.3, 0.2]).expand(6000, 3)
    came = permuted_weights(weights, torch.Generator().manual_seed(0))
    _, counts = came.unique(dim=0, return_counts=True)
    assert len(counts) == 6
    assert counts.min() > 880  # 1000 expected, standard deviation 29


def test_masks_may_broadcast():
    weights, mask = masked_weights()
    generator = torch.Generator()
    wide = permuted_weights(weights, generator.manual_seed(3), mask)
    assert torch.equal(wide, permuted_weights(weights, generator.manual_seed(3), mask[:, :1, :1]))


def test_uniform_rows():
    weights, _ = masked_weights()
    came = uniform_weights(weights > 0)
    for text, length in enumerate([5, 3, 4, 5]):
        assert torch.allclose(came[text, ..., :length], torch.tensor(1 / length))
        assert (came[text, ..., length:] == 0).all()
    assert (uniform_weights(torch.zeros(2, 3).bool()) == 0).all()
    with pytest.raises(TypeError, match="True = may attend"):
        uniform_weights(weights)


def test_a_models_own_weights_change_nothing():
    model, tokens, mask = make("bert"), some_tokens(), some_mask()
    states, cache = model.run_with_cache(tokens, key_mask=mask)
    own = {layer: cache["pattern", layer] for layer in range(2)}
    with Unchanged(model, tokens, *own.values()):
        came = run_with_weights(model, tokens, own, key_mask=mask)
    torch.testing.assert_close(came, states)


def test_given_weights_mix_the_values():
    model, tokens = make("llama"), some_tokens()
    given = uniform_weights(torch.ones(TIME, TIME).bool().tril()).double()
    with Unchanged(model, tokens, given):
        came = run_with_weights(model, tokens, {1: given})
    seen = {}
    keep = [("blocks.1.attn.hook_v", lambda tensor, hook: seen.setdefault("v", tensor))]
    model.run_with_hooks(tokens, fwd_hooks=keep)
    count = torch.arange(1, TIME + 1)[:, None, None]
    z = (seen["v"].cumsum(dim=1) / count).repeat_interleave(3, dim=2)
    by_z = model.run_with_hooks(tokens, fwd_hooks=[("blocks.1.attn.hook_z", lambda *_: z)])
    torch.testing.assert_close(came, by_z)
    assert not torch.allclose(came, model(tokens))
    with pytest.raises(ValueError, match=r"shape \(4, 4\) do not fit blocks.1.attn.hook_pattern"):
        run_with_weights(model, tokens, {1: given[:4, :4]})
    with pytest.raises(ValueError, match="no hook point"):
        run_with_weights(model, tokens, {2: given})


def test_distances_between_distributions():
    first, second = torch.tensor([0.2, 0.3, 0.5]), torch.tensor([0.6, 0.4, 0.0])
    assert total_variation(first, second).item() == pytest.approx(0.5)
    middle = [0.4, 0.35, 0.25]
    kl = [
        sum(p * math.log(p / m) for p, m in zip(row.tolist(), middle, strict=True) if p)
        for row in (first, second)
    ]
    assert jensen_shannon(first, second).item() == pytest.approx(sum(kl) / 2, rel=1e-5)
    assert jensen_shannon(first, first).item() == pytest.approx(0, abs=1e-7)


CLASSES = torch.tensor([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.5, 0.5], [0.1, 0.9]])


def predict(weights):
    """Keys 0 and 1 say the same, and so do 2 and 4."""
    return weights @ CLASSES


def test_an_adversary_moves_weight_between_keys_that_say_the_same():
    weights = torch.tensor([[0.8, 0.05, 0.05, 0.05, 0.05], [0.05, 0.05, 0.05, 0.05, 0.8]])
    with Unchanged(None, weights):
        found = adversarial_weights(predict, weights, torch.Generator().manual_seed(0))
    assert (found.distance > 0.3).all()
    assert (found.change <= 0.05).all()
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(2))
    assert found.weights[0, :2].sum() > 0.7
    assert found.weights[1, 2] > 0.7
    change = total_variation(predict(weights), predict(found.weights))
    torch.testing.assert_close(found.change, change)
    torch.testing.assert_close(found.distance, jensen_shannon(weights, found.weights))


def test_an_adversary_finds_nothing_where_every_key_says_something_else():
    corners = torch.eye(3)
    weights = torch.tensor([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    found = adversarial_weights(
        lambda rows: rows @ corners, weights, torch.Generator().manual_seed(0), restarts=2
    )
    assert (found.distance < 0.02).all()


def test_an_adversary_climbs_away_from_where_it_starts():
    weights, same = torch.full((BATCH, 5), 0.2), torch.full((5, 2), 0.5)  # no key matters
    start, end = (
        adversarial_weights(
            lambda rows: rows @ same,
            weights,
            torch.Generator().manual_seed(0),
            restarts=1,
            steps=steps,
        )
        for steps in (0, 300)
    )
    one_key = jensen_shannon(weights[0], torch.eye(5)[0])  # as far as one can get
    assert (end.distance > start.distance + 0.02).all()
    assert (end.distance <= one_key + 1e-5).all()
    assert end.distance.max() > 0.98 * one_key


def test_an_adversary_leaves_masked_keys_alone():
    allowed = torch.tensor([[True, True, True, False, False], [True, False, True, True, True]])
    weights = torch.tensor([[0.8, 0.1, 0.1, 0.0, 0.0], [0.05, 0.0, 0.85, 0.05, 0.05]])
    found = adversarial_weights(predict, weights, torch.Generator().manual_seed(0), allowed=allowed)
    assert (found.weights[~allowed] == 0).all()
    assert (found.distance > 0.2).all()


def test_an_adversary_leaves_the_parameters_gradients_alone():
    keys = CLASSES.clone().requires_grad_()
    weights = torch.full((BATCH, 5), 0.2)
    with torch.no_grad():
        adversarial_weights(
            lambda rows: rows @ keys, weights, torch.Generator().manual_seed(0), restarts=1, steps=3
        )
    assert keys.grad is None


def test_only_probabilities_can_be_compared():
    with pytest.raises(ValueError, match="must return probabilities"):
        adversarial_weights(
            lambda rows: 2 * predict(rows), torch.full((1, 5), 0.2), torch.Generator()
        )
