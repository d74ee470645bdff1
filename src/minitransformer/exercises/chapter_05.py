"""Chapter 5: two sequences, their masks, and how well an alignment map agrees with the truth."""

import numpy as np

from ..reference import softmax
from ._crossing_mistakes import CROSSING
from ._exercise import Case, Exercise, Misconception

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def cross_attention(x, context, w_q, w_k, w_v):
    query, key, value = x @ w_q, context @ w_k, context @ w_v
    scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ value


def two_in_one_mask(n_asking, n_answering):
    n = n_asking + n_answering
    mask = np.zeros((n, n), dtype=bool)
    mask[:, n_asking:] = True
    return mask


def key_padding_mask(lengths):
    return np.arange(lengths.max()) >= lengths[:, None]


def agreement(weights, alignment):
    largest = weights.argmax(axis=-1)[..., None]
    hit = np.take_along_axis(alignment, largest, axis=-1)[..., 0]
    return hit[alignment.any(axis=-1)].mean()


# --- what goes wrong -----------------------------------------------------------------------------


def _square(n_asking, n_answering):
    """Who asks and who answers, for a row and for a column of the square."""
    place = np.arange(n_asking + n_answering)
    return place[:, None] >= n_asking, place[None, :] >= n_asking


def _square_of(rule):
    def formula(n_asking, n_answering):
        row, column = _square(n_asking, n_answering)
        return np.broadcast_to(rule(row, column), (row.size, row.size))

    return formula


RECTANGLES = (
    Misconception(
        "The polarity is the wrong way round: True means may attend.",
        _square_of(lambda row, column: ~column),
    ),
    Misconception(
        "Rows and columns are exchanged: a row is a query, a column a key. What is asked for are "
        "the columns of those that answer.",
        _square_of(lambda row, column: row),
    ),
    Misconception(
        "The tokens that answer see nobody here. They do a self-attention of their own: their "
        "rows may attend to the same columns.",
        _square_of(lambda row, column: ~row & column),
    ),
    Misconception(
        "The tokens that ask see nobody here. The rectangle is missing: their rows, and the "
        "columns of those that answer.",
        _square_of(lambda row, column: row & column),
    ),
    Misconception(
        "These are two self-attentions side by side. Those that ask are not to see one another, "
        "but those that answer.",
        _square_of(lambda row, column: row == column),
    ),
    Misconception(
        "Here each side sees only the other one. Those that answer are to see one another, not "
        "those that ask.",
        _square_of(lambda row, column: row != column),
    ),
    Misconception(
        "Those that ask see one another as well, so this is no cross-attention: their output is to "
        "be mixed from the other sequence alone.",
        _square_of(lambda row, column: column | ~row),
    ),
    Misconception(
        "Everybody sees everybody here: no mask at all.",
        _square_of(lambda row, column: np.True_),
    ),
    Misconception(
        "Those that answer stand first here. In the row of tokens those that ask come first.",
        lambda n_asking, n_answering: (
            np.arange(n_asking + n_answering)[None] < n_answering
        ).repeat(n_asking + n_answering, axis=0),
    ),
    Misconception(
        "This is the rectangle alone. The mask is for a self-attention over both sequences in a "
        "row, so it is a square.",
        lambda n_asking, n_answering: np.ones((n_asking, n_answering), dtype=bool),
    ),
)

PADDING = (
    Misconception(
        "True stands at the tokens. That is this book's mask; nn.MultiheadAttention wants the "
        "opposite, True = padding.",
        lambda lengths: np.arange(lengths.max()) < lengths[:, None],
    ),
    Misconception(
        "The last token of each sequence counts as padding. Places count from 0, so the tokens of "
        "a sequence of 3 are at 0, 1 and 2.",
        lambda lengths: np.arange(lengths.max()) >= lengths[:, None] - 1,
    ),
    Misconception(
        "The first place of padding is left out. Places count from 0, so a sequence of 3 has its "
        "first padding at 3: >= and not >.",
        lambda lengths: np.arange(lengths.max()) > lengths[:, None],
    ),
    Misconception(
        "Padding stands on the left here; it is to stand on the right.",
        lambda lengths: np.arange(lengths.max())[::-1] >= lengths[:, None],
    ),
    Misconception(
        "There is a column too many: the longest sequence has no padding at all.",
        lambda lengths: np.arange(lengths.max() + 1) >= lengths[:, None],
    ),
    Misconception(
        "Rows and columns are exchanged: one row for each sequence, one column for each place.",
        lambda lengths: np.arange(lengths.max())[:, None] >= lengths,
    ),
    Misconception(
        "The mask is as wide as the batch is large. It has a column for each place: as many as the "
        "longest sequence has tokens.",
        lambda lengths: np.arange(len(lengths)) >= lengths[:, None],
    ),
    Misconception(
        "arange gives one row and lengths another, and they do not line up: lengths[:, None] makes "
        "a column of the lengths.",
        lambda lengths: np.arange(lengths.max()) >= lengths,
    ),
)


def _hits(weights, alignment, axis=-1):
    largest = np.expand_dims(weights.argmax(axis=axis), axis)
    return np.take_along_axis(alignment, largest, axis=axis).squeeze(axis)


AGREEING = (
    Misconception(
        "Answers that are read off nothing count as misses here. Leave out the rows of alignment "
        "that are False everywhere, and divide by the number of those that remain.",
        lambda weights, alignment: _hits(weights, alignment).mean(),
    ),
    Misconception(
        "This is the weight on the right places, not the share of answers whose largest weight is "
        "on one. The agreement of this chapter takes the largest weight only.",
        lambda weights, alignment: (
            (weights * alignment).sum(axis=-1)[alignment.any(axis=-1)].mean()
        ),
    ),
    Misconception(
        "You looked for the largest weight of each column. A row is a query: the largest weight of "
        "an answer is found along the last axis.",
        lambda weights, alignment: _hits(weights, alignment, -2)[alignment.any(axis=-2)].mean(),
    ),
    Misconception(
        "You compared with the first right place only. An answer may be read off several; any of "
        "them counts.",
        lambda weights, alignment: (weights.argmax(axis=-1) == alignment.argmax(axis=-1))[
            alignment.any(axis=-1)
        ].mean(),
    ),
    Misconception(
        "This is the number of hits. Divide by the number of answers that are read off a place.",
        lambda weights, alignment: _hits(weights, alignment).sum(),
    ),
    Misconception(
        "These are the misses: 1 minus the agreement.",
        lambda weights, alignment: 1 - agreement(weights, alignment),
    ),
    Misconception(
        "You took the mean of each sequence first and then the mean of those. Each answer is to "
        "count the same, so take one mean over the answers of all sequences.",
        lambda weights, alignment: np.mean(
            [agreement(w[None], a[None]) for w, a in zip(weights, alignment, strict=True)]
        ),
    ),
    Misconception(
        "You divided by the number of right places. An answer counts once, however many places it "
        "is read off.",
        lambda weights, alignment: _hits(weights, alignment).sum() / alignment.sum(),
    ),
    Misconception(
        "You counted every weight above one half as a look. The look is the largest weight of its "
        "row, however small.",
        lambda weights, alignment: (
            ((weights > 0.5) & alignment).any(axis=-1)[alignment.any(axis=-1)].mean()
        ),
    ),
)

# --- inputs --------------------------------------------------------------------------------------
# All dimensions of a case differ, so that no two can be mixed up unseen.


def _draw(seed, *shape):
    return np.random.default_rng(seed).integers(-9, 10, shape) / 10


def _sequences(seed, asking, answering, width, context_width, *batch):
    return {
        "x": _draw(seed, *batch, asking, width),
        "context": _draw(seed + 1, *batch, answering, context_width),
        "w_q": _draw(seed + 2, width, 4),
        "w_k": _draw(seed + 3, context_width, 4),
        "w_v": _draw(seed + 4, context_width, 7),
    }


# The last number of each token is a mark; through it the scores of the first pair of sequences are
# near 1000, those of the second near -1000.
FAR = _sequences(30, 3, 5, 6, 6, 2)
FAR["x"][..., -1], FAR["context"][..., -1] = 40, np.array([[50], [-50]])
FAR["w_q"][-1] = FAR["w_k"][-1] = 1
FAR["w_v"][-1] = 0

CROSSINGS = (
    Case("three tokens that ask five, of one width", _sequences(10, 3, 5, 6, 6)),
    Case("a context of another width", _sequences(20, 3, 5, 2, 6)),
    Case("scores far from 0, in a batch of two", FAR),
    Case("a batch of two", _sequences(40, 3, 5, 6, 8, 2)),
)
SQUARES = (
    Case("two tokens that ask three", {"n_asking": np.array(2), "n_answering": np.array(3)}),
    Case("five tokens that ask two", {"n_asking": np.array(5), "n_answering": np.array(2)}),
)
LENGTHS = (
    Case("three sequences", {"lengths": np.array([3, 5, 2])}),
    Case("four sequences, two of them equally long", {"lengths": np.array([7, 1, 4, 7])}),
)


def _map(seed, places, n_places):
    """Weights of different sizes, and a truth that is True at these places of each row."""
    alignment = np.zeros((len(places), len(places[0]), n_places), dtype=bool)
    for at, row in enumerate(places):
        for answer, columns in enumerate(row):
            alignment[at, answer, columns] = True
    return {
        "weights": softmax(2 * _draw(seed, *alignment.shape) + alignment),
        "alignment": alignment,
    }


MAPS = (
    Case(
        "two sequences, five answers, four places",
        _map(114, [[[0], [2, 3], [], [1, 3], [0, 1]], [[2], [], [3], [], [1, 2]]], 4),
    ),
    Case(
        "three sequences, four answers, five places",
        _map(
            23,
            [[[0, 1], [1], [2, 4], [3, 4]], [[4], [], [0], []], [[], [2], [3, 4], [0]]],
            5,
        ),
    ),
)

EXERCISES = (
    Exercise(
        "the output, a row for each token of x: attention whose queries are made of x and whose "
        "keys and values are made of context.",
        cross_attention,
        CROSSINGS,
        CROSSING,
    ),
    Exercise(
        "a square boolean mask over both sequences in a row, those that ask first: all queries may "
        "attend to the tokens that answer, and to no others.",
        two_in_one_mask,
        SQUARES,
        RECTANGLES,
    ),
    Exercise(
        "a boolean array, a row for each sequence and a column for each place: True = padding, as "
        "nn.MultiheadAttention wants it.",
        key_padding_mask,
        LENGTHS,
        PADDING,
    ),
    Exercise(
        "one number: of the answers with at least one right place, the share whose largest weight "
        "lies on a right place.",
        agreement,
        MAPS,
        AGREEING,
    ),
)
