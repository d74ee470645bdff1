"""Writing text token by token: the key-value cache, sampling and the loop around them.

A decoder that has read ``t`` tokens needs, for the next one, only the keys and values of those
``t``: the cache keeps them, so that a step costs one token's work and not all of it again.
"""

from functools import partial

import torch
import torch.nn.functional as F

from .models import check_key_mask, check_tokens

__all__ = ["KVCache", "generate", "sample", "stream", "top_k_logits", "top_p_logits"]


class KVCache:
    """The keys and values of the tokens read so far, for every layer, in memory taken at once.

    Parameters
    ----------
    n_layers, batch, n_kv_heads, max_length, d_head : int
        The sizes; ``max_length`` is the number of tokens for which there is room.
    dtype : torch.dtype
        Of the keys and values.
    device : optional
        Where they lie.

    Every layer writes with `update`; `advance`, called once when all layers have written, moves
    ``length`` on. So all layers of one forward pass see the same length, and with it the same
    positions.

    Examples
    --------
    >>> cache = KVCache(n_layers=1, batch=1, n_kv_heads=2, max_length=4, d_head=3)
    >>> key = value = torch.ones(1, 2, 3, 3)  # (batch, kv_heads, time, d_head)
    >>> cache.update(0, key, value)[0].shape
    torch.Size([1, 2, 3, 3])
    >>> cache.advance(3)
    >>> cache.length, cache.bytes_per_token, cache.bytes_used, cache.bytes
    (3, 48, 144, 192)

    Source: Pope et al. 2022, "Efficiently scaling transformer inference", section 2.
    """

    def __init__(
        self, n_layers, batch, n_kv_heads, max_length, d_head, *, dtype=torch.float32, device=None
    ):
        sizes = {
            "n_layers": n_layers,
            "batch": batch,
            "n_kv_heads": n_kv_heads,
            "max_length": max_length,
            "d_head": d_head,
        }
        for name, size in sizes.items():
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                raise ValueError(f"{name} must be a positive whole number, got {size!r}")
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape, dtype=dtype, device=device)
        self.values = torch.zeros_like(self.keys)
        self.max_length = max_length
        self.length = 0
        self._written = [0] * n_layers

    @classmethod
    def for_model(cls, model, batch, max_length=None):
        """A cache that fits ``model``, by default as long as the longest text it takes."""
        config, weight = model.config, next(model.parameters())
        return cls(
            config.n_layers,
            batch,
            config.n_kv_heads,
            config.max_length if max_length is None else max_length,
            config.d_head,
            dtype=weight.dtype,
            device=weight.device,
        )

    def update(self, layer, key, value):
        """Write the new keys and values of one layer and return all of its keys and values.

        Parameters
        ----------
        layer : int
        key, value : tensor, (batch, kv_heads, time, d_head)
            Of the new tokens; keys after their rotation, where there is one.

        Returns
        -------
        keys, values : tensor, (batch, kv_heads, length + time, d_head)
            Views into the cache, not copies. No gradient flows through them.

        Raises
        ------
        ValueError
            If the cache has no room left, or the shape or dtype does not fit it.
        """
        n_layers, batch, n_kv_heads, _, d_head = self.keys.shape
        if not 0 <= layer < n_layers:
            raise ValueError(f"the cache has layers 0 to {n_layers - 1}, got layer {layer}")
        time = key.shape[-2]
        expected = (batch, n_kv_heads, time, d_head)
        if key.shape != expected or value.shape != expected:
            raise ValueError(
                "the cache takes keys and values of shape (batch, kv_heads, time, d_head) = "
                f"{expected}, got key {tuple(key.shape)} and value {tuple(value.shape)}"
            )
        if key.dtype != self.keys.dtype or value.dtype != self.keys.dtype:
            raise ValueError(
                f"the cache holds {self.keys.dtype}, got key {key.dtype} and value {value.dtype}"
            )
        end = self.length + time
        if end > self.max_length:
            raise ValueError(
                f"the cache is full: it has room for {self.max_length} tokens, holds "
                f"{self.length} and was given {time} more"
            )
        self.keys[layer, :, :, self.length : end] = key.detach()
        self.values[layer, :, :, self.length : end] = value.detach()
        self._written[layer] = time
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def advance(self, time):
        """Move on by ``time`` tokens, once all layers have written as many.

        Raises
        ------
        ValueError
            If a layer has written another number of tokens: its keys would be out of step.
        """
        for layer, written in enumerate(self._written):
            if written != time:
                raise ValueError(
                    f"cannot advance by {time} tokens: layer {layer} has written {written}"
                )
        self.length += time
        self._written = [0] * len(self._written)

    @property
    def bytes_per_token(self):
        """Bytes for one token of one text: 2 · layers · kv_heads · d_head · bytes per number."""
        n_layers, _, n_kv_heads, _, d_head = self.keys.shape
        return 2 * n_layers * n_kv_heads * d_head * self.keys.element_size()

    @property
    def bytes_used(self):
        """Bytes of the tokens read so far, for all texts of the batch."""
        return self.bytes_per_token * self.keys.shape[1] * self.length

    @property
    def bytes(self):
        """Bytes taken in all, measured on the tensors: those of ``max_length`` tokens."""
        return self.keys.nbytes + self.values.nbytes


def top_k_logits(logits, k):
    """Keep the ``k`` largest logits of each row; the rest becomes -infinity.

    >>> top_k_logits(torch.tensor([1.0, 3.0, 2.0]), 2)
    tensor([-inf, 3., 2.])

    Source: Fan et al. 2018, "Hierarchical neural story generation", section 5.4.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"top_k must be a positive whole number, got {k!r}")
    values, indices = logits.topk(min(k, logits.shape[-1]))
    return torch.full_like(logits, float("-inf")).scatter(-1, indices, values)


def top_p_logits(logits, p):
    """Keep the fewest tokens whose probabilities reach ``p`` together, the likeliest first.

    >>> top_p_logits(torch.log(torch.tensor([0.2, 0.5, 0.3])), 0.6).exp()
    tensor([0.0000, 0.5000, 0.3000])

    Source: Holtzman et al. 2019, "The curious case of neural text degeneration", section 3.1.
    """
    if not 0 < p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {p!r}")
    ordered, indices = logits.sort(descending=True, dim=-1)
    probabilities = ordered.softmax(-1)
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
        If a number is out of its range, the logits hold NaN, or ``top_k`` or ``top_p`` is given
        at temperature 0, where they change nothing.

    Examples
    --------
    >>> sample(torch.tensor([[0.0, 2.0, 1.0]]))
    tensor([1])
    """
    if not 0 <= temperature < float("inf"):
        raise ValueError(f"temperature must be 0 or a positive number, got {temperature!r}")
    if torch.isnan(logits).any():
        raise ValueError("the logits hold NaN: there is no next token to choose")
    if temperature == 0:
        if top_k is not None or top_p is not None:
            raise ValueError("top_k and top_p change nothing at temperature 0; give a temperature")
        return logits.argmax(-1)
    logits = logits.float() / temperature
    if top_k is not None:
        logits = top_k_logits(logits, top_k)
    if top_p is not None:
        logits = top_p_logits(logits, top_p)
    return torch.multinomial(logits.softmax(-1), 1, generator=generator).squeeze(-1)


def generate(model, tokens, max_new_tokens, **options):
    """Continue each text by up to ``max_new_tokens`` tokens.

    Parameters
    ----------
    model : Decoder or EncoderDecoder
    tokens : tensor of int64, (batch, time)
        What the texts begin with.
    max_new_tokens : int
    **options
        Those of `stream`: ``temperature``, ``top_k``, ``top_p``, ``stop_tokens``, ``pad_token``,
        ``generator``, ``use_cache``, ``key_mask``, and ``source`` for an EncoderDecoder.

    Returns
    -------
    tensor of int64, (batch, time + new)
        Shorter than asked for where all texts have come to a stop token.

    Examples
    --------
    >>> from minitransformer.models import Config, Decoder
    >>> model = Decoder(Config.gpt2(vocab_size=7, n_layers=1, d_model=6, n_heads=3))
    >>> generate(model, torch.tensor([[1, 2], [3, 4]]), max_new_tokens=3).shape
    torch.Size([2, 5])
    """
    new = list(stream(model, tokens, max_new_tokens, **options))
    return torch.cat([tokens, torch.stack(new, dim=1)], dim=1) if new else tokens.clone()


def stream(
    model,
    tokens,
    max_new_tokens,
    *,
    temperature=0.0,
    top_k=None,
    top_p=None,
    stop_tokens=(),
    pad_token=None,
    generator=None,
    use_cache=True,
    key_mask=None,
    source=None,
    source_mask=None,
):
    """Yield the next token of each text, one step at a time: `generate` for the impatient.

    Parameters
    ----------
    model, tokens, max_new_tokens
        As for `generate`.
    temperature, top_k, top_p, generator
        As for `sample`.
    stop_tokens : collection of int
        A text ends with the first of them; ``pad_token`` follows while others go on.
    pad_token : int, optional
        The first of ``stop_tokens`` if not given.
    use_cache : bool
        Keep keys and values instead of computing them anew in every step.
    key_mask : boolean tensor, (batch, time), optional
        ``True`` = a real token. Shorter texts are padded on the left, where the mask is False.
    source, source_mask : tensor, (batch, source time), optional
        The tokens an EncoderDecoder reads, and which of them are real.

    Yields
    ------
    tensor of int64, (batch,)

    Raises
    ------
    ValueError, TypeError
        If the tokens, the mask or a number do not fit the model or one another.
    """
    _check_prompt(model, tokens, max_new_tokens, key_mask)
    stop_tokens = [int(token) for token in stop_tokens]
    if pad_token is None and stop_tokens:
        pad_token = stop_tokens[0]
    choose = partial(sample, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator)
    read = _Reader(model, tokens.shape, max_new_tokens, use_cache, key_mask, source, source_mask)
    return _steps(model, read, choose, tokens, max_new_tokens, stop_tokens, pad_token)


class _Reader:
    """Reads new tokens and gives the logits of the next one; holds the cache and the padding."""

    def __init__(self, model, shape, max_new_tokens, use_cache, key_mask, source, source_mask):
        self.model, self.source = model, source
        self.decoder = model if source is None else model.decoder
        self.inputs = {} if source is None else {"memory_mask": source_mask}
        batch, time = shape
        room = time + max_new_tokens - 1  # the last new token is never read
        self.cache = KVCache.for_model(self.decoder, batch, room) if use_cache else None
        padded = key_mask is not None and not key_mask.all()
        self.key_mask = key_mask if padded else None  # without one, attention is plainly causal
        self.read = None

    @torch.no_grad()
    def __call__(self, new):
        if self.source is not None and "memory" not in self.inputs:
            self.inputs["memory"] = self.model.encode(self.source, self.inputs["memory_mask"])
        if self.cache is None:
            new = self.read = new if self.read is None else torch.cat([self.read, new], dim=1)
        hidden = self.decoder.hidden(new, cache=self.cache, key_mask=self.key_mask, **self.inputs)
        if self.key_mask is not None:
            self.key_mask = F.pad(self.key_mask, (0, 1), value=True)
        return self.decoder.unembed(hidden[:, -1])


def _steps(model, read, choose, unread, max_new_tokens, stop_tokens, pad_token):
    """The loop itself; a model in training is put into evaluation for as long as it runs."""
    stopped = torch.zeros(len(unread), dtype=torch.bool, device=unread.device)
    stop_tokens = torch.tensor(stop_tokens, dtype=unread.dtype, device=unread.device)
    was_training = model.training
    if was_training:
        model.eval()
    try:
        for _ in range(max_new_tokens):
            token = choose(read(unread))
            if len(stop_tokens):
                token = torch.where(stopped, pad_token, token)
                stopped |= torch.isin(token, stop_tokens)
            yield token
            if len(stop_tokens) and stopped.all():
                return
            unread = token[:, None]
    finally:
        if was_training:
            model.train()


def _check_prompt(model, tokens, max_new_tokens, key_mask):
    check_tokens("tokens", tokens, model.config)
    if isinstance(max_new_tokens, bool) or not isinstance(max_new_tokens, int):
        raise TypeError(f"max_new_tokens must be a whole number, got {max_new_tokens!r}")
    if max_new_tokens < 0:
        raise ValueError(f"max_new_tokens must not be negative, got {max_new_tokens}")
    longest = model.config.max_length
    if tokens.shape[1] + max_new_tokens > longest:
        raise ValueError(
            f"{tokens.shape[1]} tokens and {max_new_tokens} new ones are more than the model's "
            f"max_length {longest}"
        )
    if key_mask is None:
        return
    check_key_mask("key_mask", key_mask, tokens.shape)
    if not (key_mask[:, -1].all() and (key_mask.int().diff(dim=1) >= 0).all()):
        raise ValueError("texts must be padded on the left: the last token of each must be real")
