"""Run Jupyter Book's build: python tools/build_book.py . --path-output . -W -q

Before it starts, Jupyter Book has jsonschema compile the grammars of web addresses, which come with
nbgrader and which nothing in a book's configuration asks for: a second of every build. Without
their package jsonschema leaves those addresses unchecked.
"""

import sys


def main(arguments):
    """Build a book with the arguments of ``jupyter-book build``."""
    sys.modules["rfc3987_syntax"] = None
    from jupyter_book.cli.main import main as jupyter_book

    jupyter_book(["build", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
