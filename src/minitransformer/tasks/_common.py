"""What the tasks share: the special tokens, a vocabulary, padding and checks."""

from typing import NamedTuple

import torch

PAD, START, END = 0, 1, 2
IGNORE = -100  # a target that does not count in the loss (torch's cross_entropy skips it)


class Vocabulary:
    """Words or letters and their numbers. The first three are padding, start and end.

    Examples
    --------
    >>> letters = Vocabulary("abc")
    >>> letters.encode("cab"), letters.decode([1, 5, 3, 4, 2, 0])
    ([5, 3, 4], ['c', 'a', 'b'])
    >>> len(letters), letters.pad, letters.start, letters.end
    (6, 0, 1, 2)
    """

    pad, start, end = PAD, START, END

    def __init__(self, words):
        self.words = ["<pad>", "<start>", "<end>", *words]
        self._ids = {word: number for number, word in enumerate(self.words)}
        if len(self._ids) != len(self.words):
            raise ValueError("a word stands in the vocabulary twice")

    def __len__(self):
        return len(self.words)

    def encode(self, words):
        """The numbers of words (a list) or of letters (a string)."""
        unknown = [word for word in words if word not in self._ids]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not in the vocabulary of {len(self)} words")
        return [self._ids[word] for word in words]

    def decode(self, numbers):
        """The words of numbers, without padding, start and end."""
        return [self.words[int(number)] for number in numbers if int(number) > END]


class Translation(NamedTuple):
    """A source sequence and the target sequence that belongs to it.

    source : (batch, time) tokens, padded on the right with 0
    source_mask : (batch, time) boolean, True = a token, False = padding
    target_in : (batch, steps) what a decoder is given: start, then the target
    target_out : (batch, steps) what it must answer: the target, then end; -100 where padded
    alignment : (batch, steps, time) boolean, True = this answer is read off this source token.
        A row that is False everywhere (the end, a separator) can be answered without the source.
    """

    source: torch.Tensor
    source_mask: torch.Tensor
    target_in: torch.Tensor
    target_out: torch.Tensor
    alignment: torch.Tensor


def pad(rows, value=PAD):
    """Lists of whole numbers, side by side: (len(rows), longest)."""
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [value] * (longest - len(row)) for row in rows])


def decoder_pair(rows):
    """What a decoder is given and what it must answer, one step apart."""
    return pad([[START, *row] for row in rows]), pad([[*row, END] for row in rows], IGNORE)


def draw(generator, low, high):
    """A whole number from low to high, both possible."""
    return int(torch.randint(low, high + 1, (), generator=generator))


def choose(generator, options):
    return options[draw(generator, 0, len(options) - 1)]


def check_at_least(least, **counts):
    for name, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, got {count!r}")


def check_split(split):
    if split not in ("train", "test"):
        raise ValueError(f'split is "train" or "test", got {split!r}')
