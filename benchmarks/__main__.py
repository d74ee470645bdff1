"""Run every bench_*.py beside this file, or those named: python -m benchmarks [attention ...]

At the end stand the bars that were missed, and the exit status is 1 if there are any. The medians
of one program differ by some percent from run to run, so a benchmark that misses a bar is measured
once more; of each bar the better of its two values counts.
"""

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.bars import better


def names():
    """What can be named: "attention" for bench_attention.py."""
    found = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name.removeprefix("bench_") for name in found if name.startswith("bench_"))


def main(wanted):
    """Run the benchmarks one after the other, each with its own table; return the exit status."""
    unknown = set(wanted) - set(names())
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    missed = []
    for name in wanted or names():
        bench = importlib.import_module(f"benchmarks.bench_{name}")
        readings = bench.main()
        print()
        if any(reading.missed for reading in readings):
            print("A bar was missed: measured once more, of each bar the better value counts.\n")
            readings = [better(*pair) for pair in zip(readings, bench.main(), strict=True)]
            print()
        missed += [str(reading) for reading in readings if reading.missed]
    print("\n  ".join(["Missed bars:", *missed]) if missed else "Every bar is held.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
