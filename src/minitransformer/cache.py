"""The key-value cache: what a decoder keeps of the tokens it has read.

A decoder that has read ``t`` tokens needs, for the next one, only the keys and values of those
``t``, and they never change.
"""

import torch

from ._attention_inputs import in_autocast
from .costs import cache_bytes

__all__ = ["KVCache"]


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
            Views into the cache, not copies. Where a gradient is asked for, copies: it flows to
            the new tokens' keys and values and not to those of earlier calls.

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
        if in_autocast(self.keys):
            # There, linear maps give one dtype and rotations another, whatever the weights have.
            key, value = key.to(self.keys.dtype), value.to(self.keys.dtype)
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
        keys, values = self.keys[layer], self.values[layer]
        keys.narrow(2, self.length, time).copy_(key.detach())
        values.narrow(2, self.length, time).copy_(value.detach())
        self._written[layer] = time
        if torch.is_grad_enabled() and (key.requires_grad or value.requires_grad):
            # The next layer, or token, writes to the memory that a view would show to backward().
            past = keys.narrow(2, 0, self.length), values.narrow(2, 0, self.length)
            return torch.cat([past[0], key], dim=2), torch.cat([past[1], value], dim=2)
        return keys.narrow(2, 0, end), values.narrow(2, 0, end)

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
        return cache_bytes(1, n_layers, n_kv_heads, d_head, self.keys.element_size())

    @property
    def bytes_used(self):
        """Bytes of the tokens read so far, for all texts of the batch."""
        return self.bytes_per_token * self.keys.shape[1] * self.length

    @property
    def bytes(self):
        """Bytes taken in all, measured on the tensors: those of ``max_length`` tokens."""
        return self.keys.nbytes + self.values.nbytes
