"""Head view: attention of a whole model on stored texts, all heads at once and one of them large.

The weights are stored in 255 steps and compressed; the page unpacks them when the reader asks.
"""

import zlib
from base64 import b64decode, b64encode

import numpy as np
import traitlets

from .._checks import as_float
from ._base import Whole, Widget

__all__ = ["HeadView", "pack_weights"]

MOST_LAYERS, MOST_HEADS, MOST_TOKENS, MOST_BYTES = 48, 32, 128, 2_500_000
STEPS = 255
HIDE = ("nothing", "first token", "first + marks")


def pack_weights(weights):
    """Weights (layer, head, query, key) as text: 255 steps, compressed, base64.

    Raises
    ------
    ValueError, TypeError
        If these are no weights: a row neither sums to 1 nor is 0; or if they are too large.

    >>> len(zlib.decompress(b64decode(pack_weights(np.ones((2, 3, 5, 5)) / 5))))
    150
    """
    weights = as_float("weights", weights)
    if weights.ndim != 4 or weights.shape[2] != weights.shape[3] or weights.size == 0:
        raise ValueError(f"weights must be (layer, head, query, key), got {weights.shape}")
    sums = weights.sum(axis=-1)
    if not (weights >= 0).all() or not (np.isclose(sums, 1, atol=1e-3) | (sums == 0)).all():
        raise ValueError("weights must not be negative, and each row must sum to 1 or be 0")
    steps = np.rint(weights * STEPS).astype(np.uint8)
    text = b64encode(zlib.compress(steps.tobytes(), 9)).decode()
    if len(text) > MOST_BYTES:
        raise ValueError(f"weights take {len(text)} bytes packed, more than {MOST_BYTES}")
    return text


class Texts(traitlets.TraitType):
    """A list of [title, tokens]."""

    def make_dynamic_default(self):
        return [[title, list(tokens)] for title, tokens in self.default_value]

    def validate(self, obj, value):
        for text in value if isinstance(value, (list, tuple)) and value else [None]:
            fits = isinstance(text, (list, tuple)) and len(text) == 2 and isinstance(text[0], str)
            tokens = text[1] if fits else None
            if not isinstance(tokens, (list, tuple)) or not 1 <= len(tokens) <= MOST_TOKENS:
                raise traitlets.TraitError(
                    f"{self.name} must be a list of [title, 1 to {MOST_TOKENS} tokens], got "
                    f"{str(text)[:60]!r}"
                )
            if not all(isinstance(token, str) for token in tokens):
                raise traitlets.TraitError(
                    f"{self.name}: the tokens of {text[0]!r} must be strings"
                )
        return [[title, list(tokens)] for title, tokens in value]


def _made_up():
    """Weights of 2 layers of 2 heads on 5 tokens: to the token before, to all, to the first, to a
    token itself."""
    first, equal = np.zeros((5, 5)), np.full((5, 5), 0.2)
    first[:, 0] = 1
    before = np.eye(5, k=-1) + np.diag([1.0, 0, 0, 0, 0])
    return 0.1 * equal + 0.9 * np.array([[before, equal], [first, np.eye(5)]])


class HeadView(Widget):
    """Look at all heads of a model on stored texts; `HeadView.of` takes weights.

    Parameters
    ----------
    model : str
        Name of the model.
    n_layers, n_heads : int, up to 48 and 32
    texts : list of [title, tokens], up to 128 tokens each
    maps : list of str
        The weights of each text, as `pack_weights` makes them.
    text, layer, head, query : int
        What is looked at first.
    hide : "nothing", "first token" or "first + marks"
        Keys that are not shown: marks are punctuation and special tokens such as [SEP].

    Raises
    ------
    traitlets.TraitError
        If an input does not fit; a widget that exists keeps its old state.

    Examples
    --------
    >>> HeadView().weights(0)[1, 0, 3].round(2)  # layer 1, head 0: the fourth token's row
    array([0.92, 0.02, 0.02, 0.02, 0.02])

    Source: Vig 2019, "A multiscale visualization of attention in the transformer model", section 3.
    """

    _module = "head_view"
    _parts = (*Widget._parts, "linked", "head_maps")
    _sidecar = "maps"  # the site keeps these texts in files of their own

    model = traitlets.Unicode("a made-up model").tag(sync=True)
    n_layers = Whole(2, least=1, most=MOST_LAYERS).tag(sync=True)
    n_heads = Whole(2, least=1, most=MOST_HEADS).tag(sync=True)
    texts = Texts((("a dog", ("[CLS]", "the", "dog", "sleeps", "[SEP]")),)).tag(sync=True)
    maps = traitlets.List(traitlets.Unicode()).tag(sync=True)
    text = Whole(0, most=99).tag(sync=True)
    layer = Whole(0, most=MOST_LAYERS - 1).tag(sync=True)
    head = Whole(0, most=MOST_HEADS - 1).tag(sync=True)
    query = Whole(0, most=MOST_TOKENS - 1).tag(sync=True)
    hide = traitlets.Enum(HIDE, "nothing").tag(sync=True)

    @traitlets.default("maps")
    def _default_maps(self):
        return [pack_weights(_made_up())]

    @classmethod
    def of(cls, model, texts, **choices):
        """The view of ``texts``, a list of (title, tokens, weights (layer, head, query, key)).

        Examples
        --------
        >>> weights = np.full((3, 2, 4, 4), 0.25)
        >>> HeadView.of("a model", [("a text", list("abcd"), weights)], layer=2)
        HeadView(model='a model', layers=3, heads=2, texts=['a text'])
        """
        n_layers, n_heads = np.shape(texts[0][2])[:2]
        return cls(
            model=model,
            n_layers=n_layers,
            n_heads=n_heads,
            texts=[[title, tokens] for title, tokens, _ in texts],
            maps=[pack_weights(np.asarray(weights)) for *_, weights in texts],
            **choices,
        )

    @traitlets.validate("n_layers", "n_heads", "texts", "maps", "text", "layer", "head", "query")
    def _fits(self, proposal):
        names = ("n_layers", "n_heads", "texts", "maps", "text", "layer", "head", "query")
        inputs = {name: getattr(self, name) for name in names}
        inputs[proposal["trait"].name] = proposal["value"]
        n_layers, n_heads, texts, maps = (inputs[name] for name in names[:4])
        if len(texts) != len(maps) or sum(map(len, maps)) > MOST_BYTES:
            raise traitlets.TraitError(
                f"every text needs its maps, of at most {MOST_BYTES} bytes together: got "
                f"{len(texts)} texts, {len(maps)} maps of {sum(map(len, maps))} bytes"
            )
        for (title, tokens), packed in zip(texts, maps, strict=True):
            expected = n_layers * n_heads * len(tokens) ** 2
            try:
                found = len(zlib.decompress(b64decode(packed, validate=True)))
            except (ValueError, zlib.error) as error:
                raise traitlets.TraitError(
                    f"the maps of {title!r} do not unpack: {error}"
                ) from None
            if found != expected:
                raise traitlets.TraitError(
                    f"the maps of {title!r} hold {found} weights, but {n_layers} layers of "
                    f"{n_heads} heads on {len(tokens)} tokens have {expected}"
                )
        n_tokens = len(texts[min(inputs["text"], len(texts) - 1)][1])
        limits = {"text": len(texts), "layer": n_layers, "head": n_heads, "query": n_tokens}
        for name, limit in limits.items():
            if inputs[name] >= limit:
                raise traitlets.TraitError(f"{name} must be 0 to {limit - 1}, got {inputs[name]}")
        return proposal["value"]

    def weights(self, text):
        """The stored weights of a text, array (layer, head, query, key), within 1 / 510."""
        steps = np.frombuffer(zlib.decompress(b64decode(self.maps[text])), np.uint8)
        n_tokens = len(self.texts[text][1])
        return steps.reshape(self.n_layers, self.n_heads, n_tokens, n_tokens) / STEPS

    def _stored_table(self):
        first = self.weights(self.text)[:, :, 1:, 0].mean(axis=-1)
        title = self.texts[self.text][0]
        rows = [[f"layer {i}", *(f"{x:.2f}" for x in row)] for i, row in enumerate(first)]
        caption = f"{self.model}, {title}: mean weight of the first token, for the queries after it"
        return caption, ["", *(f"head {h}" for h in range(self.n_heads))], rows

    def __repr__(self):
        return (
            f"HeadView(model={self.model!r}, layers={self.n_layers}, heads={self.n_heads}, "
            f"texts={[title for title, _ in self.texts]})"
        )
