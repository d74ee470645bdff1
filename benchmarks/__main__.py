"""Run every bench_*.py beside this file, or those named: python -m benchmarks [attention ...]"""

import importlib
import pkgutil
import sys

import benchmarks


def names():
    """What can be named: "attention" for bench_attention.py."""
    found = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name.removeprefix("bench_") for name in found if name.startswith("bench_"))


def main(wanted):
    """Run the benchmarks one after the other, each with its own table."""
    unknown = set(wanted) - set(names())
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(names())}")
    for name in wanted or names():
        importlib.import_module(f"benchmarks.bench_{name}").main()
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
