"""What a benchmark measured, beside the bar that it is held to."""

from typing import NamedTuple


class Reading(NamedTuple):
    """What was measured, and the bar that it is held to: at most (or at least) so much.

    >>> print(Reading("ours / theirs", 0.9312, 1.0))
    ours / theirs: 0.9312, at most 1
    >>> Reading("tokens a second, ours / theirs", 1.05, 1.1, at_least=True).missed
    True
    """

    what: str
    value: float
    bar: float
    at_least: bool = False

    @property
    def missed(self):
        """Whether the bar is not held; no bar is held by NaN."""
        return not (self.value >= self.bar if self.at_least else self.value <= self.bar)

    def __str__(self):
        bound = "at least" if self.at_least else "at most"
        return f"{self.what}: {self.value:.4g}, {bound} {self.bar:g}"


def better(first, second):
    """Of two readings of one bar, the one that is nearer to holding it.

    >>> better(Reading("ratio", 1.02, 1.0), Reading("ratio", 0.98, 1.0)).value
    0.98
    """
    choose = max if first.at_least else min
    return choose(first, second, key=lambda reading: reading.value)
