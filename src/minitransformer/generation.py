"""Writing text token by token: the loop around `sample`.

With the `KVCache` a step costs one token's work, and not all of the text's again.
"""

from contextlib import contextmanager
from functools import partial
from operator import index

import torch
import torch.nn.functional as F
from torch import nn

from .cache import KVCache
from .models import check_key_mask, check_tokens
from .sampling import check_choice, sample, top_k_logits, top_p_logits

__all__ = [
    "KVCache",
    "generate",
    "lay_out_for_decoding",
    "sample",
    "stream",
    "top_k_logits",
    "top_p_logits",
]


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


@torch.no_grad()
def lay_out_for_decoding(model):
    """Store a model's matrices in the order in which a CPU decodes fastest in their dtype.

    A step of one token multiplies each matrix by one vector and waits for memory. In float32 the
    product with a matrix of more rows than columns runs through columns up to 1.8 times as fast as
    through rows; in bfloat16 rows are the faster order, and `generate` counts on them. Shapes and
    values stay as they are. After ``model.to(dtype)``, which keeps the order, call this again.

    Examples
    --------
    >>> linear = lay_out_for_decoding(torch.nn.Linear(3, 7))
    >>> linear.weight.shape, linear.weight.stride()
    (torch.Size([7, 3]), (1, 7))
    """
    for part in model.modules():
        if isinstance(part, (nn.Linear, nn.Embedding)):
            weight = part.weight.data
            by_columns = weight.dtype == torch.float32 and weight.shape[0] > weight.shape[1]
            part.weight.data = weight.T.contiguous().T if by_columns else weight.contiguous()
    return model


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

    What does not fit the model raises an error at once, not at the first step.
    """
    _check_prompt(model, tokens, max_new_tokens, key_mask)
    _check_source(model, tokens, source, source_mask)
    check_choice(temperature, top_k, top_p)
    stop_tokens, pad_token = _check_stops(model, stop_tokens, pad_token)
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
        room = max(1, time + max_new_tokens - 1)  # the last new token is never read
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
        with _fastest_products(new, self.decoder.embed.weight):
            inputs = {"cache": self.cache, "key_mask": self.key_mask, **self.inputs}
            logits = self.decoder.unembed(self.decoder.hidden(new, **inputs)[:, -1])
        if self.key_mask is not None:
            self.key_mask = F.pad(self.key_mask, (0, 1), value=True)
        return logits


@contextmanager
def _fastest_products(new, weight):
    """For one new token in bfloat16 on a CPU, multiply without oneDNN.

    PyTorch's own product of a bfloat16 matrix, laid out by rows, and one vector is 2 to 3 times as
    fast as the one that oneDNN computes for it, and as exact. With more tokens at once, or with
    columns, oneDNN is the faster. ``weight`` stands for all of the model's. Where a program has
    frozen PyTorch's global flags, as PyTorch's own test helpers do, all stays as it is.
    """
    by_rows = weight.dtype == torch.bfloat16 and weight.is_contiguous()
    on_cpu = weight.device.type == "cpu" and torch.backends.mkldnn.enabled
    if not (new.numel() == 1 and by_rows and on_cpu) or torch.backends.flags_frozen():
        yield
        return
    torch.backends.mkldnn.enabled = False
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = True


@contextmanager
def _evaluation(model):
    """A model in training is put into evaluation for one step; then each part is as it was.

    For one step, and not for all of them: between two steps other code runs, another stream of the
    same model perhaps, and its parts must have their own modes then.
    """
    if not model.training:
        yield
        return
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def _steps(model, read, choose, unread, max_new_tokens, stop_tokens, pad_token):
    stopped = torch.zeros(len(unread), dtype=torch.bool, device=unread.device)
    stop_tokens = torch.tensor(stop_tokens, dtype=unread.dtype, device=unread.device)
    for _ in range(max_new_tokens):
        with _evaluation(model):
            logits = read(unread)
        token = choose(logits)
        if len(stop_tokens):
            token = torch.where(stopped, pad_token, token)
            stopped |= torch.isin(token, stop_tokens)
        yield token
        if len(stop_tokens) and stopped.all():
            return
        unread = token[:, None]


def _check_stops(model, stop_tokens, pad_token):
    """The stop tokens as a list of int, and the token that follows them, or None without any."""
    try:
        stop_tokens = list(stop_tokens)
    except TypeError:
        raise TypeError(f"stop_tokens must be a collection of int, got {stop_tokens!r}") from None
    stop_tokens = [_check_token("stop_tokens", token, model) for token in stop_tokens]
    if pad_token is not None:
        return stop_tokens, _check_token("pad_token", pad_token, model)
    return stop_tokens, stop_tokens[0] if stop_tokens else None


def _check_token(name, token, model):
    try:
        token = index(token)
    except TypeError:
        raise TypeError(f"{name} takes whole numbers, got {token!r}") from None
    highest = model.config.vocab_size - 1
    if not 0 <= token <= highest:
        raise ValueError(f"{name} must run from 0 to {highest}, got {token}")
    return token


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


def _check_source(model, tokens, source, source_mask):
    if hasattr(model, "encoder") != (source is not None):
        raise ValueError(
            f"{type(model).__name__} reads no source"
            if source is not None
            else f"{type(model).__name__} reads a source: give it one"
        )
    if source is None:
        return
    check_tokens("source", source, model.config)
    if source.shape[1] > model.config.max_length:
        raise ValueError(
            f"the source has {source.shape[1]} tokens, more than the model's max_length "
            f"{model.config.max_length}"
        )
    if len(source) != len(tokens):
        raise ValueError(f"there are {len(tokens)} texts, but {len(source)} sources")
    if source_mask is not None:
        check_key_mask("source_mask", source_mask, source.shape)
