"""Block walk: one token's vector on its way through a transformer block, step by step.

The reader chooses a token and walks from the residual stream through norm, attention and
feed-forward network; switches a part off, or moves the norms, and sees what comes out.
"""

import numpy as np
import traitlets

from ._base import Real, Tokens, Whole, Widget
from ._block_inputs import MOST_WIDTH, Numbers, block_of, check_weights, inputs_of, made_up

__all__ = ["BlockWalk"]

MOST_TOKENS = 8


class BlockWalk(Widget):
    """Walk with one token's vector through a block; `BlockWalk.of` takes a `TransformerBlock`.

    Parameters
    ----------
    tokens : list of 1 to 8 strings
    x : list of rows, shape (tokens, d_model), d_model at most 12
        The residual stream before the block.
    weights : dictionary of nested lists
        The block's weights, by their names in ``block.state_dict()``; at most 32 hidden units.
    n_heads : int
    norm : "layer" or "rms"
    norm_eps : float
    norm_position : "pre" or "post"
    activation : "relu", "gelu", "gelu_tanh" or "swiglu"
    is_causal : bool
    attention, feed_forward : bool
        Whether this part is on; when off, it adds nothing.
    token : int
        Index of the token that is followed.
    step : int, 0 to 6
        Where the walk starts.

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state.

    Examples
    --------
    >>> walk = BlockWalk(norm_position="post")
    >>> walk.output.shape
    (4, 6)

    Source: Vaswani et al. 2017, section 3.1; pre-norm: Xiong et al. 2020, "On layer normalization
    in the transformer architecture", figure 1.
    """

    _module = "block_walk"
    _parts = (*Widget._parts, "linked", "block_math", "block_steps", "block_picture")

    tokens = Tokens(("der", "Hund", "beißt", "Mann"), most=MOST_TOKENS).tag(sync=True)
    x = Numbers(None).tag(sync=True)
    weights = Numbers(None).tag(sync=True)
    n_heads = Whole(2, most=MOST_WIDTH).tag(sync=True)
    norm = traitlets.Enum(("layer", "rms"), "layer").tag(sync=True)
    norm_eps = Real(1e-5, least=0, most=1).tag(sync=True)
    norm_position = traitlets.Enum(("pre", "post"), "pre").tag(sync=True)
    activation = traitlets.Enum(("relu", "gelu", "gelu_tanh", "swiglu"), "relu").tag(sync=True)
    is_causal = traitlets.Bool(False).tag(sync=True)
    attention = traitlets.Bool(True).tag(sync=True)
    feed_forward = traitlets.Bool(True).tag(sync=True)
    token = Whole(2, most=MOST_TOKENS - 1).tag(sync=True)
    step = Whole(0, most=6).tag(sync=True)

    def __init__(self, **inputs):
        if "x" not in inputs and "weights" not in inputs:
            x, weights = made_up()
            inputs = {"x": x, "weights": weights} | inputs
        super().__init__(**inputs)

    @classmethod
    def of(cls, block, x, tokens, **choices):
        """The walk through ``block``, a `TransformerBlock` without rotary or cross-attention.

        Parameters
        ----------
        block : TransformerBlock
        x : tensor (time, d_model) or (1, time, d_model)
        tokens : list of strings
        **choices
            Of the widget's inputs: ``token``, ``step``, ``attention``, ``feed_forward``.

        Examples
        --------
        >>> import torch
        >>> from minitransformer.blocks import TransformerBlock
        >>> block = TransformerBlock(d_model=4, n_heads=2, d_ff=8, is_causal=True)
        >>> BlockWalk.of(block, torch.randn(3, 4), ["a", "b", "c"], token=1)
        BlockWalk(tokens=['a', 'b', 'c'], d_model=4, n_heads=2, d_ff=8, token='b')
        """
        x = x.detach().double().flatten(0, -2).tolist()
        return cls(tokens=tokens, x=x, **inputs_of(block), **choices)

    @traitlets.validate("tokens", "x", "weights", "n_heads", "norm", "activation", "token")
    def _fits(self, proposal):
        names = ("tokens", "x", "weights", "n_heads", "norm", "activation", "token")
        inputs = {name: getattr(self, name) for name in names}
        inputs[proposal["trait"].name] = proposal["value"]
        tokens, x, weights, n_heads, norm, activation, token = inputs.values()
        shape = np.shape(x)
        if len(shape) != 2 or shape[0] != len(tokens) or shape[1] > MOST_WIDTH:
            raise traitlets.TraitError(
                f"x must have shape ({len(tokens)} tokens, d_model) with d_model at most "
                f"{MOST_WIDTH}, got shape {shape}"
            )
        if not isinstance(weights, dict) or n_heads < 1 or token >= len(tokens):
            raise traitlets.TraitError(
                f"weights must be a dictionary, n_heads at least 1 and token 0 to "
                f"{len(tokens) - 1}; got {type(weights).__name__}, {n_heads} and {token}"
            )
        try:
            check_weights(weights, shape[1], n_heads, norm, activation)
        except ValueError as error:
            raise traitlets.TraitError(str(error)) from None
        return proposal["value"]

    @property
    def block(self):
        """The `TransformerBlock` that the inputs describe, in double precision."""
        kinds = ("norm", "norm_eps", "norm_position", "activation", "is_causal")
        return block_of(self.weights, self.n_heads, {name: getattr(self, name) for name in kinds})

    def passes(self):
        """What passes the block's hook points, as arrays by their names; what is off is 0.

        >>> BlockWalk().passes()["attn.hook_pattern"].shape  # (heads, query, key)
        (2, 4, 4)
        """
        import torch

        from ..hooks import hook_points, hooked

        on = {"hook_attn_out": self.attention, "hook_mlp_out": self.feed_forward}
        passed = {}

        def keep(tensor, hook):
            tensor = tensor * on.get(hook.name, True)
            passed[hook.name] = tensor[0].numpy()
            return tensor

        block = self.block
        points = [(name, keep) for name in hook_points(block) if name != "attn.hook_result"]
        with torch.no_grad(), hooked(block, points):
            block(torch.tensor([self.x], dtype=torch.float64))
        return passed

    @property
    def output(self):
        """The residual stream after the block, array (token, d_model)."""
        return self.passes()["hook_resid_post"]

    def _stored_table(self):
        passed = self.passes()
        steps = {
            "comes in": "resid_pre",
            "attention adds": "attn_out",
            "after attention": "resid_mid",
            "feed-forward adds": "mlp_out",
            "comes out": "resid_post",
        }
        rows = [
            [label, *(f"{x:.3f}" for x in passed[f"hook_{name}"][self.token])]
            for label, name in steps.items()
        ]
        caption = f"{self.tokens[self.token]} in a {self.norm_position}-norm block"
        return caption, ["", *(f"dimension {c}" for c in range(len(self.x[0])))], rows

    def __repr__(self):
        return (
            f"BlockWalk(tokens={self.tokens}, d_model={len(self.x[0])}, n_heads={self.n_heads}, "
            f"d_ff={len(self.weights['mlp.up_proj.weight'])}, token={self.tokens[self.token]!r})"
        )
