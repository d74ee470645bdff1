"""Where the scripts that measure for the chapters put their tables."""

import csv
from pathlib import Path

from minitransformer import measurements

__all__ = ["save"]


def save(name, rows, script):
    """Write rows (dicts with the same keys) as the table that `measurements.table` reads.

    Parameters
    ----------
    name : str
    rows : iterable of dict
        They are printed as they come, for whoever waits.
    script : str
        The module that measured them, which the first line of the file names.
    """
    path = Path(measurements.__file__).with_name(f"{name}.csv")
    found = []
    for row in rows:
        found.append(row)
        print(name, *row.values(), flush=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# python -m {script}\n")
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)
