"""Small tables of what took too long to measure in a chapter, and the text it was measured on.

Each table is a CSV file beside this one; its first line names the script that made it. A chapter
measures a sample of a table again and asserts that the two agree.
"""

import csv
from importlib.resources import files

__all__ = ["names", "passages", "table"]


def names():
    """The tables there are.

    >>> "grouped_query_quality" in names()
    True
    """
    found = (file.name for file in files(__name__).iterdir())
    return sorted(name.removesuffix(".csv") for name in found if name.endswith(".csv"))


def table(name):
    """Read a table.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    list of dict, one a row
        Column names to values; numbers come as int or float, everything else as str.

    Raises
    ------
    ValueError
        If there is no such table; the message lists those there are.

    Examples
    --------
    >>> row = table("grouped_query_quality")[0]
    >>> row["n_kv_heads"], row["seed"]
    (8, 0)
    """
    if name not in names():
        raise ValueError(f"no table {name!r}; there are {', '.join(names()) or 'none'}")
    text = files(__name__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return [{key: _value(cell) for key, cell in row.items()} for row in csv.DictReader(lines)]


def passages():
    """Eight passages of plain English, written for this book, so that no model was trained on them.

    Returns
    -------
    list of str

    Examples
    --------
    >>> len(passages())
    8
    """
    return files(__name__).joinpath("passages.txt").read_text(encoding="utf-8").splitlines()


def _value(cell):
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            pass
    return cell
