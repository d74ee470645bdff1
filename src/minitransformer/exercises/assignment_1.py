"""Assignment 1: softmax along any axis, half precision, a zero key, effects of keys, a scale.

What is expected is kept for the inputs of each check; the package has no answer to copy.
"""

import numpy as np

from ._exercise import Case, numbers
from ._scaled_mistakes import ALONG, HALF, finding, passing, without
from ._stored import stored_exercise

__all__ = ["EXERCISES"]


def _along(about, scores, axis, temperature):
    return Case(about, {"scores": scores, "axis": axis, "temperature": temperature})


_COLUMNS = np.array([[1500.2, -800.1, 3.0], [1500.9, -799.5, 2.0]])
_COLD = np.array([[3000.0, 2999.0, 3000.0], [-4000.0, -4001.0, -4002.0]])

ALONG_ANSWERS = (
    (
        _along("two rows of three scores", numbers(1, 2, 3), -1, 2.0),
        [[0.5447754, 0.3651739, 0.0900508], [0.184322, 0.6119706, 0.2037073]],
    ),
    (
        _along("the middle axis of three", numbers(2, 2, 4, 3), 1, 0.8),
        [
            [
                [0.574753, 0.0149251, 0.0124742],
                [0.3950216, 0.2645542, 0.0085734],
                [0.0252529, 0.6346325, 0.104445],
                [0.0049726, 0.0858882, 0.8745074],
            ],
            [
                [0.0205824, 0.0083487, 0.8321707],
                [0.3219629, 0.0094604, 0.0531989],
                [0.6015059, 0.1305963, 0.0152417],
                [0.0559488, 0.8515946, 0.0993886],
            ],
        ],
    ),
    (
        _along("the first axis of three", numbers(3, 3, 4, 2), 0, 1.5),
        [
            [
                [0.6611734, 0.1014173],
                [0.1550712, 0.6531024],
                [0.4783155, 0.0693565],
                [0.283822, 0.7082166],
            ],
            [
                [0.1862984, 0.197534],
                [0.450587, 0.2745318],
                [0.2010601, 0.2154209],
                [0.4838043, 0.2133107],
            ],
            [
                [0.1525282, 0.7010487],
                [0.3943417, 0.0723658],
                [0.3206244, 0.7152226],
                [0.2323738, 0.0784726],
            ],
        ],
    ),
    (
        _along("scores far from 0", _COLUMNS, 0, 1.2),
        [[0.358166, 0.3775407, 0.6970593], [0.641834, 0.6224593, 0.3029407]],
    ),
    (_along("a temperature close to 0", _COLD, 1, 1e-305), [[0.5, 0.0, 0.5], [1.0, 0.0, 0.0]]),
)


def _halves(about, queries, keys, width):
    """Vectors whose entries are all the same, so that every way to sum them up is exact."""
    parts = {"query": queries, "key": keys}
    wide = {name: np.array(one)[..., None] * np.ones(width) for name, one in parts.items()}
    return Case(about, {name: one.astype(np.float16) for name, one in wide.items()})


HALF_ANSWERS = (
    (
        _halves("two queries, three keys, small numbers", [2, -1], [1, 3, 0.5], 16),
        [[8, 24, 4], [-4, -12, -2]],
    ),
    (
        _halves("products beyond 65 504", [120, -100, 60], [120, 64, 40, -88], 16),
        [
            [57600.0, 30720.0, 19200.0, -42240.0],
            [-48000.0, -25600.0, -16000.0, 35200.0],
            [28800.0, 15360.0, 9600.0, -21120.0],
        ],
    ),
    (
        _halves(
            "a batch of two, 256 numbers wide",
            [[16, -32, 32], [-16, 16, 32]],
            [[32, 64, 96, -64], [64, -96, 32, 32]],
            256,
        ),
        [
            [
                [8192.0, 16384.0, 24576.0, -16384.0],
                [-16384.0, -32768.0, -49152.0, 32768.0],
                [16384.0, 32768.0, 49152.0, -32768.0],
            ],
            [
                [-16384.0, 24576.0, -8192.0, -8192.0],
                [16384.0, -24576.0, 8192.0, 8192.0],
                [32768.0, -49152.0, 16384.0, 16384.0],
            ],
        ],
    ),
)


def _mixing(about, query, key, value):
    return Case(about, {"query": query, "key": key, "value": value})


PASSING_ANSWERS = (
    (
        _mixing("3 queries, 4 keys", numbers(1, 3, 2), numbers(2, 4, 2), numbers(3, 4, 5)),
        [
            [0.2776021, -1.1787967, 0.008434, 1.1361937, -0.3259868],
            [-1.1198504, 0.3821568, 0.9644972, -0.6695675, -0.8175896],
            [0.7227499, -1.1147219, -0.4592766, 1.1964766, 0.13542],
        ],
    ),
    (
        _mixing(
            "a batch of 2, 3 heads",
            numbers(4, 2, 3, 2, 4),
            numbers(5, 2, 3, 5, 4),
            numbers(6, 2, 3, 5, 2),
        ),
        [
            [
                [[-0.4309721, 1.2203521], [-0.4127539, 1.0195623]],
                [[-0.502168, 0.2908204], [-0.2517357, -0.000895]],
                [[-0.2257048, -0.5815109], [-0.3024266, -1.1120832]],
            ],
            [
                [[0.0545981, 0.0947306], [0.0445053, 0.0515015]],
                [[-1.4551786, 0.3851063], [-1.2784589, 0.3044654]],
                [[-0.5817912, -0.3645468], [-0.0875506, -0.2808899]],
            ],
        ],
    ),
    (
        _mixing(
            "scores far from 0",
            np.array([[60.0, 20.0], [-60.0, -20.0], [0.0, 0.1]]),
            np.array([[30.0, 10.0], [30.01, 9.98], [29.99, 10.01], [29.98, 10.0]]),
            numbers(7, 4, 3),
        ),
        [[-0.4502116, 0.8379886, 0.2216496], [0.0, 0.0, 0.0], [-0.4897518, 0.3333181, 0.4008691]],
    ),
)

WITHOUT_ANSWERS = (
    (
        _mixing("3 queries, 4 keys", numbers(8, 3, 2), numbers(9, 4, 2), numbers(10, 4, 5)),
        [
            [1.7433232, 0.1668081, 0.8981295, 0.28405],
            [0.0511608, 3.4331723, 0.2089032, 0.8847083],
            [3.6622901, 0.0209184, 1.408126, 0.0362094],
        ],
    ),
    (
        _mixing("a batch of 2", numbers(11, 2, 4, 3), numbers(12, 2, 5, 3), numbers(13, 2, 5, 2)),
        [
            [
                [0.3363561, 3.23744, 0.1017109, 0.0002757, 0.0006374],
                [0.0302573, 1.4722833, 1.9277786, 0.0569251, 0.0032271],
                [0.0043119, 0.0020859, 0.2225946, 2.9730116, 0.5240942],
                [0.0059527, 0.0003862, 0.001803, 0.81635, 3.0299895],
            ],
            [
                [1.5942126, 0.3353948, 0.0062907, 0.0388794, 0.2745273],
                [0.221662, 3.5568825, 0.2849509, 0.0007032, 0.0008507],
                [0.0088553, 1.4518409, 2.5479026, 0.0413403, 0.0006634],
                [0.0143682, 0.0101704, 0.4399201, 2.824538, 0.5183097],
            ],
        ],
    ),
)


def _wanted(about, products, entropy):
    return Case(about, {"products": np.array(products), "entropy": entropy})


SCALE_ANSWERS = (
    (_wanted("two keys", [0.0, 3.0], 0.562335), 0.3662043),
    (_wanted("four keys", [1.3, -0.4, 0.9, 2.1], 0.9), 1.5005584),
    (
        _wanted("products close to one another", [0.03, 0.01, 0.04, -0.02, 0.02], 0.7),
        143.498837,
    ),
    (_wanted("products far apart", [900.0, 300.0, 700.0], 0.4), 0.0096031),
    (
        _wanted("two keys that share the largest product", [2.0, -1.0, 2.0, 1.0, 0.5, 0.0], 0.8),
        3.2666834,
    ),
)


def _known(place):
    """The kept answers of a question, for the mistakes that start from them."""
    return lambda *arguments: EXERCISES[place].solution(*arguments)


EXERCISES = (
    stored_exercise(
        "softmax_along",
        "the weights: softmax of scores / temperature along axis, in the shape of scores.",
        ALONG_ANSWERS,
        ALONG,
    ),
    stored_exercise(
        "half_scores",
        "the scores (..., query, key) in float16, right wherever they fit into it.",
        tuple((case, np.float16(scores)) for case, scores in HALF_ANSWERS),
        HALF,
    ),
    stored_exercise(
        "attention_with_zero_key",
        "the output (..., query, d_v) of attention with one more key and value, both of zeros.",
        PASSING_ANSWERS,
        passing(_known(2)),
    ),
    stored_exercise(
        "key_effects",
        "for each query and key, how far the output moves when that key is left out.",
        WITHOUT_ANSWERS,
        without(_known(3)),
        (
            (
                _mixing("a single key", numbers(1, 2, 3), numbers(2, 1, 3), numbers(3, 1, 2)),
                ValueError,
            ),
        ),
    ),
    stored_exercise(
        "scale_for_entropy",
        "the positive number c for which softmax(c * products) has the entropy that is asked for.",
        SCALE_ANSWERS,
        finding(_known(4)),
    ),
)
