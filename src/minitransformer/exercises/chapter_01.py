"""Chapter 1: an RNN's states, the product of its Jacobians, decay, and accuracy by distance."""

import numpy as np

from ._exercise import Case, Exercise, Misconception

__all__ = ["EXERCISES"]

# --- solutions -----------------------------------------------------------------------------------


def rnn_states(x, w, u, b):
    h = np.zeros(len(u))
    states = []
    for token in x:
        h = np.tanh(w @ token + u @ h + b)
        states.append(h)
    return np.array(states)


def jacobian_product(states, u):
    product = np.eye(len(u))
    for h in states[1:]:
        product = np.diag(1 - h**2) @ u @ product
    return product


def steps_until(factor, share):
    return np.ceil(np.log(share) / np.log(factor))


def accuracy_by_distance(right, distance):
    return np.array([right[distance == d].mean() for d in np.unique(distance)])


# --- what goes wrong in the states ---------------------------------------------------------------


def _run(step, x, u):
    h, states = np.zeros(len(u)), []
    for token in x:
        h = step(token, h)
        states.append(h)
    return np.array(states)


STEPPING = (
    Misconception(
        "The tanh is missing: the new state is tanh of the whole sum.",
        lambda x, w, u, b: _run(lambda token, h: w @ token + u @ h + b, x, u),
    ),
    Misconception(
        "The old state has no part in it: add u @ h before tanh, and keep the new h for the next "
        "step.",
        lambda x, w, u, b: np.tanh(x @ w.T + b),
    ),
    Misconception(
        "You returned the last state alone. All of them are asked for, one row a token.",
        lambda x, w, u, b: rnn_states(x, w, u, b)[-1],
    ),
    Misconception(
        "The bias b is missing.",
        lambda x, w, u, b: _run(lambda token, h: np.tanh(w @ token + u @ h), x, u),
    ),
    Misconception(
        "You used uᵀ. Row i of u makes number i of the new state: u @ h.",
        lambda x, w, u, b: _run(lambda token, h: np.tanh(w @ token + h @ u + b), x, u),
    ),
    Misconception(
        "You took tanh of the parts and added them up. Add first, then take one tanh.",
        lambda x, w, u, b: _run(lambda token, h: np.tanh(w @ token + b) + np.tanh(u @ h), x, u),
    ),
    Misconception(
        "You added the new state to the old one. A plain RNN replaces it.",
        lambda x, w, u, b: _run(lambda token, h: h + np.tanh(w @ token + u @ h + b), x, u),
    ),
    Misconception(
        "You read the text backwards. Start with the first token.",
        lambda x, w, u, b: rnn_states(x[::-1], w, u, b),
    ),
    Misconception(
        "Yours has the zeros before the first token as a first row. Begin with the state after "
        "the first token.",
        lambda x, w, u, b: np.vstack([np.zeros(len(u)), rnn_states(x, w, u, b)]),
    ),
)

# --- what goes wrong in the product --------------------------------------------------------------


def _multiply(factors, size):
    product = np.eye(size)
    for factor in factors:
        product = factor @ product
    return product


CHAINING = (
    Misconception(
        "The order is reversed. The change meets the first step first, so later Jacobians are "
        "multiplied on from the left.",
        lambda states, u: _multiply([np.diag(1 - h**2) @ u for h in states[:0:-1]], len(u)),
    ),
    Misconception(
        "The slopes stand on the wrong side: diag(1 - h²) @ u, since tanh comes after u.",
        lambda states, u: _multiply([u @ np.diag(1 - h**2) for h in states[1:]], len(u)),
    ),
    Misconception(
        "You took the slopes at the states before the steps. They belong to the state that a step "
        "leads to: states[1:].",
        lambda states, u: _multiply([np.diag(1 - h**2) @ u for h in states[:-1]], len(u)),
    ),
    Misconception(
        "One factor too many: the change begins after the first state, so its own step is not in "
        "the product.",
        lambda states, u: _multiply([np.diag(1 - h**2) @ u for h in states], len(u)),
    ),
    Misconception(
        "The slope of tanh is missing: each step is diag(1 - h²) @ u.",
        lambda states, u: _multiply([u for h in states[1:]], len(u)),
    ),
    Misconception(
        "The slope of tanh, written with its value h, is 1 - h², not 1 - h.",
        lambda states, u: _multiply([np.diag(1 - h) @ u for h in states[1:]], len(u)),
    ),
    Misconception(
        "states are already values of tanh: do not take tanh of them once more.",
        lambda states, u: _multiply([np.diag(1 - np.tanh(h) ** 2) @ u for h in states[1:]], len(u)),
    ),
    Misconception(
        "You used uᵀ, as the way back in training does. The derivative itself has u.",
        lambda states, u: _multiply([np.diag(1 - h**2) @ u.T for h in states[1:]], len(u)),
    ),
    Misconception(
        "You added the Jacobians. The chain rule multiplies them.",
        lambda states, u: sum(np.diag(1 - h**2) @ u for h in states[1:]),
    ),
    Misconception(
        "You multiplied number by number (*). The chain rule takes matrix products (@).",
        lambda states, u: np.prod([(1 - h**2)[:, None] * u for h in states[1:]], axis=0),
    ),
)

# --- what goes wrong in the decay ----------------------------------------------------------------

DECAYING = (
    Misconception(
        "Steps are whole numbers: round up.",
        lambda factor, share: np.log(share) / np.log(factor),
    ),
    Misconception(
        "Rounded down, one step is missing: what is left is still more than the share. Round up.",
        lambda factor, share: np.floor(np.log(share) / np.log(factor)),
    ),
    Misconception(
        "Rounded to the nearest, it is sometimes one step too few. Round up.",
        lambda factor, share: np.round(np.log(share) / np.log(factor)),
    ),
    Misconception(
        "The two logarithms are the wrong way round: factor to the power n is the share, so n is "
        "log(share) / log(factor).",
        lambda factor, share: np.ceil(np.log(factor) / np.log(share)),
    ),
    Misconception(
        "You took off the same amount at each step. Each step multiplies what is left.",
        lambda factor, share: np.ceil((1 - share) / (1 - factor)),
    ),
    Misconception(
        "log(share / factor) is a difference of logarithms. What is asked for is their ratio.",
        lambda factor, share: np.ceil(np.log(share / factor)),
    ),
    Misconception(
        "This is what is left after share steps. The number of steps is asked for.",
        lambda factor, share: factor**share,
    ),
)

# --- what goes wrong in the accuracy -------------------------------------------------------------


def _per_distance(right, distance, number):
    return np.array([number(right[distance == d]) for d in np.unique(distance)])


SORTING = (
    Misconception(
        "This is one mean over all distances. Take one for each distance.",
        lambda right, distance: right.mean(),
    ),
    Misconception(
        "You counted the right answers. Divide by how many questions had that distance.",
        lambda right, distance: _per_distance(right, distance, np.sum),
    ),
    Misconception(
        "You divided by the number of all questions. Divide by those of that distance.",
        lambda right, distance: _per_distance(right, distance, np.sum) / len(right),
    ),
    Misconception(
        "This is the share of wrong answers.",
        lambda right, distance: 1 - accuracy_by_distance(right, distance),
    ),
    Misconception(
        "The order is reversed: the smallest distance comes first.",
        lambda right, distance: accuracy_by_distance(right, distance)[::-1],
    ),
    Misconception(
        "This is the mean of everything up to each distance. Take the questions of one distance "
        "alone.",
        lambda right, distance: np.array(
            [right[distance <= d].mean() for d in np.unique(distance)]
        ),
    ),
    Misconception(
        "The distances come in the order in which they first occur. Sort them.",
        lambda right, distance: np.array(
            [right[distance == d].mean() for d in dict.fromkeys(distance.tolist())]
        ),
    ),
    Misconception(
        "These are the shares of questions at each distance. The right ones among them are asked "
        "for.",
        lambda right, distance: _per_distance(right, distance, len) / len(right),
    ),
)

# --- inputs --------------------------------------------------------------------------------------
# All dimensions of a case differ.

_RANDOM = np.random.default_rng(1)


def _network(time, d_input, d_hidden):
    return {
        "x": _RANDOM.normal(size=(time, d_input)).round(1),
        "w": _RANDOM.normal(size=(d_hidden, d_input)).round(1),
        "u": _RANDOM.normal(size=(d_hidden, d_hidden)).round(1),
        "b": _RANDOM.normal(size=d_hidden).round(1),
    }


def _chain(time, d_hidden):
    network = _network(time, d_hidden + 1, d_hidden)
    return {"states": rnn_states(**network).round(2), "u": network["u"]}


NETWORKS = (
    Case("four tokens of three numbers, a state of two", _network(4, 3, 2)),
    Case("six tokens of two numbers, a state of five", _network(6, 2, 5)),
)
CHAINS = (
    Case("four states of two numbers: three steps", _chain(4, 2)),
    Case("seven states of three numbers: six steps", _chain(7, 3)),
)
DECAYS = (
    Case(
        "a half, and three other factors, until a hundredth is left",
        {"factor": np.array([0.5, 0.9, 0.67, 0.99]), "share": np.array(0.01)},
    ),
    Case(
        "five factors, until a millionth is left",
        {"factor": np.array([0.3, 0.61, 0.75, 0.95, 0.999]), "share": np.array(1e-6)},
    ),
)
ANSWERS = (
    Case(
        "nine questions with distances from 1 to 3",
        {
            "right": np.array([1, 1, 1, 1, 0, 0, 1, 0, 1]),
            "distance": np.array([1, 3, 2, 1, 3, 2, 1, 2, 2]),
        },
    ),
    Case(
        "eleven questions, and no distance of 3",
        {
            "right": np.array([0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0]),
            "distance": np.array([5, 4, 2, 5, 1, 4, 2, 4, 1, 5, 5]),
        },
    ),
)

EXERCISES = (
    Exercise(
        "the state after each token, one row a token: tanh of w times the token plus u times the "
        "state before plus b. Before the first token the state is 0.",
        rnn_states,
        NETWORKS,
        STEPPING,
    ),
    Exercise(
        "the derivative of the last state with respect to the first one: the product of the "
        "Jacobians diag(1 - h²) u of all steps between.",
        jacobian_product,
        CHAINS,
        CHAINING,
    ),
    Exercise(
        "for each factor, the least whole number of steps after which at most the share is left, "
        "if each step multiplies by the factor.",
        steps_until,
        DECAYS,
        DECAYING,
    ),
    Exercise(
        "the share of right answers for each distance that occurs, from the smallest to the "
        "largest.",
        accuracy_by_distance,
        ANSWERS,
        SORTING,
    ),
)
