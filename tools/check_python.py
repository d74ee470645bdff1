"""Stop early, with a way out, when the Python or its venv module cannot carry the book."""

import sys

if sys.version_info < (3, 10):  # noqa: UP036 - this script is what tells the reader
    found = ".".join(map(str, sys.version_info[:3]))
    sys.exit(
        f"The book needs Python 3.10 or newer; `{sys.executable}` is {found}.\n"
        "Name another one, for example: make book PYTHON=python3.11"
    )
try:
    import ensurepip  # noqa: F401
    import venv  # noqa: F401
except ImportError:
    sys.exit(
        "This Python cannot make virtual environments. On Debian: apt-get install python3-venv"
    )
