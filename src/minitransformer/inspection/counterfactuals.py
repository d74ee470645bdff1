"""What a model would say if its weights were others: shuffled, all equal, or an adversary's.

If other weights leave the output as it is, the weights that the model happened to have were not
needed for it.
"""

import math

import torch

__all__ = [
    "Adversary",
    "adversarial_weights",
    "jensen_shannon",
    "permuted_weights",
    "run_with_weights",
    "total_variation",
    "uniform_weights",
]


def uniform_weights(allowed):
    """The same weight on every key that a query may attend to.

    Parameters
    ----------
    allowed : boolean tensor (..., query, key)
        ``weights > 0`` of weights that a model had, or a mask.

    Returns
    -------
    tensor of the same shape, float32; a row that allows nothing is 0

    Examples
    --------
    >>> uniform_weights(torch.tensor([[True, False], [True, True]]))
    tensor([[1.0000, 0.0000],
            [0.5000, 0.5000]])

    Source: Wiegreffe & Pinter 2019, "Attention is not not explanation", section 3.1.
    """
    if allowed.dtype != torch.bool:
        raise TypeError(f"allowed must be boolean, True = may attend, got {allowed.dtype}")
    return allowed.float() / allowed.sum(dim=-1, keepdim=True).clamp(min=1)


def permuted_weights(weights, generator, allowed=None):
    """The same weights in another order, row by row, among the keys that a query may attend to.

    Parameters
    ----------
    weights : tensor (..., query, key)
    generator : torch.Generator
    allowed : boolean tensor, broadcasts to the weights, optional
        ``True`` = may attend; all keys if not given. With padding or a causal mask, give it:
        otherwise weight comes to lie on keys that must not be seen.

    Returns
    -------
    tensor of the same shape

    Examples
    --------
    >>> weights = torch.tensor([[0.5, 0.25, 0.25, 0.0], [0.5, 0.5, 0.0, 0.0]])
    >>> allowed = torch.tensor([[True, True, True, False], [True, True, False, False]])
    >>> permuted_weights(weights, torch.Generator().manual_seed(1), allowed)
    tensor([[0.2500, 0.2500, 0.5000, 0.0000],
            [0.5000, 0.5000, 0.0000, 0.0000]])

    Source: Jain & Wallace 2019, "Attention is not explanation", section 4.2.1.
    """
    if allowed is None:
        allowed = torch.ones_like(weights, dtype=torch.bool)
    allowed = allowed.expand_as(weights)
    drawn = torch.rand(weights.shape, generator=generator).to(weights.device)
    order = drawn.masked_fill(~allowed, 2.0).argsort(dim=-1)  # allowed keys first, shuffled
    places = (~allowed).byte().argsort(dim=-1, stable=True)  # allowed keys first, in order
    return torch.zeros_like(weights).scatter(-1, places, weights.gather(-1, order))


def run_with_weights(model, tokens, weights, **inputs):
    """What a model returns when some of its layers are given their weights.

    Parameters
    ----------
    model : Encoder or Decoder
    tokens : integer tensor (batch, time)
    weights : dict of layer to tensor, which broadcasts to (batch, heads, query, key)
        The other layers compute theirs, from what the changed ones hand them.
    **inputs
        ``key_mask`` and others that the model takes.

    Returns
    -------
    what the model returns; gradients flow through the weights

    Raises
    ------
    ValueError
        If there is no such layer, or the weights do not fit it.

    Examples
    --------
    >>> from minitransformer.models import Config, Encoder
    >>> model = Encoder(Config.bert(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens = torch.tensor([[1, 2, 3, 4, 5]])
    >>> run_with_weights(model, tokens, {1: uniform_weights(torch.ones(5, 5).bool())}).shape
    torch.Size([1, 5, 6])
    """

    def put(given):
        def function(pattern, hook):
            try:
                return given.to(pattern.dtype).expand_as(pattern)
            except RuntimeError:
                raise ValueError(
                    f"weights of shape {tuple(given.shape)} do not fit {hook.name}, "
                    f"(batch, heads, query, key) = {tuple(pattern.shape)}"
                ) from None

        return function

    hooks = [(f"blocks.{layer}.attn.hook_pattern", put(given)) for layer, given in weights.items()]
    return model.run_with_hooks(tokens, fwd_hooks=hooks, **inputs)


def total_variation(first, second):
    """How far two distributions are apart: half the sum of absolute differences, 0 to 1.

    Examples
    --------
    >>> total_variation(torch.tensor([0.5, 0.5]), torch.tensor([0.75, 0.25]))
    tensor(0.2500)

    Source: Jain & Wallace 2019, section 3.
    """
    return (first - second).abs().sum(dim=-1) / 2


def jensen_shannon(first, second):
    """How far two distributions are apart, in nats: 0 if equal, ln 2 if they share no key.

    Examples
    --------
    >>> jensen_shannon(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]))
    tensor(0.6931)

    Source: Jain & Wallace 2019, section 3; Lin 1991, "Divergence measures".
    """
    return _entropy((first + second) / 2) - (_entropy(first) + _entropy(second)) / 2


def _entropy(shares):
    """In nats; its slope stays finite where a share is 0, as at keys that are masked."""
    return -(shares * shares.clamp(min=1e-30).log()).sum(dim=-1)


class Adversary:
    """What an adversary found, for each text of a batch; made by `adversarial_weights`.

    weights : tensor (batch, key)
    distance : tensor (batch,)
        Jensen-Shannon divergence from the weights that the model had; 0 where none were found.
    change : tensor (batch,)
        Total variation between the outputs, at most the bound that was asked for.
    """

    def __init__(self, weights):
        self.weights = weights.detach().clone()
        self.distance = weights.new_zeros(len(weights))
        self.change = weights.new_zeros(len(weights))

    def keep_better(self, weights, distance, change, bound):
        """Take over what is farther away and changes the output no more than by ``bound``."""
        better = (change <= bound) & (distance > self.distance)
        self.weights[better] = weights[better]
        self.distance[better] = distance[better]
        self.change[better] = change[better]


def adversarial_weights(
    predict, weights, generator, *, allowed=None, bound=0.05, restarts=5, steps=500
):
    """Weights as far as possible from the model's that leave its output alone.

    The adversary starts from random weights and climbs: it maximises the Jensen-Shannon divergence
    from the model's weights, less 500 times the change of the output beyond 0.01.

    Parameters
    ----------
    predict : function of weights (batch, key), to probabilities (batch, classes)
        The model from its weights on, everything else as it was: differentiable.
    weights : tensor (batch, key)
        The weights that the model had.
    generator : torch.Generator
        Of the starts: log weights are normally distributed, with standard deviation 3.
    allowed : boolean tensor (batch, key), optional
        ``True`` = may attend; all keys if not given.
    bound : number
        The largest change of the output, in total variation, that counts as none.
    restarts, steps : int
        Independent starts, of which the best counts, and steps of each. Jain & Wallace run their
        five at once and also push them apart from one another; that part is left out.

    Returns
    -------
    Adversary

    Raises
    ------
    ValueError
        If ``predict`` does not return probabilities.

    Examples
    --------
    >>> def predict(weights):  # of three keys the first two say the same
    ...     return weights @ torch.tensor([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75]])
    >>> weights = torch.tensor([[0.75, 0.125, 0.125]])
    >>> found = adversarial_weights(predict, weights, torch.Generator().manual_seed(0))
    >>> bool(found.distance > 0.3), bool(found.change <= 0.05)
    (True, True)

    Source: Jain & Wallace 2019, section 4.2.2 and equation 1; step size and penalty are those of
    their code.
    """
    weights = weights.detach()
    if allowed is None:
        allowed = torch.ones_like(weights, dtype=torch.bool)
    with torch.no_grad():
        before = predict(weights)
    if (before < 0).any() or not torch.allclose(before.sum(-1), before.new_ones(()), atol=1e-4):
        raise ValueError("predict must return probabilities: rows from 0 to 1 that sum to 1")
    found = Adversary(weights)
    for _ in range(restarts):
        start = 3 * torch.randn(weights.shape, generator=generator).to(weights)
        for candidate, change in _climb(predict, weights, before, start, allowed, steps):
            found.keep_better(candidate, jensen_shannon(weights, candidate), change, bound)
    return found


def _climb(predict, weights, before, start, allowed, steps):
    """Yield the adversary's weights, and by how much they change the output, step by step."""
    with torch.enable_grad():
        logits = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([logits], lr=0.01, amsgrad=True)
    for _ in range(steps + 1):
        with torch.enable_grad():
            candidate = logits.masked_fill(~allowed, -math.inf).softmax(dim=-1)
            change = total_variation(before, predict(candidate))
            distance = jensen_shannon(weights, candidate)
            loss = (500 * (change - 0.01).relu() - distance).sum()
        yield candidate.detach(), change.detach()
        (logits.grad,) = torch.autograd.grad(loss, logits)
        optimizer.step()
