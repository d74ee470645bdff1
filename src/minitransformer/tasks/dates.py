"""Dates in several notations, to be written as ISO 8601: a translation with a known alignment."""

import datetime
import string

import torch

from ._common import (
    Translation,
    Vocabulary,
    check_at_least,
    check_split,
    choose,
    decoder_pair,
    draw,
    pad,
)

_MONTHS = ("January", "February", "March", "April", "May", "June")
_MONTHS += ("July", "August", "September", "October", "November", "December")
_FIRST = datetime.date(1970, 1, 1).toordinal()
_LAST = datetime.date(2049, 12, 31).toordinal()
# Each notation is a list of parts; the letter is the field that a part spells out. The separator
# says which number is the day: 17.03.2021 and 03/17/2021.
_NOTATIONS = (
    ("{d}", " ", "{M}", " ", "{y}"),
    ("{M}", " ", "{d}", ", ", "{y}"),
    ("{dd}", ".", "{mm}", ".", "{y}"),
    ("{mm}", "/", "{dd}", "/", "{y}"),
)

DATE_LETTERS = Vocabulary(string.digits + " ,./-" + "".join(sorted(set("".join(_MONTHS)))))


def _spell(date, notation):
    """The text in a notation, and the places of its fields: {"y": range, "m": range, "d": range}"""
    values = {
        "{d}": str(date.day),
        "{dd}": f"{date.day:02}",
        "{mm}": f"{date.month:02}",
        "{M}": _MONTHS[date.month - 1],
        "{y}": str(date.year),
    }
    text, places = "", {}
    for part in notation:
        spelled = values.get(part, part)
        if part in values:
            places[part[1].lower()] = range(len(text), len(text) + len(spelled))
        text += spelled
    return text, places


def _aligned(places):
    """For each letter of YYYY-MM-DD the places it is read off."""
    year = [[place] for place in places["y"]]
    return [*year, [], places["m"], places["m"], [], places["d"], places["d"]]


def date_translation(generator, batch, split="train"):
    """Draw dates from 1970 to 2049 in four notations; the answer is the date as YYYY-MM-DD.

    The notations are ``7 March 2021``, ``March 7, 2021``, ``07.03.2021`` and ``03/07/2021``. A
    letter of the source is a token of ``DATE_LETTERS``, and so is a letter of the answer. Each
    digit of the year is read off one digit; a digit of the month or day off the whole field, name
    or number.

    Parameters
    ----------
    generator : torch.Generator
    batch : int
    split : "train" or "test"
        No date of one is in the other, in any notation: every fifth day is for the test.

    Returns
    -------
    Translation

    Raises
    ------
    ValueError
        If batch is not a whole number of at least 1, or the split is unknown.

    Examples
    --------
    >>> dates = date_translation(torch.Generator().manual_seed(6), batch=1)
    >>> "".join(DATE_LETTERS.decode(dates.source[0]))
    'March 31, 1974'
    >>> "".join(DATE_LETTERS.decode(dates.target_in[0]))
    '1974-03-31'
    """
    check_at_least(1, batch=batch)
    check_split(split)
    sources, answers, alignments = [], [], []
    while len(sources) < batch:
        day = draw(generator, _FIRST, _LAST)
        if (day % 5 == 0) != (split == "test"):
            continue
        date = datetime.date.fromordinal(day)
        text, places = _spell(date, choose(generator, _NOTATIONS))
        sources.append(DATE_LETTERS.encode(text))
        answers.append(DATE_LETTERS.encode(date.isoformat()))
        alignments.append(_aligned(places))
    source = pad(sources)
    target_in, target_out = decoder_pair(answers)
    alignment = torch.zeros(*target_out.shape, source.shape[1], dtype=torch.bool)
    aligned = [
        (row, step, place)
        for row, steps in enumerate(alignments)
        for step, places in enumerate(steps)
        for place in places
    ]
    alignment[torch.tensor(aligned).unbind(1)] = True
    return Translation(source, source > 0, target_in, target_out, alignment)
