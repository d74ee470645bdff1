"""What heads look at: one number a head for each pattern that its weights may follow.

Every function takes weights of shape (batch, heads, query, key), a row of which sums to 1, and
returns a tensor (heads,): a mean over the queries of all texts. ``key_mask`` (batch, time),
``True`` = a real token, leaves out the queries at padding. A *share* is the weight on some keys,
summed over these keys: 0 to 1. Queries that have no such key are left out; where a paper counts
them as 0, the docstring says so.
"""

import torch

from .attribution import head_outputs

__all__ = [
    "copying",
    "entropy",
    "mean_distance",
    "prefix_matching",
    "same_token",
    "share_at_offset",
    "share_at_position",
    "share_on_tokens",
]


def share_on_keys(weights, keys, key_mask=None):
    """The mean share of weight on the keys that are ``True``, over queries that have such a key.

    Parameters
    ----------
    weights : tensor (batch, heads, query, key)
    keys : boolean tensor (batch, query, key), or broadcasting to it
    key_mask : boolean tensor (batch, time), optional

    Returns
    -------
    tensor (heads,)

    Raises
    ------
    ValueError, TypeError
        If shapes do not fit, or no query has such a key.

    Examples
    --------
    >>> weights = torch.tensor([[[[0.75, 0.25], [0.5, 0.5]]]])
    >>> share_on_keys(weights, torch.tensor([[[True, False], [False, False]]]))
    tensor([0.7500])
    """
    weights, real = _checked(weights, key_mask)
    keys = keys.expand(len(weights), *weights.shape[-2:]) & real[:, None, :]
    has = keys.any(dim=-1) & real
    if not has.any():
        raise ValueError("no query of these texts has such a key")
    return _mean_over((weights * keys[:, None]).sum(dim=-1), has)


def share_at_offset(weights, offset, key_mask=None):
    """The mean weight on the key ``offset`` places after the query's own.

    -1 is the previous token, 1 the next one, 0 the token itself. The first token has no previous
    one and is left out; Clark et al. count it as 0.

    Parameters
    ----------
    weights, key_mask
        As for `share_on_keys`, of self-attention.
    offset : int

    Returns
    -------
    tensor (heads,)

    Examples
    --------
    >>> weights = torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]]])
    >>> share_at_offset(weights, -1), share_at_offset(weights, 0)
    (tensor([0.7500]), tensor([0.5000]))

    Source: Clark et al. 2019, "What does BERT look at?", section 3.1; of -1: Olsson et al. 2022,
    "In-context learning and induction heads", appendix.
    """
    place = torch.arange(weights.shape[-1], device=weights.device)
    return share_on_keys(weights, place == place[:, None] + offset, key_mask)


def share_at_position(weights, position=0, key_mask=None, *, itself=False):
    """The mean weight on the key at one position: at 0, the first token, an attention sink.

    Parameters
    ----------
    weights, key_mask
        As for `share_on_keys`.
    position : int
    itself : bool
        Count that token's own query too. In a causal model the first token sees nothing but
        itself, and would add a share of 1 that says nothing.

    Returns
    -------
    tensor (heads,)

    Examples
    --------
    >>> weights = torch.tensor([[[[1.0, 0.0], [0.25, 0.75]]]])
    >>> share_at_position(weights), share_at_position(weights, itself=True)
    (tensor([0.2500]), tensor([0.6250]))

    Source: Xiao et al. 2023, "Efficient streaming language models with attention sinks", section 3.
    """
    place = torch.arange(weights.shape[-1], device=weights.device)
    query = torch.arange(weights.shape[-2], device=weights.device)[:, None]
    keys = (place == position) & ((query != position) | itself)
    return share_on_keys(weights, keys, key_mask)


def share_on_tokens(weights, tokens, ids, key_mask=None):
    """The mean share of weight on tokens of some kind: punctuation, or delimiters such as [SEP].

    Parameters
    ----------
    weights, key_mask
        As for `share_on_keys`, of self-attention.
    tokens : integer tensor (batch, time)
    ids : collection of int
        The kinds, by their numbers in the vocabulary: ``tokenizer.token_to_id("[SEP]")``.

    Returns
    -------
    tensor (heads,)
        Compare it with the share of such tokens among all: that is what equal weights would give.

    Examples
    --------
    >>> weights = torch.tensor([[[[0.25, 0.75], [0.5, 0.5]]]])
    >>> share_on_tokens(weights, torch.tensor([[5, 9]]), ids=[9])
    tensor([0.6250])

    Source: Clark et al. 2019, section 3.2.
    """
    wanted = torch.tensor(sorted(ids), device=tokens.device)
    return share_on_keys(weights, torch.isin(tokens, wanted)[:, None, :], key_mask)


def same_token(weights, tokens, key_mask=None):
    """The mean share of weight on other places where the query's own token stands.

    Parameters
    ----------
    weights, key_mask
        As for `share_on_keys`, of self-attention.
    tokens : integer tensor (batch, time)

    Returns
    -------
    tensor (heads,)
        Its own place does not count, and in a causal head (no weight on any later key) a later
        copy does not either.

    Examples
    --------
    >>> weights = torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.75, 0.0, 0.25]]]])
    >>> same_token(weights, torch.tensor([[7, 8, 7]]))
    tensor([0.7500])

    Source: Wang et al. 2022, "Interpretability in the wild", section 3 (duplicate token heads).
    """
    same = tokens[:, :, None] == tokens[:, None, :]
    itself = torch.eye(tokens.shape[1], dtype=torch.bool, device=tokens.device)
    return share_on_keys(weights, _seen(weights, same & ~itself), key_mask)


def prefix_matching(weights, tokens, key_mask=None):
    """The mean share of weight on tokens that once followed the query's own token.

    A query at a token that came before, at place p, should look at place p + 1 if its head is an
    induction head. Where it came several times, the weights on all these places are summed, so
    that the score can reach 1; Olsson et al. average them, which with four repeats cannot exceed
    one half.

    Parameters
    ----------
    weights, key_mask
        As for `share_on_keys`, of self-attention.
    tokens : integer tensor (batch, time)
        Random tokens, repeated: `tasks.repeated_sequences`. In a real text a high score has other
        reasons too.

    Returns
    -------
    tensor (heads,)

    Examples
    --------
    >>> tokens = torch.tensor([[7, 8, 7]])
    >>> weights = torch.tensor([[[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.75, 0.0]]]])
    >>> prefix_matching(weights, tokens)  # the second 7 looks at the 8 after the first
    tensor([0.7500])

    Source: Olsson et al. 2022, "In-context learning and induction heads", appendix "Head
    activation evaluators".
    """
    matches = tokens[:, :, None] == tokens[:, None, :].roll(1, dims=2)  # the token before the key
    place = torch.arange(tokens.shape[1], device=tokens.device)
    earlier = (place > 0) & (place <= place[:, None])
    return share_on_keys(weights, matches & earlier, key_mask)


def mean_distance(weights, key_mask=None):
    """How far away the keys are, on average: the mean of weight × |query - key|, in tokens.

    Parameters
    ----------
    weights, key_mask
        As for `share_on_keys`, of self-attention.

    Returns
    -------
    tensor (heads,)

    Examples
    --------
    >>> mean_distance(torch.tensor([[[[1.0, 0.0], [0.5, 0.5]]]]))
    tensor([0.2500])

    Source: Vig & Belinkov 2019, "Analyzing the structure of attention", section 4.3.
    """
    weights, real = _checked(weights, key_mask)
    place = torch.arange(weights.shape[-1], device=weights.device)
    return _mean_over((weights * (place - place[:, None]).abs()).sum(dim=-1), real)


def entropy(weights, key_mask=None):
    """How spread out the weights are: the mean entropy of a row, in nats.

    0 when all weight is on one key, ln(keys) when it is the same on all.

    Parameters
    ----------
    weights, key_mask
        As for `share_on_keys`.

    Returns
    -------
    tensor (heads,)

    Examples
    --------
    >>> entropy(torch.tensor([[[[0.5, 0.5], [1.0, 0.0]]]]))
    tensor([0.3466])

    Source: Clark et al. 2019, section 3.3, without their smoothing of the weights.
    """
    weights, real = _checked(weights, key_mask)
    return _mean_over(torch.special.entr(weights).sum(dim=-1), real)


@torch.no_grad()
def copying(model, tokens):
    """How strongly a head that looks at a token raises the logit of that same token, -1 to 1.

    What a head writes for a key, if all its weight is there, goes straight to the logits: through
    the last norm and the output matrix. Among the logits of the text's own tokens, less their
    mean, negative ones are dropped; the share that is the key's own token's, scaled to -1 .. 1, is
    the score. With n different tokens, a head that raises each equally has about 2 / n - 1.

    Parameters
    ----------
    model : Decoder
    tokens : integer tensor (batch, time)
        Random tokens, all different within a text.

    Returns
    -------
    tensor (n_layers, n_heads)

    Raises
    ------
    ValueError
        If a token comes twice in a text.

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> copying(model, torch.tensor([[1, 2, 3, 4, 5]])).shape
    torch.Size([2, 3])

    Source: Olsson et al. 2022, appendix "Head activation evaluators", copying; here each key is
    taken alone and not in the mixture that the head's weights make.
    """
    ordered = tokens.sort(dim=1).values
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise ValueError("a token comes twice in a text: its logit would be counted twice")
    names = [f"blocks.{layer}.attn.hook_v" for layer in range(model.config.n_layers)]
    _, cache = model.run_with_cache(tokens, names=names)
    unembedding = model.embed if model.config.tied_head else model.lm_head
    rows, scores = unembedding.weight[tokens], []  # of the output matrix: (batch, time, d_model)
    for block, name in zip(model.blocks, names, strict=True):
        written = head_outputs(block.attn, cache[name])  # (batch, heads, key, d_model)
        normed = model.final_norm(written) - model.final_norm(torch.zeros_like(written))  # no bias
        logits = torch.einsum("bhkm,btm->bhkt", normed, rows)
        raised = (logits - logits.mean(dim=-1, keepdim=True)).relu()
        own = raised.diagonal(dim1=-2, dim2=-1) / raised.sum(dim=-1).clamp(min=1e-9)
        scores.append(2 * own.mean(dim=(0, 2)) - 1)
    return torch.stack(scores)


def _checked(weights, key_mask):
    if weights.ndim != 4 or not weights.is_floating_point():
        raise ValueError(
            "weights must be (batch, heads, query, key) of real numbers, got "
            f"{tuple(weights.shape)} of {weights.dtype}"
        )
    batch, _, n_queries, n_keys = weights.shape
    if n_queries != n_keys:
        raise ValueError(
            f"these are patterns of self-attention, got {n_queries} × {n_keys} weights"
        )
    if key_mask is None:
        return weights, torch.ones(batch, n_keys, dtype=torch.bool, device=weights.device)
    if key_mask.dtype != torch.bool or tuple(key_mask.shape) != (batch, n_keys):
        raise ValueError(
            f"key_mask must be boolean (batch, time) = {(batch, n_keys)}, got "
            f"{tuple(key_mask.shape)} of {key_mask.dtype}"
        )
    return weights, key_mask


def _mean_over(numbers, queries):
    """The mean over those queries (batch, query) of numbers (batch, heads, query), a head each."""
    return (numbers * queries[:, None]).sum(dim=(0, 2)) / queries.sum()


def _seen(weights, keys):
    """The keys without later ones, where no head puts any weight on a later key."""
    is_causal = not weights.triu(1).any()
    return keys.tril() if is_causal else keys
