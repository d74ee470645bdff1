"""Wrong answers to the exercises of chapter 9."""

import math

import numpy as np
import torch

from mutants import Mutants
from mutants._parts import LOST_DIGITS

MUTANTS = Mutants()

# --- fitted_exponent -----------------------------------------------------------------------------


def line(x, y):
    """Slope and height of the least-squares line, by its formula."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    rise = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    return rise, y.mean() - rise * x.mean()


@MUTANTS("fitted_exponent", "on plain axes")
def exponent_plain(lengths, costs):
    return line(lengths, costs)[0]


@MUTANTS("fitted_exponent", "Only one of the axes is logarithmic")
def exponent_half_log(lengths, costs):
    return line([math.log(n) for n in lengths], costs)[0]


@MUTANTS("fitted_exponent", "Only one of the axes is logarithmic")
def exponent_other_half_log(lengths, costs):
    return line(lengths, [math.log(cost) for cost in costs])[0]


@MUTANTS("fitted_exponent", "axes changed round")
def exponent_turned(lengths, costs):
    return line(np.log10(costs), np.log10(lengths))[0]


@MUTANTS("fitted_exponent", "its height at log 1 = 0")
def exponent_height(lengths, costs):
    return line(np.log(lengths), np.log(costs))[1]


@MUTANTS("fitted_exponent", "both numbers of the line")
def exponent_both(lengths, costs):
    return np.array(line(np.log(lengths), np.log(costs)))


@MUTANTS("fitted_exponent", "from the first to the last point")
def exponent_ends(lengths, costs):
    run = math.log2(lengths[-1]) - math.log2(lengths[0])
    return (math.log2(costs[-1]) - math.log2(costs[0])) / run


@MUTANTS("fitted_exponent", "goes into that too")
def exponent_ratio(lengths, costs):
    return sum(math.log(c, n) for n, c in zip(lengths, costs, strict=True)) / len(costs)


@MUTANTS("fitted_exponent", "slopes between neighbours")
def exponent_neighbours(lengths, costs):
    x, y = np.log10(lengths), np.log10(costs)
    return ((y[1:] - y[:-1]) / (x[1:] - x[:-1])).mean()


# --- window_scores -------------------------------------------------------------------------------


def counted(n_tokens, allowed):
    return sum(allowed(i, j) for i in range(n_tokens) for j in range(n_tokens))


@MUTANTS("window_scores", "The first ones have fewer")
def window_without_start(n_tokens, window):
    return n_tokens * window + n_tokens


@MUTANTS("window_scores", "sees itself as well")
def window_without_self(n_tokens, window):
    return counted(n_tokens, lambda i, j: 0 < i - j <= window)


@MUTANTS("window_scores", "one token too few")
def window_too_narrow(n_tokens, window):
    return counted(n_tokens, lambda i, j: i == j or 0 < i - j < window)


@MUTANTS("window_scores", "without a window")
def window_forgotten(n_tokens, window):
    return counted(n_tokens, lambda i, j: j <= i)


@MUTANTS("window_scores", "to both sides")
def window_both_sides(n_tokens, window):
    return counted(n_tokens, lambda i, j: abs(i - j) <= window)


@MUTANTS("window_scores", "holds only while the window fits")
def window_closed_form(n_tokens, window):
    return (window + 1) * (2 * n_tokens - window) / 2


# --- merged_output -------------------------------------------------------------------------------


@MUTANTS("merged_output", "different references")
def merge_sums(largest, total, summed, largest2, total2, summed2):
    return np.add(summed, summed2) / np.add(total, total2)


@MUTANTS("merged_output", "averaged the two outputs")
def merge_mean(largest, total, summed, largest2, total2, summed2):
    return 0.5 * summed / total + 0.5 * summed2 / total2


@MUTANTS("merged_output", "but not the totals")
def merge_totals_as_they_are(largest, total, summed, largest2, total2, summed2):
    top = np.where(largest > largest2, largest, largest2)
    mixed = summed / np.exp(top - largest) + summed2 / np.exp(top - largest2)
    return mixed / (total + total2)


@MUTANTS("merged_output", "the wrong way up")
def merge_grown(largest, total, summed, largest2, total2, summed2):
    gap = largest2 - largest
    grow, other_grow = np.exp(np.maximum(gap, 0)), np.exp(np.maximum(-gap, 0))
    return (summed * grow + summed2 * other_grow) / (total * grow + total2 * other_grow)


@MUTANTS("merged_output", "only the first half")
def merge_first_shrunk(largest, total, summed, largest2, total2, summed2):
    shrink = np.exp(np.minimum(largest - largest2, 0))
    return (shrink * summed + summed2) / (shrink * total + total2)


@MUTANTS("merged_output", "before the last step")
def merge_not_divided(largest, total, summed, largest2, total2, summed2):
    top = torch.maximum(torch.tensor(largest), torch.tensor(largest2)).numpy()
    return summed * np.exp(largest - top) + summed2 * np.exp(largest2 - top)


@MUTANTS("merged_output", "You undid the references")
def merge_overflow(largest, total, summed, largest2, total2, summed2):
    one, other = np.e**largest, np.e**largest2
    return (one * summed + other * summed2) / (one * total + other * total2)


@MUTANTS("merged_output", "You took the smaller maximum")
def merge_from_below(largest, total, summed, largest2, total2, summed2):
    low = np.where(largest < largest2, largest, largest2)
    one, other = np.exp(largest - low), np.exp(largest2 - low)
    return (one * summed + other * summed2) / (one * total + other * total2)


@MUTANTS("merged_output", "one reference for all queries")
def merge_one_reference(largest, total, summed, largest2, total2, summed2):
    top = np.concatenate([largest, largest2]).max()
    one, other = np.exp(largest - top), np.exp(largest2 - top)
    return (one * summed + other * summed2) / (one * total + other * total2)


@MUTANTS("merged_output", LOST_DIGITS)
def merge_single(*halves):
    largest, total, summed, others, total2, summed2 = (
        torch.tensor(half).float() for half in halves
    )
    top = torch.maximum(largest, others)
    one, other = torch.exp(largest - top), torch.exp(others - top)
    return (one * summed + other * summed2) / (one * total + other * total2)


# --- numbers_moved -------------------------------------------------------------------------------


def walked(n_queries, n_keys, rows, at_query, at_tile):
    """Add up what a walk over the tiles moves."""
    return sum(
        at_tile + at_query * min(rows, n_queries - start) for start in range(0, n_queries, rows)
    )


@MUTANTS("numbers_moved", "Tiles never move a score")
def moved_stored(n_queries, n_keys, d, rows):
    return 2 * n_queries * d + 2 * n_keys * d + 4 * n_keys * n_queries


@MUTANTS("numbers_moved", "once in all")
def moved_once(n_queries, n_keys, d, rows):
    return n_queries * 2 * d + n_keys * 2 * d


@MUTANTS("numbers_moved", "round the number of tiles up")
def moved_floor(n_queries, n_keys, d, rows):
    return 2 * d * n_queries + int(n_queries / rows) * 2 * d * n_keys


@MUTANTS("numbers_moved", "The number of tiles is a whole number")
def moved_fraction(n_queries, n_keys, d, rows):
    return 2 * d * n_queries + 2 * d * n_keys / rows * n_queries


@MUTANTS("numbers_moved", "The outputs are missing")
def moved_without_outputs(n_queries, n_keys, d, rows):
    return walked(n_queries, n_keys, rows, d, 2 * d * n_keys)


@MUTANTS("numbers_moved", "The values are missing")
def moved_without_values(n_queries, n_keys, d, rows):
    return walked(n_queries, n_keys, rows, 2 * d, d * n_keys)


@MUTANTS("numbers_moved", "A query is in one tile only")
def moved_queries_again(n_queries, n_keys, d, rows):
    return sum(2 * d * (n_queries + n_keys) for _ in range(0, n_queries, rows))


@MUTANTS("numbers_moved", "for every single query")
def moved_for_each_query(n_queries, n_keys, d, rows):
    return sum(2 * d + 2 * d * n_keys for _ in range(n_queries))


@MUTANTS("numbers_moved", "and not the numbers in them")
def moved_rows(n_queries, n_keys, d, rows):
    return walked(n_queries, n_keys, rows, 2, 2 * n_keys)


@MUTANTS("numbers_moved", "not the queries")
def moved_tiles_of_keys(n_queries, n_keys, d, rows):
    return walked(n_keys, n_queries, rows, 2 * d, 2 * d * n_queries)
