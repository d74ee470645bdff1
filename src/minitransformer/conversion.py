"""Give a trained model more or fewer heads of keys and values, without training it.

A model with grouped queries computes with one key and value head for a group of neighbouring query
heads. More heads are made by copying: the model computes what it did, and its cache grows. Fewer
heads are made by merging those of a group into one: the cache shrinks, and the model is another.

Every function returns a new model and leaves the given one as it was.
"""

import copy
from dataclasses import replace

import torch

from .attention import MultiHeadAttention

__all__ = ["MERGES", "expand_kv_heads", "kv_head_weights", "merge_kv_heads", "tie_kv_heads"]

MERGES = ("mean", "first", "random")


def kv_head_weights(attention):
    """The projections of keys and of values, cut into heads.

    Parameters
    ----------
    attention : MultiHeadAttention

    Returns
    -------
    w_k, w_v : tensors (n_kv_heads, d_head, d_model), detached views

    Examples
    --------
    >>> w_k, w_v = kv_head_weights(MultiHeadAttention(d_model=12, n_heads=6, n_kv_heads=2))
    >>> w_k.shape, w_v.shape
    (torch.Size([2, 2, 12]), torch.Size([2, 2, 12]))
    """
    _, w_k, w_v = attention.qkv_proj.weight.detach().split(attention.widths)
    return w_k.unflatten(0, (-1, attention.d_head)), w_v.unflatten(0, (-1, attention.d_head))


def expand_kv_heads(model, n_kv_heads=None):
    """A model that computes the same with more key and value heads, which are copies.

    Parameters
    ----------
    model : Encoder, Decoder or VisionTransformer
    n_kv_heads : int, optional
        A multiple of what the model has and a divisor of ``n_heads``, which it is if not given.

    Returns
    -------
    a new model of the same class

    Raises
    ------
    ValueError
        If the numbers do not divide, or the model has cross-attention.

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> sizes = {"vocab_size": 11, "n_layers": 2, "d_model": 12, "n_heads": 6}
    >>> model = Decoder(Config.llama(**sizes, n_kv_heads=2)).eval()
    >>> wide, tokens = expand_kv_heads(model), torch.tensor([[1, 2, 3, 4, 5]])
    >>> wide.config.n_kv_heads, torch.allclose(wide(tokens), model(tokens), atol=1e-5)
    (6, True)

    The order of the copies is that of Ainslie et al. 2023, section 2.2: neighbours share.
    """
    has, wanted = model.config.n_kv_heads, n_kv_heads
    wanted = model.config.n_heads if wanted is None else wanted
    if wanted < has or wanted % has or model.config.n_heads % wanted:
        raise ValueError(
            f"n_kv_heads must be a multiple of {has} and divide n_heads {model.config.n_heads}, "
            f"got {wanted}"
        )
    return _converted(model, lambda heads: heads.repeat_interleave(wanted // has, dim=0))


def merge_kv_heads(model, n_kv_heads=1, how="mean", generator=None):
    """A model with fewer key and value heads: neighbours are merged into one.

    Parameters
    ----------
    model : Encoder, Decoder or VisionTransformer
    n_kv_heads : int
        How many are left; a divisor of what the model has.
    how : "mean", "first" or "random"
        The average of the heads of a group, the first of them, or normally distributed numbers of
        the size of those that they replace.
    generator : torch.Generator
        For "random", which needs one.

    Returns
    -------
    a new model of the same class

    Raises
    ------
    ValueError
        If the number does not divide, ``how`` is unknown or lacks its generator, or the model has
        cross-attention.

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> sizes = {"vocab_size": 11, "n_layers": 2, "d_model": 12, "n_heads": 6}
    >>> merge_kv_heads(Decoder(Config.llama(**sizes)), 2).config.n_kv_heads
    2

    Source: Ainslie et al. 2023, "GQA", section 2.1 and figure 4, where the random heads are drawn
    as for a new model.
    """
    return _converted(model, _merger(model, n_kv_heads, how, generator))


def tie_kv_heads(model, n_kv_heads=1, how="mean", layers=None, generator=None):
    """A model that computes what the merged one does, in some of its layers.

    The heads of a group become equal, but all are kept: so the layers can be converted one by one,
    though the model has one number of key and value heads for all of them.

    Parameters
    ----------
    model, n_kv_heads, how, generator
        As for `merge_kv_heads`.
    layers : collection of int, optional
        Which layers are converted; all if not given.

    Returns
    -------
    a new model of the same class and sizes

    Raises
    ------
    ValueError
        As for `merge_kv_heads`, or if there is no such layer.

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.llama(vocab_size=11, n_layers=2, d_model=12, n_heads=6))
    >>> tied = tie_kv_heads(model, 2, layers=[1])
    >>> [len(kv_head_weights(block.attn)[0].unique(dim=0)) for block in tied.blocks]
    [6, 2]
    """
    merge = _merger(model, n_kv_heads, how, generator)
    copies = model.config.n_kv_heads // n_kv_heads
    return _converted(model, lambda heads: merge(heads).repeat_interleave(copies, dim=0), layers)


def _merger(model, n_kv_heads, how, generator):
    """The function from heads (n, d_head, ...) to ``n_kv_heads`` of them, once all is checked."""
    has = model.config.n_kv_heads
    if n_kv_heads < 1 or has % n_kv_heads:
        raise ValueError(f"n_kv_heads must divide the model's {has}, got {n_kv_heads}")
    if how not in MERGES:
        raise ValueError(f"how must be one of {', '.join(MERGES)}, got {how!r}")
    if (how == "random") != (generator is not None):
        raise ValueError('"random" needs a generator, and the others take none')

    def merge(heads):
        groups = heads.unflatten(0, (n_kv_heads, -1))
        if how == "mean":
            return groups.mean(dim=1)
        if how == "first":
            return groups[:, 0]
        size = groups.square().mean().sqrt()
        return size * torch.randn(groups[:, 0].shape, generator=generator, dtype=groups.dtype)

    return merge


@torch.no_grad()
def _converted(model, change, layers=None):
    """A copy of ``model`` whose key and value heads went through ``change`` in these layers."""
    every = range(model.config.n_layers)
    layers = every if layers is None else layers
    if not set(layers) <= set(every):
        raise ValueError(
            f"layers run from 0 to {every[-1]}, got {sorted(set(layers) - set(every))}"
        )
    if any(getattr(block, "cross_attn", None) is not None for block in model.blocks):
        raise ValueError("a model with cross-attention has other keys and values: not converted")
    model = copy.deepcopy(model)
    for layer in layers:
        block = model.blocks[layer]
        block.attn = _converted_attention(block.attn, change)
    n_kv_heads = model.blocks[0].attn.n_kv_heads
    model.config = replace(model.config, n_kv_heads=n_kv_heads)
    return model


def _converted_attention(attention, change):
    linear, heads = attention.qkv_proj, (-1, attention.d_head)

    def converted(rows):
        query, key, value = rows.split(attention.widths)
        changed = [change(part.unflatten(0, heads)).flatten(0, 1) for part in (key, value)]
        return torch.cat([query, *changed])

    weight = converted(linear.weight)
    n_kv_heads = (len(weight) // attention.d_head - attention.n_heads) // 2
    new = MultiHeadAttention(
        attention.d_model,
        attention.n_heads,
        n_kv_heads,
        attention.d_head,
        bias=linear.bias is not None,
        dropout=attention.dropout,
        rope=attention.rope,
    ).train(attention.training)
    new.o_proj = attention.o_proj
    new.qkv_proj.weight.data = weight
    if linear.bias is not None:
        new.qkv_proj.bias.data = converted(linear.bias)
    return new
