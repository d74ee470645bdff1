"""Tasks over meaningless symbols: recall, repetition, copying and reversing."""

from typing import NamedTuple

import torch

from ._common import END, Translation, check_at_least, decoder_pair, draw, pad


class Recall(NamedTuple):
    """Pairs of key and value, and then the key of one of them.

    tokens : (batch, 2 * n_pairs + 1): key, value, key, value, ..., key
    targets : (batch,) the value that belongs to the last key, as a token
    positions : (batch,) where in tokens that value stands
    pairs_ago : (batch,) how many pairs ago it came: 1 is the last pair, n_pairs the first
    """

    tokens: torch.Tensor
    targets: torch.Tensor
    positions: torch.Tensor
    pairs_ago: torch.Tensor


def associative_recall(generator, batch, n_pairs, n_keys=20, n_values=8):
    """Draw pairs of key and value, then a key: which value belongs to it?

    Keys are the tokens from 0 to n_keys - 1, no key comes twice in one example; values are the
    n_values tokens after them and may come more than once. Chance is 1 / n_values.

    Parameters
    ----------
    generator : torch.Generator
    batch, n_pairs, n_keys, n_values : int

    Returns
    -------
    Recall

    Raises
    ------
    ValueError
        If there are more pairs than keys, or a size is not a whole number of at least 1.

    Examples
    --------
    >>> recall = associative_recall(torch.Generator().manual_seed(0), batch=2, n_pairs=3)
    >>> recall.tokens.shape, torch.equal(recall.tokens[[0, 1], recall.positions], recall.targets)
    (torch.Size([2, 7]), True)

    Source: the task of Ba et al. 2016, "Using fast weights to attend to the recent past",
    section 4.1, with symbols of our own.
    """
    check_at_least(1, batch=batch, n_pairs=n_pairs, n_keys=n_keys, n_values=n_values)
    if n_pairs > n_keys:
        raise ValueError(f"{n_pairs} pairs need as many different keys, there are {n_keys}")
    keys = torch.rand(batch, n_keys, generator=generator).argsort(dim=1)[:, :n_pairs]
    values = n_keys + torch.randint(n_values, (batch, n_pairs), generator=generator)
    asked = torch.randint(n_pairs, (batch,), generator=generator)
    rows = torch.arange(batch)
    pairs = torch.stack([keys, values], dim=2).flatten(1)
    tokens = torch.cat([pairs, keys[rows, asked, None]], dim=1)
    return Recall(tokens, values[rows, asked], 2 * asked + 1, n_pairs - asked)


class Repeated(NamedTuple):
    """Random tokens that begin again after a period.

    tokens : (batch, length)
    periods : (batch,) after how many tokens a row begins again
    predictable : (batch, length) boolean. True = the token here follows from the ones before: its
        predecessor has been seen, and what came after it then comes now. (The first token of the
        first repeat is not predictable: nobody knows yet that the row begins again.)
    sources : (batch, length) where that earlier copy stands, one period back; -1 where the token
        is not predictable. An induction head that predicts token t looks at sources[t] from t - 1.
    """

    tokens: torch.Tensor
    periods: torch.Tensor
    predictable: torch.Tensor
    sources: torch.Tensor


def repeated_sequences(generator, batch, length, n_tokens, min_period, max_period):
    """Draw different tokens and repeat them, each row with a period of its own.

    The period must vary: with one period for all, position alone gives the answer and no model
    needs to look at the tokens.

    Parameters
    ----------
    generator : torch.Generator
    batch, length : int
    n_tokens : int
        Tokens are 0 to n_tokens - 1; at least max_period, since no token comes twice in a period.
    min_period, max_period : int
        Both possible; equal for one fixed period.

    Returns
    -------
    Repeated

    Raises
    ------
    ValueError
        If the sizes are not whole numbers of at least 1, or do not fit one another.

    Examples
    --------
    >>> rows = repeated_sequences(torch.Generator().manual_seed(0), 1, 7, 9, 3, 3)
    >>> torch.equal(rows.tokens[:, :4], rows.tokens[:, 3:])
    True
    >>> rows.predictable.int().tolist(), rows.sources.tolist()
    ([[0, 0, 0, 0, 1, 1, 1]], [[-1, -1, -1, -1, 1, 2, 3]])

    Source: Olsson et al. 2022, "In-context learning and induction heads", repeated random tokens.
    """
    check_at_least(1, batch=batch, length=length, n_tokens=n_tokens, min_period=min_period)
    check_at_least(min_period, max_period=max_period)
    if max_period > n_tokens:
        raise ValueError(
            f"a period of {max_period} different tokens needs as many, there are {n_tokens}"
        )
    period = torch.randint(min_period, max_period + 1, (batch, 1), generator=generator)
    once = torch.rand(batch, n_tokens, generator=generator).argsort(dim=1)
    time = torch.arange(length).expand(batch, length)
    predictable = time > period
    sources = torch.where(predictable, time - period, -1)
    return Repeated(once.gather(1, time % period), period[:, 0], predictable, sources)


def copy_or_reverse(generator, batch, min_length, max_length, n_symbols=10, reverse=True):
    """Draw strings of symbols to be written again, from the end or from the start.

    Symbols are the tokens from 3 to n_symbols + 2; 0 is padding, 1 start and 2 end.

    Parameters
    ----------
    generator : torch.Generator
    batch : int
    min_length, max_length : int
        How long a string may be; both possible.
    n_symbols : int
    reverse : bool
        True = from the end.

    Returns
    -------
    Translation

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1, or max_length is below min_length.

    Examples
    --------
    >>> task = copy_or_reverse(torch.Generator().manual_seed(0), 2, min_length=3, max_length=5)
    >>> first, answer = task.source[0], task.target_out[0]
    >>> torch.equal(first[task.source_mask[0]].flip(0), answer[answer > 2])
    True
    """
    check_at_least(1, batch=batch, min_length=min_length, n_symbols=n_symbols)
    check_at_least(min_length, max_length=max_length)
    lengths = [draw(generator, min_length, max_length) for _ in range(batch)]
    rows = [
        (END + 1 + torch.randint(n_symbols, (length,), generator=generator)).tolist()
        for length in lengths
    ]
    source = pad(rows)
    target_in, target_out = decoder_pair([row[::-1] if reverse else row for row in rows])
    alignment = torch.zeros(*target_out.shape, source.shape[1], dtype=torch.bool)
    for row, length in enumerate(lengths):
        steps = torch.arange(length)
        alignment[row, steps, steps.flip(0) if reverse else steps] = True
    return Translation(source, source > 0, target_in, target_out, alignment)
