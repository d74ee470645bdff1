"""Take heads out for good: the pruned model has fewer parameters and computes less.

A zero-ablated head still costs its share; a pruned one has left the matrices. Heads keep the
numbers that they had in the whole model, so that pruning can go on from a pruned model, and so
that its ``head_mask`` has the shape it always had.
"""

import copy

import torch
from torch import nn

from ..attention import MultiHeadAttention
from ..hooks import HookedModule, HookPoint
from .ablation import check_heads

__all__ = ["PrunedAttention", "n_parameters", "prune_heads", "remaining_heads"]


def n_parameters(module):
    """How many numbers a module has learned; a matrix that is used twice counts once.

    >>> n_parameters(nn.Linear(3, 5))
    20
    """
    return sum(parameter.numel() for parameter in module.parameters())


def remaining_heads(model, layer):
    """The heads that a layer still has, by the numbers they had in the whole model.

    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> remaining_heads(prune_heads(model, [(1, 0)]), 1)
    [1, 2]
    """
    attention = model.blocks[layer].attn
    return list(getattr(attention, "heads", range(attention.n_heads)))


def prune_heads(model, heads):
    """A model without these heads and without their parameters.

    It computes what the given model does when the outputs of these heads are zero. Of a layer
    without heads only the bias of the output matrix is left. A key and value head that several
    query heads share goes with the last of them.

    Parameters
    ----------
    model : Encoder or Decoder
        Whole, or pruned before.
    heads : pairs (layer, head)
        By their numbers in the whole model.

    Returns
    -------
    a new model of the same class; the given one stays as it was, and they share no parameters

    Raises
    ------
    ValueError
        If a head does not exist, or no longer.

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> n_parameters(model) - n_parameters(prune_heads(model, [(1, 0)]))  # 4 · 6 · 2 + 3 · 2
    54

    Source: Michel et al. 2019, "Are sixteen heads really better than one?", section 4.
    """
    heads = check_heads(model.config, heads)
    for layer, head in heads:
        if head not in remaining_heads(model, layer):
            raise ValueError(f"head {(layer, head)} was pruned before")
    pruned = copy.deepcopy(model)
    for layer in {layer for layer, _ in heads}:
        gone = [head for where, head in heads if where == layer]
        kept = [head for head in remaining_heads(model, layer) if head not in gone]
        block = pruned.blocks[layer]
        block.attn = PrunedAttention(block.attn, kept)
    return pruned


class PrunedAttention(MultiHeadAttention):
    """An attention that has only some of its heads left, none at all included.

    Parameters
    ----------
    attention : MultiHeadAttention
        Whole, or pruned before.
    heads : list of int
        Which heads stay, by their numbers in the whole attention.

    Hook points have the heads that are left: ``hook_z`` is (batch, time, len(heads), d_head).

    Examples
    --------
    >>> attention = PrunedAttention(MultiHeadAttention(12, n_heads=6, n_kv_heads=2), [0, 2, 5])
    >>> attention(torch.randn(1, 5, 12)).shape, attention.kv_of_head
    (torch.Size([1, 5, 12]), [0, 0, 1])
    """

    def __init__(self, attention, heads):
        HookedModule.__init__(self)  # the parent's own wants as many query heads in every group
        had = list(getattr(attention, "heads", range(attention.n_heads)))
        places = [had.index(head) for head in heads]
        used = [attention.kv_of_head[place] for place in places]
        groups = sorted(set(used))
        self.heads, self.n_whole = list(heads), getattr(attention, "n_whole", attention.n_heads)
        self.n_whole_kv = getattr(attention, "n_whole_kv", attention.n_kv_heads)
        self.kv_heads = [getattr(attention, "kv_heads", range(self.n_whole_kv))[g] for g in groups]
        self.kv_of_head = [groups.index(group) for group in used]
        self.d_model, self.d_head = attention.d_model, attention.d_head
        self.dropout, self.rope = attention.dropout, attention.rope
        self.n_heads, self.n_kv_heads = len(heads), len(groups)
        self.widths = tuple(n * self.d_head for n in (len(heads), len(groups), len(groups)))
        self._take_weights(attention, places, groups)
        for name, point in attention.named_children():
            if isinstance(point, HookPoint):
                setattr(self, name, HookPoint())
        self.train(attention.training)

    def _take_weights(self, attention, places, groups):
        """Copy those rows and columns of the matrices that belong to heads that stay."""
        of_query = _entries(places, self.d_head)
        of_group = _entries(groups, self.d_head)
        n_query, n_group, _ = attention.widths
        rows = torch.cat([of_query, n_query + of_group, n_query + n_group + of_group])
        self.qkv_proj = _linear(attention.qkv_proj, rows=rows)
        self.o_proj = _linear(attention.o_proj, columns=of_query)

    def forward(self, x, context=None, *, head_mask=None, cache=None, **inputs):
        """As `MultiHeadAttention`; head_mask has a factor for every head of the whole attention.

        A cache made for the whole model serves too: heads that are gone leave their place empty.
        """
        if head_mask is not None:
            if tuple(head_mask.shape) != (self.n_whole,):
                raise ValueError(
                    f"head_mask must have shape ({self.n_whole},), one factor for each head of the "
                    f"whole attention, got {tuple(head_mask.shape)}"
                )
            head_mask = head_mask[self.heads]
        if cache is not None:
            cache = _PartOfCache(cache, self.kv_heads, self.n_whole_kv)
        return super().forward(x, context, head_mask=head_mask, cache=cache, **inputs)

    def _attend(self, query, key, value, mask, is_causal, need_weights):
        if not self.heads:  # PyTorch's kernel wants at least one
            return query, query.new_zeros(*query.shape[:3], key.shape[2])
        # Groups may differ in size now, so that each query head gets a copy of its own.
        key, value = key[:, self.kv_of_head], value[:, self.kv_of_head]
        return super()._attend(query, key, value, mask, is_causal, need_weights)


class _PartOfCache:
    """A layer's cache, made for all key and value heads, for a layer that has some of them."""

    def __init__(self, cache, kv_heads, n_whole_kv):
        self.cache, self.kv_heads, self.n_whole_kv = cache, kv_heads, n_whole_kv
        self.length = cache.length

    def update(self, layer, key, value):
        whole = [self._spread(part) for part in (key, value)]
        return [part[:, self.kv_heads] for part in self.cache.update(layer, *whole)]

    def _spread(self, part):
        batch, _, time, d_head = part.shape
        whole = part.new_zeros(batch, self.n_whole_kv, time, d_head)
        whole[:, self.kv_heads] = part
        return whole


def _entries(heads, d_head):
    """The rows of a matrix that belong to heads: d_head neighbours each."""
    first = torch.tensor(heads, dtype=torch.int64)[:, None] * d_head
    return (first + torch.arange(d_head)).flatten()


def _linear(linear, rows=None, columns=None):
    """A linear map with some of the rows of another (and of its bias), or some of its columns."""
    smaller = copy.deepcopy(linear)
    weight, bias = smaller.weight.detach(), smaller.bias
    weight = weight[:, columns] if rows is None else weight[rows]
    smaller.out_features, smaller.in_features = weight.shape
    smaller.weight = nn.Parameter(weight.clone(), requires_grad=linear.weight.requires_grad)
    if bias is not None and rows is not None:
        smaller.bias = nn.Parameter(bias.detach()[rows].clone(), requires_grad=bias.requires_grad)
    return smaller
