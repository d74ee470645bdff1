"""Models of text: an encoder, a decoder, and the two together."""

import torch
import torch.nn.functional as F
from torch import nn

from ..hooks import HookedModule, HookPoint
from ._stack import (
    Stack,
    check_key_mask,
    check_tokens,
    check_whole,
    init_weights,
    text_positions,
)

__all__ = ["Decoder", "Encoder", "EncoderDecoder"]


class _TextStack(Stack):
    """A stack whose input is tokens."""

    def __init__(self, config, **kinds):
        config.require(type(self).__name__, "vocab_size")
        super().__init__(config, **kinds)
        self.embed = nn.Embedding(config.vocab_size, config.d_model)
        # Sines and cosines are near 1, so embeddings are brought to that size: Vaswani et al.
        # 2017, section 3.4.
        self.embed_scale = config.d_model**0.5 if config.positions == "sinusoidal" else None

    def embed_tokens(self, tokens):
        check_tokens("tokens", tokens, self.config)
        embedded = self.embed(tokens)
        return embedded if self.embed_scale is None else embedded * self.embed_scale


class Encoder(_TextStack):
    """Reads a text in both directions: tokens (batch, time) to states (batch, time, d_model).

    Parameters
    ----------
    config : Config
        With ``vocab_size``. `Config.bert` is the type of MiniLM.

    Examples
    --------
    >>> from minitransformer.models import Config
    >>> encoder = Encoder(Config.bert(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> states, cache = encoder.run_with_cache(torch.tensor([[1, 2, 3, 4, 5]]))
    >>> states.shape, cache["pattern", 1].shape
    (torch.Size([1, 5, 6]), torch.Size([1, 3, 5, 5]))

    Source: Devlin et al. 2018, "BERT", section 3.
    """

    def __init__(self, config):
        super().__init__(config)
        if config.n_segments:
            self.segment_embed = nn.Embedding(config.n_segments, config.d_model)
            self.hook_segment_embed = HookPoint()  # (batch, time, d_model)
        init_weights(self)

    def forward(self, tokens, *, segments=None, key_mask=None, positions=None, head_mask=None):
        """Return the states (batch, time, d_model).

        Parameters
        ----------
        tokens : integer tensor (batch, time)
        segments : integer tensor (batch, time), optional
            Which sentence each token belongs to; 0 if not given.
        key_mask : boolean tensor (batch, time), optional
            ``True`` = a real token, ``False`` = padding, which nobody attends to.
        positions : integer tensor (time,) or (batch, time), optional
            Counted from 0 without padding if not given.
        head_mask : tensor (n_layers, n_heads), optional
            A factor for each head's output: 0 ablates it.

        Raises
        ------
        ValueError, TypeError
            If something does not fit the model; the message names what came.
        """
        x = self.embed_tokens(tokens)
        if self.config.n_segments:
            segments = torch.zeros_like(tokens) if segments is None else segments
            self._check_segments(segments, tokens)
            x = x + self.hook_segment_embed(self.segment_embed(segments))
        elif segments is not None:
            raise ValueError("this model has no segments: its Config has n_segments 0")
        counted = text_positions(tokens, key_mask, 0, self.config.max_length)
        positions = counted if positions is None else positions
        return self.run(x, positions, key_mask=key_mask, head_mask=head_mask)

    def _check_segments(self, segments, tokens):
        check_whole("segments", segments)
        if segments.shape != tokens.shape:
            raise ValueError(
                f"segments must have the shape of the tokens {tuple(tokens.shape)}, "
                f"got {tuple(segments.shape)}"
            )
        if not 0 <= segments.min() <= segments.max() < self.config.n_segments:
            raise ValueError(
                f"segments must run from 0 to {self.config.n_segments - 1}, got "
                f"{segments.min().item()} to {segments.max().item()}"
            )


class Decoder(_TextStack):
    """Predicts the next token: tokens (batch, time) to logits (batch, time, vocab).

    Parameters
    ----------
    config : Config
        With ``vocab_size``. `Config.gpt2` and `Config.llama` are the usual types.
    cross_attention : bool
        Whether it also reads an encoder's states, as in an `EncoderDecoder`.

    Examples
    --------
    >>> from minitransformer.models import Config
    >>> decoder = Decoder(Config.gpt2(vocab_size=11, n_layers=2, d_model=6, n_heads=3))
    >>> tokens = torch.tensor([[1, 2, 3, 4, 5]])
    >>> decoder(tokens).shape
    torch.Size([1, 5, 11])
    >>> without_a_head = decoder(tokens, head_mask=torch.tensor([[1, 1, 1], [1, 0, 1]]))

    Source: Radford et al. 2019, section 2.3; Touvron et al. 2023, "LLaMA", section 2.2.
    """

    def __init__(self, config, *, cross_attention=False):
        super().__init__(config, is_causal=True, cross_attention=cross_attention)
        if not config.tied_head:
            self.lm_head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        init_weights(self)

    def forward(self, tokens, **inputs):
        """Return the logits (batch, time, vocab); takes what `hidden` takes."""
        return self.unembed(self.hidden(tokens, **inputs))

    def hidden(
        self,
        tokens,
        *,
        key_mask=None,
        positions=None,
        cache=None,
        head_mask=None,
        memory=None,
        memory_mask=None,
        cross_head_mask=None,
    ):
        """Return the states (batch, time, d_model) that `unembed` turns into logits.

        Parameters
        ----------
        tokens : integer tensor (batch, time), only the new ones with a cache
        key_mask : boolean tensor (batch, time), optional
            ``True`` = a real token, ``False`` = padding. With a cache it covers the tokens in
            there too.
        positions : integer tensor (time,) or (batch, time), optional
            If not given, counted on from the cache, or from 0, without padding.
        cache : KVCache, optional
            Where keys and values of earlier tokens are; it moves on by ``time``.
        head_mask, cross_head_mask : tensor (n_layers, n_heads), optional
            A factor for each head's output: 0 ablates it.
        memory : tensor (batch, source time, d_model)
            The states of the encoder, for a decoder with cross-attention.
        memory_mask : boolean tensor (batch, source time), optional, ``True`` = a real token

        What does not fit the model raises an error that names it.
        """
        x = self.embed_tokens(tokens)
        past = 0 if cache is None else cache.length
        counted = text_positions(tokens, key_mask, past, self.config.max_length)
        if memory_mask is not None and memory is not None:
            check_key_mask("memory_mask", memory_mask, memory.shape[:2])
        x = self.run(
            x,
            counted if positions is None else positions,
            key_mask=key_mask,
            cache=cache,
            head_mask=head_mask,
            memory=memory,
            memory_mask=memory_mask,
            cross_head_mask=cross_head_mask,
        )
        if cache is not None:
            cache.advance(tokens.shape[1])  # once, after the last layer
        return x

    def unembed(self, hidden):
        """Logits (..., vocab) of states (..., d_model)."""
        weight = self.embed.weight if self.config.tied_head else self.lm_head.weight
        return F.linear(hidden, weight)


class EncoderDecoder(HookedModule):
    """An encoder for the source and a decoder that reads its states, as in the first transformer.

    Parameters
    ----------
    config : Config
        Of both; each has its own embeddings and blocks.

    Examples
    --------
    >>> from minitransformer.models import Config
    >>> config = Config(vocab_size=11, n_layers=2, d_model=6, n_heads=3, positions="sinusoidal")
    >>> model = EncoderDecoder(config)
    >>> source, target = torch.tensor([[1, 2, 3, 4, 5]]), torch.tensor([[6, 7]])
    >>> logits, cache = model.run_with_cache(source, target)
    >>> logits.shape, cache["decoder.blocks.0.cross_attn.hook_pattern"].shape
    (torch.Size([1, 2, 11]), torch.Size([1, 3, 2, 5]))

    Source: Vaswani et al. 2017, figure 1.
    """

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config, cross_attention=True)

    def encode(self, source, source_mask=None, head_mask=None):
        """The states (batch, source time, d_model) of source tokens (batch, source time)."""
        return self.encoder(source, key_mask=source_mask, head_mask=head_mask)

    def forward(
        self,
        source,
        target,
        *,
        source_mask=None,
        target_mask=None,
        encoder_head_mask=None,
        decoder_head_mask=None,
        cross_head_mask=None,
    ):
        """Return the logits (batch, target time, vocab) of the tokens after those of ``target``.

        Parameters
        ----------
        source : integer tensor (batch, source time)
        target : integer tensor (batch, target time)
            What the decoder has written so far.
        source_mask, target_mask : boolean tensor of the same shapes, optional
            ``True`` = a real token.
        encoder_head_mask, decoder_head_mask, cross_head_mask : tensor (n_layers, n_heads)
            A factor for each head's output: 0 ablates it.
        """
        return self.decoder(
            target,
            key_mask=target_mask,
            head_mask=decoder_head_mask,
            memory=self.encode(source, source_mask, encoder_head_mask),
            memory_mask=source_mask,
            cross_head_mask=cross_head_mask,
        )
