"""Assignment 4: a block, a small GPT, its loss, writing with a cache, and a test for leaks.

What is expected is kept for the inputs of each check; the package has no answer to copy.
"""

from importlib import import_module

import numpy as np

from ._exercise import Case, Misconception, numbers
from ._stored import stored_exercise

__all__ = ["EXERCISES"]


def _with_torch(kind, mistake):
    """A formula of _small_gpt_mistakes, which is imported when it is used."""

    def formula(*inputs):
        module = import_module("._small_gpt_mistakes", __package__)
        return getattr(module, kind)(mistake)(*inputs)

    return formula


def _wrong(kind, **told):
    return tuple(Misconception(text, _with_torch(kind, name)) for name, text in told.items())


BLOCK = _wrong(
    "block",
    open_to_the_future="A token sees later ones: attention needs is_causal=True.",
    post_norm="This is post-norm, the norm of the sum. In pre-norm the stream x is never normed.",
    normed_residual="You added to the normed x. The residual is x itself: nothing else goes past "
    "the norm.",
    no_residual="The residuals are missing: what attention and network find is added to x.",
    side_by_side="The network reads the x from before attention. It comes second, and reads the "
    "sum.",
    one_norm="norm_1 serves twice: norm_2 belongs to the network.",
    no_norm="The norms are missing: attention and network read normed numbers.",
    network_first="The network comes first here. Attention is the first of the two.",
    without_cache="Without a cache this is right, but with one the second go sees nothing of the "
    "first: hand cache and layer on to attention.",
)

GPT = _wrong(
    "gpt",
    no_places="The positions are missing: the model cannot tell the order of what it reads.",
    no_last_norm="The last norm is missing: it stands behind all blocks.",
    probabilities="These are probabilities. Logits are asked for, without the softmax.",
    states="These are the states after the last norm. The head turns them into logits: it is the "
    "embedding matrix once more.",
    places_begin_again="With a cache the positions begin at 0 again: they go on from cache.length.",
    cache_stands_still="The second go knows nothing of the first. Hand the cache to every block, "
    "and move it on when the last one is done: cache.advance.",
    one_layer_of_the_cache="All blocks use layer 0 of the cache. Each needs its own.",
)


# --- the loss ------------------------------------------------------------------------------------


def _losses(logits, tokens):
    """Minus the log-probability (batch, place, token read off) of each of the text's tokens."""
    largest = logits.max(axis=-1, keepdims=True)
    total = np.log(np.exp(logits - largest).sum(axis=-1, keepdims=True)) + largest
    return np.stack([(total - logits)[row][:, texts] for row, texts in enumerate(tokens)])


def _present(logits, tokens):
    losses = np.einsum("btt->bt", _losses(logits, tokens))
    return losses[tokens != 0].mean()


def _past(logits, tokens):
    losses = np.einsum("btt->bt", _losses(logits, tokens)[:, 1:, :-1])
    return losses[tokens[:, :-1] != 0].mean()


def _next(logits, tokens):
    """The losses of the tokens after the first, and which of them are real."""
    return np.einsum("btt->bt", _losses(logits, tokens)[:, :-1, 1:]), tokens[:, 1:] != 0


def _by_text(logits, tokens):
    losses, real = _next(logits, tokens)
    return ((losses * real).sum(axis=1) / real.sum(axis=1)).mean()


def _over_all(logits, tokens):
    losses, real = _next(logits, tokens)
    return (losses * real).sum() / real.size


LOSS = (
    Misconception(
        "You compared each place with the token that stands there, which the model has just read. "
        "It predicts the one after it.",
        _present,
    ),
    Misconception(
        "You compared each place with the token before it. The model predicts the one after it.",
        _past,
    ),
    Misconception(
        "You added up the losses. Take their mean over the tokens that were predicted.",
        lambda logits, tokens: np.where(*_next(logits, tokens)[::-1], 0).sum(),
    ),
    Misconception(
        "These are bits: the natural logarithm gives nats.",
        lambda logits, tokens: np.log2(np.e) * _next(logits, tokens)[0].mean(),
    ),
    Misconception(
        "Padding counts here. A target of 0 is no word: leave it out.",
        lambda logits, tokens: _next(logits, tokens)[0].mean(),
    ),
    Misconception(
        "You divided by all places. Padding was not predicted: divide by the number of real "
        "targets.",
        _over_all,
    ),
    Misconception(
        "You took the mean of each text and then of the texts. Every token counts the same, also "
        "in a long text.",
        _by_text,
    ),
)

WRITING = _wrong(
    "writing",
    newest_alone="The new token is read with nothing before it: the cache of the prompt is to go "
    "on, not a new one.",
    one_too_late="You read off the log-probability one place too late: at the new token itself. "
    "It was predicted at the place before.",
    raw_logits="These are logits. Log-probabilities come from log_softmax.",
    plain_probabilities="These are probabilities: their logarithm is asked for.",
    summed_up="You added up the log-probabilities on the way. Each token has its own.",
    bits="These are bits: the natural logarithm is asked for.",
)

LEAKS = _wrong(
    "leak_test",
    own_place="You compared the changed place itself, or later ones. These may change: only what "
    "stands before must not.",
    first_changed="Your test finds no leak where every place sees every other. Change each token "
    "but the first, and look at the places before it.",
    last_changed="You changed the last token alone. A place can see the future without seeing the "
    "end.",
    neighbour_alone="You looked at the place just before the changed one. Earlier ones can see it "
    "as well.",
    likeliest_alone="You compared which token is likeliest. A leak can be too small for that: "
    "compare the logits.",
    to_the_last_digit="Rounding is no leak: allow a logit to move by 0.00001.",
)

# --- inputs, and what is expected ----------------------------------------------------------------

BLOCK_ANSWERS = (
    (
        Case("4 tokens", {"x": numbers(1, 1, 4, 6), "n_before": 0}),
        [
            [
                [-0.5245421, 1.1142227, -0.6347348, -0.1791997, 5.5722219, -1.2546655],
                [-1.8594566, -0.1109884, 2.1269339, -0.0338881, 2.5957241, -2.152688],
                [0.6058265, -3.1337619, -1.0306166, 3.7628816, 5.3757212, -6.675153],
                [-0.4000929, 1.4520577, -0.1240964, -0.1403965, 4.8258525, -1.215706],
            ]
        ],
    ),
    (
        Case(
            "2 texts of 3 tokens, 2 of them in a cache", {"x": numbers(2, 2, 3, 6), "n_before": 2}
        ),
        [
            [
                [-1.6240039, -0.8612916, -1.7403152, 1.0918752, 4.6574788, -2.5467816],
                [-1.1861993, 1.5804527, 1.5425087, -0.7397884, 3.9217528, -0.7870501],
                [-1.9723334, -2.2546534, 1.204821, 1.7698002, 2.7526828, -4.2914286],
            ],
            [
                [-0.6846759, 0.7250994, -0.9234291, 0.0249046, 5.460718, -1.3793686],
                [-1.7800225, 0.2772436, 1.8672487, -0.2455766, 2.9795721, -1.8550932],
                [0.2409569, -3.147455, -0.6617729, 3.7001319, 5.0550061, -6.5063167],
            ],
        ],
    ),
)

GPT_ANSWERS = (
    (
        Case("4 tokens", {"tokens": np.array([[3, 1, 4, 1]]), "n_before": 0}),
        [
            [
                [-1.1811886, 1.913376, 0.1965491, -0.9129342, 0.5239116],
                [-1.3942954, 1.7378471, 1.1368105, -1.5310327, 0.6727359],
                [-1.5224591, 1.0611929, 0.590687, -2.4979491, 0.5620653],
                [-1.3780883, 1.3938389, 1.5053046, -0.3801318, 0.8514318],
            ]
        ],
    ),
    (
        Case(
            "2 texts of 5 tokens, 3 of them in a cache",
            {"tokens": np.array([[2, 0, 4, 3, 1], [1, 4, 4, 0, 2]]), "n_before": 3},
        ),
        [
            [
                [-0.5292392, 1.1918398, 0.8672253, -1.9517229, 0.1098232],
                [-0.9255942, 1.0792185, 1.0898207, -2.3190797, 0.3040265],
                [-1.1765331, 0.9721752, 0.938193, -2.5387995, 0.3904041],
                [-0.9508169, 1.5471621, 0.2633938, 0.2905125, 0.4975814],
                [-1.2637306, 1.3762964, 1.3572447, -1.936016, 0.5772501],
            ],
            [
                [-0.9527016, 1.0620144, 1.1074466, -2.3217305, 0.3466683],
                [-1.0266248, 1.1059121, 0.862013, -2.48475, 0.3059061],
                [-1.1250644, 0.9675043, 0.8719068, -2.5417339, 0.323935],
                [-0.8674161, 0.9859116, 1.2711357, -2.1699379, 0.2674503],
                [-1.120392, 1.0999131, 0.8198214, -2.5252946, 0.355112],
            ],
        ],
    ),
)

LOSS_ANSWERS = (
    (
        Case("one text", {"logits": numbers(1, 1, 4, 6), "tokens": np.array([[2, 5, 1, 3]])}),
        1.80771499,
    ),
    (
        Case(
            "three texts of unequal length",
            {
                "logits": numbers(2, 3, 5, 7),
                "tokens": np.array([[3, 6, 1, 2, 4], [5, 2, 0, 0, 0], [1, 4, 2, 0, 0]]),
            },
        ),
        2.72264107,
    ),
)

WRITING_ANSWERS = (
    (
        Case("2 texts, 7 new tokens", {"tokens": np.array([[1, 2, 3], [9, 4, 7]]), "n_new": 7}),
        [
            [[1.0, 4.0, 5.0, 5.0, 1.0, 8.0, 8.0], [1.0, 5.0, 1.0, 5.0, 1.0, 8.0, 8.0]],
            [
                [
                    -1.4797712,
                    -1.3861617,
                    -1.1042673,
                    -1.4089534,
                    -1.3997048,
                    -1.2662523,
                    -1.4824894,
                ],
                [-1.4285993, -1.4365222, -1.3499609, -1.381801, -1.365178, -1.1562348, -1.2743946],
            ],
        ],
    ),
    (
        Case("one text, 4 new tokens", {"tokens": np.array([[5, 0, 8, 8, 2]]), "n_new": 4}),
        [[[1.0, 5.0, 1.0, 1.0]], [[-1.5049836, -1.164986, -1.347505, -1.3299863]]],
    ),
)


def _model(name):
    """A model of _small_gpt_mistakes, which is imported when it is used."""

    def model(tokens):
        return getattr(import_module("._small_gpt_mistakes", __package__), name)(tokens)

    model.__name__ = name
    return model


def _looked_at(about, name):
    tokens = np.array([[4, 9, 2, 7, 0], [1, 1, 8, 3, 6]])
    return Case(about, {"model": _model(name), "tokens": tokens, "vocab_size": 11})


LEAKS_ANSWERS = (
    (_looked_at("a model with a causal mask", "causal"), False),
    (_looked_at("a model without a mask", "without_mask"), True),
    (_looked_at("a model whose first place sees the last token", "from_end_to_start"), True),
    (_looked_at("a model whose second place sees the third token", "from_the_middle"), True),
    (_looked_at("a model with a small leak", "a_little"), True),
    (_looked_at("a causal model with differences below 0.000001", "rounding"), False),
)

EXERCISES = (
    stored_exercise(
        "block",
        "the stream x (batch, time, d_model) after the block.",
        BLOCK_ANSWERS,
        BLOCK,
    ),
    stored_exercise(
        "gpt",
        "the logits (batch, time, vocab).",
        GPT_ANSWERS,
        GPT,
    ),
    stored_exercise(
        "text_loss",
        "the mean loss of the predicted tokens in nats, one number.",
        LOSS_ANSWERS,
        LOSS,
    ),
    stored_exercise(
        "written",
        "the new tokens and, under them, their log-probabilities (batch, n_new).",
        WRITING_ANSWERS,
        WRITING,
    ),
    stored_exercise(
        "leaks",
        "True if a place sees a later token, False if none does.",
        LEAKS_ANSWERS,
        LEAKS,
    ),
)
