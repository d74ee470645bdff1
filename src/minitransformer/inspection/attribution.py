"""Other answers than the weights to the question which tokens an output came from.

Weights say how a head mixes its values, not how large these are, what the layers below mixed
before, or what the output would be without a token. Each function here asks one of these.
"""

import torch

__all__ = [
    "gradient_times_input",
    "head_outputs",
    "leave_one_out",
    "rollout",
    "value_norms",
    "weighted_norms",
]


def values_per_head(attention, value):
    """The values that each query head mixes: (batch, key, kv_heads, d_head) to heads.

    Examples
    --------
    >>> from minitransformer.attention import MultiHeadAttention
    >>> attention = MultiHeadAttention(d_model=12, n_heads=6, n_kv_heads=2)
    >>> values_per_head(attention, torch.ones(1, 5, 2, 2)).shape
    torch.Size([1, 5, 6, 2])
    """
    expected = (attention.n_kv_heads, attention.d_head)
    if value.ndim != 4 or tuple(value.shape[2:]) != expected:
        raise ValueError(
            f"value must be (batch, key, kv_heads, d_head) with {expected} at the end, as it "
            f"passes hook_v; got {tuple(value.shape)}"
        )
    return value[:, :, attention.kv_of_head]


def head_outputs(attention, value):
    """What each head writes into the residual stream for each key, at a weight of 1: f(x).

    Parameters
    ----------
    attention : MultiHeadAttention
    value : tensor (batch, key, kv_heads, d_head)
        What passes ``hook_v``: with its bias.

    Returns
    -------
    tensor (batch, heads, key, d_model)
        Summed over heads and keys, each times its weight, and with the output bias added, these
        are the layer's output.

    Raises
    ------
    ValueError
        If the value is not of this attention.

    Examples
    --------
    >>> from minitransformer.attention import MultiHeadAttention
    >>> attention = MultiHeadAttention(d_model=12, n_heads=6, n_kv_heads=2)
    >>> head_outputs(attention, torch.ones(1, 5, 2, 2)).shape
    torch.Size([1, 6, 5, 12])

    Source: Kobayashi et al. 2020, "Attention is not only a weight", equation 4.
    """
    w_o = attention.o_proj.weight.detach().unflatten(-1, (attention.n_heads, attention.d_head))
    return torch.einsum("bkhd,mhd->bhkm", values_per_head(attention, value), w_o)


def value_norms(attention, value):
    """How long what a head writes for each key is, at a weight of 1: ‖f(x)‖.

    Parameters
    ----------
    attention, value
        As for `head_outputs`.

    Returns
    -------
    tensor (batch, heads, key)

    Examples
    --------
    >>> from minitransformer.attention import MultiHeadAttention
    >>> attention = MultiHeadAttention(d_model=12, n_heads=6, n_kv_heads=2)
    >>> value_norms(attention, torch.ones(1, 5, 2, 2)).shape
    torch.Size([1, 6, 5])
    """
    return head_outputs(attention, value).norm(dim=-1)


def weighted_norms(attention, weights, value):
    """How much each key brings to each query, in length: α ‖f(x)‖ for each head.

    Parameters
    ----------
    attention : MultiHeadAttention
    weights : tensor (batch, heads, query, key)
        What passes ``hook_pattern``.
    value : tensor (batch, key, kv_heads, d_head)
        What passes ``hook_v``.

    Returns
    -------
    tensor (batch, heads, query, key)
        Divide each row by its sum to compare it with the weights.

    Raises
    ------
    ValueError
        If weights or values are not of this attention.

    Examples
    --------
    >>> from minitransformer.attention import MultiHeadAttention
    >>> attention = MultiHeadAttention(d_model=12, n_heads=6, n_kv_heads=2)
    >>> _, cache = attention.run_with_cache(torch.randn(1, 5, 12))
    >>> weighted_norms(attention, cache["hook_pattern"], cache["hook_v"]).shape
    torch.Size([1, 6, 5, 5])

    Source: Kobayashi et al. 2020, section 3.
    """
    norms = value_norms(attention, value)
    batch, heads, keys = norms.shape
    if weights.ndim != 4 or (*weights.shape[:2], weights.shape[3]) != (batch, heads, keys):
        raise ValueError(
            f"weights must be (batch, heads, query, key) = ({batch}, {heads}, query, {keys}) with "
            f"these values, got {tuple(weights.shape)}"
        )
    return weights * norms[:, :, None]


def rollout(weights, residual=0.5):
    """Which input tokens each layer's tokens are made of, if weights and residual path say it all.

    Heads are averaged, the residual path counts as a weight on the token itself, and layers are
    multiplied, the later one from the left. Norms, value sizes and feed-forward networks are left
    out, so this is an assumption followed to its end and not a measurement.

    Parameters
    ----------
    weights : sequence of tensors (batch, heads, query, key), one a layer, the first layer first
    residual : number from 0 to 1
        Share of the residual path; one half in the paper.

    Returns
    -------
    tensor (layers, batch, query, input token)
        Rows sum to 1 as those of the weights do.

    Raises
    ------
    ValueError
        If there are no layers, their shapes differ, or the share is not one.

    Examples
    --------
    >>> rollout([torch.tensor([[[[1.0, 0.0], [0.5, 0.5]]]])] * 2)[-1]
    tensor([[[1.0000, 0.0000],
             [0.4375, 0.5625]]])

    Source: Abnar & Zuidema 2020, "Quantifying attention flow in transformers", equation 1.
    """
    if not 0 <= residual <= 1:
        raise ValueError(f"residual must be from 0 to 1, got {residual}")
    shapes = {tuple(layer.shape) for layer in weights}
    if len(shapes) != 1 or len(shape := shapes.pop()) != 4 or shape[2] != shape[3]:
        raise ValueError(
            "weights must be one tensor (batch, heads, time, time) a layer, all of one shape; "
            f"got {[tuple(layer.shape) for layer in weights]}"
        )
    reached, layers = None, []
    for layer in weights:
        mixed = (1 - residual) * layer.mean(dim=1) + residual * torch.eye(shape[-1]).to(layer)
        reached = mixed if reached is None else mixed @ reached
        layers.append(reached)
    return torch.stack(layers)


def gradient_times_input(model, tokens, read, **inputs):
    """How an output would change, to first order, if each token's embedding were taken to zero.

    Parameters
    ----------
    model : Encoder or Decoder
    tokens : integer tensor (batch, time)
    read : function of what the model returns, to a tensor (batch,)
        The output in question: a logit, a probability.
    **inputs
        ``key_mask`` and others that the model takes.

    Returns
    -------
    tensor (batch, time)
        Signed: embedding · gradient, summed over d_model; exact where the output is linear in the
        embeddings. The gradients of the model's parameters stay as they are.

    Raises
    ------
    ValueError
        If ``read`` returns something else than one number a text.

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens = torch.tensor([[1, 2, 3, 4, 5]])
    >>> gradient_times_input(model, tokens, lambda logits: logits[:, -1, 7]).shape
    torch.Size([1, 5])

    Source: Shrikumar et al. 2016, "Not just a black box"; for attention: Jain & Wallace 2019,
    section 4.1, who take the sum of absolute gradients over the entry of each token.
    """
    embedded = []

    def take_leaf(tensor, hook):
        embedded.append(tensor.detach().clone().requires_grad_())
        return embedded[-1]

    with torch.enable_grad():
        result = model.run_with_hooks(tokens, fwd_hooks=[("hook_embed", take_leaf)], **inputs)
        output = _one_number_a_text(read(result), tokens)
        (gradient,) = torch.autograd.grad(output.sum(), embedded)
    return (embedded[0].detach() * gradient).sum(dim=-1)


@torch.no_grad()
def leave_one_out(model, tokens, read, replacement=None, **inputs):
    """How much an output loses when one token is taken out, for each token in turn.

    Parameters
    ----------
    model : Encoder or Decoder
    tokens : integer tensor (batch, time), at least two in time
    read : function of what the model returns, to a tensor (batch,)
        Count positions from the end, ``logits[:, -1]``: without a token there is one less.
    replacement : int, optional
        The token that takes its place, such as [UNK]. If not given the token is removed, and
        those after it move up.
    **inputs
        What else the model takes, the same for every run. Tensors with a place for every token,
        such as ``key_mask``, need a replacement.

    Returns
    -------
    tensor (batch, time)
        Output of the whole text minus output without the token.

    Raises
    ------
    ValueError
        If nothing would be left, or ``read`` returns something else than one number a text.

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens = torch.tensor([[1, 2, 3, 4, 5]])
    >>> leave_one_out(model, tokens, lambda logits: logits[:, -1, 7]).shape
    torch.Size([1, 5])

    Source: Jain & Wallace 2019, "Attention is not explanation", section 4.1 (removed); Abnar &
    Zuidema 2020, section 4 (replaced).
    """
    time = tokens.shape[1]
    if replacement is None and (time < 2 or inputs):
        raise ValueError(
            "to remove a token needs at least two of them, and no inputs with a place for every "
            f"token; got {time} tokens and {', '.join(inputs) or 'no inputs'}: give a replacement"
        )
    whole = _one_number_a_text(read(model(tokens, **inputs)), tokens)
    losses = []
    for place in range(time):
        if replacement is None:
            without = torch.cat([tokens[:, :place], tokens[:, place + 1 :]], dim=1)
        else:
            without = tokens.clone()
            without[:, place] = replacement
        losses.append(whole - _one_number_a_text(read(model(without, **inputs)), tokens))
    return torch.stack(losses, dim=1)


def _one_number_a_text(output, tokens):
    if tuple(output.shape) != (len(tokens),):
        raise ValueError(
            f"read must return one number a text, shape {(len(tokens),)}, got {tuple(output.shape)}"
        )
    return output
