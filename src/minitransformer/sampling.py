"""Sampling: from the logits of a step to the next token of each text."""

from numbers import Real

import torch

__all__ = ["check_choice", "sample", "top_k_logits", "top_p_logits"]


def top_k_logits(logits, k):
    """Keep the ``k`` largest logits of each row; the rest becomes -infinity.

    >>> top_k_logits(torch.tensor([1.0, 3.0, 2.0]), 2)
    tensor([-inf, 3., 2.])

    Source: Fan et al. 2018, "Hierarchical neural story generation", section 5.4.
    """
    _check_top_k(k)
    values, indices = logits.topk(min(k, logits.shape[-1]))
    return torch.full_like(logits, float("-inf")).scatter(-1, indices, values)


def top_p_logits(logits, p):
    """Keep the fewest tokens whose probabilities reach ``p`` together, the likeliest first.

    >>> top_p_logits(torch.log(torch.tensor([0.2, 0.5, 0.3])), 0.6).exp()
    tensor([0.0000, 0.5000, 0.3000])

    Source: Holtzman et al. 2019, "The curious case of neural text degeneration", section 3.1.
    """
    _check_top_p(p)
    if p == 1:
        return logits.clone()
    ordered, indices = logits.sort(descending=True, dim=-1)
    # In float64: in float32 the sum reaches 1, up to rounding, long before the last of many tokens.
    probabilities = ordered.double().softmax(-1)
    reached_before = probabilities.cumsum(-1) - probabilities >= p
    return torch.full_like(logits, float("-inf")).scatter(
        -1, indices, ordered.masked_fill(reached_before, float("-inf"))
    )


def sample(logits, *, temperature=0.0, top_k=None, top_p=None, generator=None):
    """Choose the next token of each text.

    Parameters
    ----------
    logits : tensor, (batch, vocab)
    temperature : float
        0 takes the likeliest token; otherwise the logits are divided by it before the softmax.
    top_k : int, optional
        Draw from the k likeliest tokens alone.
    top_p : float, optional
        Draw from the fewest tokens that together reach this probability, after ``top_k``.
    generator : torch.Generator, optional
        Makes the draw repeatable.

    Returns
    -------
    tensor of int64, (batch,)

    Raises
    ------
    ValueError
        If a number is out of its range, the logits of a text hold NaN or +infinity or are all
        -infinity, or ``top_k`` or ``top_p`` is given at temperature 0, where they change nothing.
    TypeError
        If ``temperature`` or ``top_p`` is no number.

    Examples
    --------
    >>> sample(torch.tensor([[0.0, 2.0, 1.0]]))
    tensor([1])
    """
    check_choice(temperature, top_k, top_p)
    scores = logits.float()
    highest = scores.amax(-1, keepdim=True)
    if not torch.isfinite(highest).all():  # the maximum of a row with NaN is NaN
        raise ValueError(
            "the logits hold NaN or +infinity, or -infinity alone: there is no next token to choose"
        )
    if temperature == 0:
        return logits.argmax(-1)
    # Less the highest, so that a tiny temperature makes -infinity, and never NaN; one that float32
    # rounds to 0 would.
    scores = (scores - highest) / max(temperature, torch.finfo(torch.float32).tiny)
    if top_k is not None:
        scores = top_k_logits(scores, top_k)
    if top_p is not None:
        scores = top_p_logits(scores, top_p)
    return torch.multinomial(scores.softmax(-1), 1, generator=generator).squeeze(-1)


def check_choice(temperature, top_k, top_p):
    """Raise an error that names what came unless `sample` can choose by these."""
    _check_number("temperature", temperature)
    if not 0 <= temperature < float("inf"):
        raise ValueError(f"temperature must be 0 or a positive number, got {temperature!r}")
    if temperature == 0 and (top_k is not None or top_p is not None):
        raise ValueError("top_k and top_p change nothing at temperature 0; give a temperature")
    if top_k is not None:
        _check_top_k(top_k)
    if top_p is not None:
        _check_top_p(top_p)


def _check_number(name, number):
    if not isinstance(number, Real):
        raise TypeError(f"{name} must be a number, got {number!r}")


def _check_top_k(k):
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"top_k must be a positive whole number, got {k!r}")


def _check_top_p(p):
    _check_number("top_p", p)
    if not 0 < p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {p!r}")
