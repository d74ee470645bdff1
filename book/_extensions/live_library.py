"""Pick the modules of the library that run in the browser, and put them into one file."""

import zipfile
from pathlib import Path

from live_cells import LIBRARY, PACKAGES, file_of, needs

DATA = (".csv", ".txt")
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes at every build


def modules():
    """The packages that importing each of the modules loads, where it is any but the first.

    >>> modules()["minitransformer.plots"]
    ['matplotlib', 'numpy']
    """
    named = {package: [package] for package in PACKAGES}
    for name in _running():
        if needs(name) - {PACKAGES[0]}:
            named[name] = sorted(needs(name))
    return named


def write_library(path):
    """Write the file with the modules that run and the data that they read."""
    root = file_of(LIBRARY).parent
    chosen = {file_of(name) for name in _running()}
    data = {file for file in root.rglob("*") if file.suffix in DATA}
    chosen |= {file for file in data if file.with_name("__init__.py") in chosen}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(chosen):
            name = Path(LIBRARY) / file.relative_to(root)
            archive.writestr(zipfile.ZipInfo(name.as_posix(), EPOCH), file.read_bytes(), 8)


def _running():
    """The dotted names of the modules that need nothing but ``PACKAGES``."""
    root = file_of(LIBRARY).parent
    for file in sorted(root.rglob("*.py")):
        name = ".".join((LIBRARY, *file.relative_to(root).with_suffix("").parts))
        name = name.removesuffix(".__init__")
        if needs(name) <= set(PACKAGES):
            yield name
