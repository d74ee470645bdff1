"""Take heads out of a running model and see what it loses.

A head's output ``z`` (d_head numbers for each token, before the output matrix) is replaced by zeros
or by its mean over texts, while the model runs; its weights are not touched. Heads are pairs
``(layer, head)``, counted from 0.
"""

import torch

from ..hooks import hooked
from ..models._stack import text_positions
from .measures import states

__all__ = [
    "ablation_hooks",
    "all_heads",
    "cumulative_ablation",
    "head_importance",
    "losses_without",
    "mean_head_outputs",
    "separate_ablation",
]


def all_heads(config, layer=None):
    """Every head of a model, or of one layer, as pairs (layer, head).

    Examples
    --------
    >>> from minitransformer.models import Config
    >>> all_heads(Config(n_layers=2, d_model=6, n_heads=3), layer=1)
    [(1, 0), (1, 1), (1, 2)]
    """
    layers = range(config.n_layers) if layer is None else [layer]
    return [(layer, head) for layer in layers for head in range(config.n_heads)]


def check_heads(config, heads):
    """The heads as a list of pairs, or an error that names the first that does not exist."""
    heads = [tuple(head) for head in heads]
    known = set(all_heads(config))
    for head in heads:
        if head not in known:
            raise ValueError(
                f"no head {head}: pairs (layer, head) run to "
                f"{(config.n_layers - 1, config.n_heads - 1)}"
            )
    return heads


def ablation_hooks(config, heads, means=None):
    """Functions for ``run_with_hooks`` that replace the outputs of heads.

    Parameters
    ----------
    config : Config
    heads : pairs (layer, head)
    means : tensor (n_layers, n_heads, d_head), optional
        What takes their place, from `mean_head_outputs`; zeros if not given.

    Returns
    -------
    list of (name, function)

    Raises
    ------
    ValueError
        If a head does not exist.

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens = torch.tensor([[1, 2, 3, 4, 5]])
    >>> model.run_with_hooks(tokens, fwd_hooks=ablation_hooks(model.config, [(1, 0)])).shape
    torch.Size([1, 5, 11])

    Source: Michel et al. 2019, "Are sixteen heads really better than one?", section 2.3.
    """
    of_layer = {}
    for layer, head in check_heads(config, heads):
        of_layer.setdefault(layer, []).append(head)

    def replace(layer, gone):
        def function(z, hook):  # (batch, time, heads, d_head)
            z = z.clone()
            z[:, :, gone] = 0.0 if means is None else means[layer, gone].to(z.dtype)
            return z

        return f"blocks.{layer}.attn.hook_z", function

    return [replace(layer, gone) for layer, gone in of_layer.items()]


@torch.no_grad()
def mean_head_outputs(model, tokens, key_mask=None):
    """The mean output of every head over all real tokens, before the output matrix.

    Parameters
    ----------
    model : Encoder or Decoder
    tokens : integer tensor (batch, time)
    key_mask : boolean tensor (batch, time), optional
        ``True`` = a real token.

    Returns
    -------
    tensor (n_layers, n_heads, d_head)

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=12, n_heads=3))
    >>> mean_head_outputs(model, torch.tensor([[1, 2, 3, 4, 5]])).shape
    torch.Size([2, 3, 4])
    """
    names = [f"blocks.{layer}.attn.hook_z" for layer in range(model.config.n_layers)]
    _, cache = model.run_with_cache(tokens, key_mask=key_mask, names=names)
    real = torch.ones_like(tokens, dtype=torch.bool) if key_mask is None else key_mask
    return torch.stack([cache[name][real].mean(dim=0) for name in names])


@torch.no_grad()
def losses_without(model, tokens, measure, heads, *, means=None, key_mask=None):
    """What each text's loss is when these heads are out, all at once.

    Parameters
    ----------
    model : Encoder or Decoder
    tokens : integer tensor (batch, time)
    measure : function of (model, states)
        See `measures`.
    heads : pairs (layer, head)
        None: the model as it is. Those of a layer: ``all_heads(model.config, layer)``.
    means : tensor (n_layers, n_heads, d_head), optional
        Mean ablation; zero ablation if not given.
    key_mask : boolean tensor (batch, time), optional
        ``True`` = a real token.

    Returns
    -------
    tensor (texts,)

    Examples
    --------
    >>> from minitransformer.inspection.measures import next_token_loss
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens = torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    >>> losses_without(model, tokens, next_token_loss(tokens), [(0, 1), (1, 2)]).shape
    torch.Size([2])
    """
    with hooked(model, ablation_hooks(model.config, heads, means)):
        return measure(model, states(model, tokens, key_mask=key_mask))


@torch.no_grad()
def separate_ablation(model, tokens, measure, groups, *, means=None, key_mask=None):
    """Each text's loss with one group of heads out, for one group after the other.

    The layers before a group compute what they always do, so each run starts at its first layer.
    This is `losses_without` for each group, in about half the time.

    Parameters
    ----------
    model, tokens, measure, means, key_mask
        As for `losses_without`.
    groups : list of lists of pairs (layer, head), none of them empty
        ``[[head] for head in all_heads(model.config)]`` takes out single heads.

    Returns
    -------
    tensor (groups, texts)

    Raises
    ------
    ValueError
        If a group is empty or a head does not exist.

    Examples
    --------
    >>> from minitransformer.inspection.measures import next_token_loss
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens = torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    >>> single = [[head] for head in all_heads(model.config)]
    >>> separate_ablation(model, tokens, next_token_loss(tokens), single).shape
    torch.Size([6, 2])

    Source: Michel et al. 2019, section 3.2.
    """
    groups = [check_heads(model.config, group) for group in groups]
    if not all(groups):
        raise ValueError("a group of heads is empty; losses_without(…, []) is the model as it is")
    layers = sorted({min(group)[0] for group in groups})
    names = [f"blocks.{layer}.hook_resid_pre" for layer in layers]
    _, cache = model.run_with_cache(tokens, key_mask=key_mask, names=names)
    positions = text_positions(tokens, key_mask, 0, model.config.max_length)
    losses = []
    for group in groups:
        first = min(group)[0]
        with hooked(model, ablation_hooks(model.config, group, means)):
            end = model.run_from(first, cache["resid_pre", first], positions, key_mask=key_mask)
        losses.append(measure(model, end))
    return torch.stack(losses)


def cumulative_ablation(model, tokens, measure, order, counts, *, means=None, key_mask=None):
    """Each text's loss with the first ``count`` heads of an order out, for each count.

    Parameters
    ----------
    model, tokens, measure, means, key_mask
        As for `losses_without`.
    order : pairs (layer, head)
        Which head goes first; choose it on other texts than these.
    counts : whole numbers from 0 to the length of ``order``

    Returns
    -------
    tensor (counts, texts)

    Raises
    ------
    ValueError
        If a head stands twice in the order, or a count is larger than it.

    Examples
    --------
    >>> from minitransformer.inspection.measures import next_token_loss
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens, order = torch.tensor([[1, 2, 3, 4, 5]]), all_heads(model.config)
    >>> cumulative_ablation(model, tokens, next_token_loss(tokens), order, [0, 2, 4, 6]).shape
    torch.Size([4, 1])

    Source: Michel et al. 2019, section 4.
    """
    order = check_heads(model.config, order)
    if len(set(order)) < len(order):
        raise ValueError("a head stands twice in the order")
    if not all(0 <= count <= len(order) for count in counts):
        raise ValueError(f"counts must run from 0 to {len(order)}, got {list(counts)}")
    rest = {"means": means, "key_mask": key_mask}
    return torch.stack(
        [losses_without(model, tokens, measure, order[:count], **rest) for count in counts]
    )


def head_importance(model, tokens, measure, *, key_mask=None):
    """How strongly each text's loss reacts to each head's factor: |∂L/∂ξ| at ξ = 1.

    ξ is the factor on a head's output, 1 in the model as it is. Michel et al. take the mean over
    texts, ``head_importance(...).mean(0)``, and divide each layer's by its Euclidean length when
    they compare heads of different layers.

    Parameters
    ----------
    model, tokens, measure, key_mask
        As for `losses_without`.

    Returns
    -------
    tensor (texts, n_layers, n_heads)

    Examples
    --------
    >>> from minitransformer.inspection.measures import next_token_loss
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens = torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    >>> head_importance(model, tokens, next_token_loss(tokens)).shape
    torch.Size([2, 2, 3])

    Source: Michel et al. 2019, equation 2.
    """
    config = model.config
    weight = next(model.parameters())
    with torch.enable_grad():
        factors = weight.new_ones(config.n_layers, config.n_heads).requires_grad_()
        losses = measure(model, states(model, tokens, key_mask=key_mask, head_mask=factors))
        rows = [torch.autograd.grad(loss, factors, retain_graph=True)[0] for loss in losses]
    return torch.stack(rows).abs()
