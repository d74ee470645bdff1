"""What a cell needs of a notebook's kernel, for Python in the browser.

The worker imports this module in Pyodide and calls :meth:`Kernel.run` with one cell at a time.
What a cell prints, shows and raises leaves through ``send``. It runs in an ordinary Python as well,
where the tests run it.
"""

import ast
import builtins
import contextlib
import difflib
import importlib
import io
import linecache
import sys
import time
import traceback
import types

LINES = 1000  # of a cell's text are shown
LETTERS = 100_000
TOO_LONG = f"Only the first {LINES:,} lines or {LETTERS:,} letters are shown."
AT_ONCE = 100  # messages of text leave as they are printed, later ones after a pause
PAUSE = 0.05  # seconds
NO_INPUT = "input() does not work on this page: write the value into the cell, as in name = 'Ada'"
MEMORY = "Python on a page has at most 4 GB of memory, 2 GB for one array, and less on a phone."
# Modules that are missed on a page, and are there without an installation in Colab.
COLAB_HAS = {"torch", "torchvision", "transformers", "ipywidgets", "pandas", "scipy", "sklearn"}
TOO_LARGE = ("array is too big", "Maximum allowed dimension exceeded", "cannot fit 'int'")


class Kernel:
    """The names of the cells, and where their output goes.

    Parameters
    ----------
    send : function (kind, text, about)
        Takes "out" and "error" (text), "svg" (a picture; ``about`` says what it shows), "html", and
        "traceback" (``about`` names a module that is not there but in Colab, or is empty).
    modules : dict of str to sequence of str
        The packages that importing a module loads.
    """

    def __init__(self, send, modules):
        self.send = send
        self.modules = modules
        self.number = None
        self.namespace = sys.modules["__main__"].__dict__
        self.text = _Text(send)
        self.origins = {}  # name: the number of the cell that bound it
        builtins.input = _no_input
        _stand_in_for_ipython(self.display)

    def packages(self, source):
        """The packages to load before a cell with this code runs."""
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            return []  # it is reported when the cell runs
        found = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.update(f"{node.module}.{alias.name}" for alias in node.names)
        return sorted(
            {
                package
                for name in found
                for module, packages in self.modules.items()
                if f"{name}.".startswith(f"{module}.")
                for package in packages
            }
        )

    def run(self, number, source):
        """Run the cell of that number; whether it came to its end."""
        self.number, before = number, set(self.namespace)
        self.text.begin()
        streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = self.text.stream("out"), self.text.stream("error")
        try:
            self._take_show(source)
            self._execute(source)
            self._show_figures()
            return True
        except BaseException as error:  # SystemExit too: a cell must not end the page's Python
            with contextlib.suppress(Exception):  # what was drawn belongs to this cell
                self._show_figures()
            self.text.flush()
            self._report(error)
            return False
        finally:
            self.text.flush()
            sys.stdout, sys.stderr = streams
            self.origins.update(dict.fromkeys(set(self.namespace) - before, number))

    def _execute(self, source):
        name = f"<cell {self.number}>"
        # Python reads the lines for a traceback from here.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        tree = ast.parse(source, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), self.namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), self.namespace)
            if value is not None and not _is_silenced(source, last):
                self.display(value)

    def display(self, *values, metadata=None, raw=False, **_):
        """What IPython.display.display does, for the forms that a page shows."""
        for value in values:
            forms = value if raw else _forms(value)
            about = (metadata or {}).get("image/svg+xml", {}).get("alt", "")
            if svg := forms.get("image/svg+xml"):
                self.text.flush()
                self.send("svg", svg, about or f"Plot of cell {self.number}")
            elif html := forms.get("text/html"):
                self.text.flush()
                self.send("html", html, "")
            else:
                self.text.write("out", forms.get("text/plain", repr(value)) + "\n")

    def _take_show(self, source):
        """Let ``pyplot.show()`` show the figures here, in their place among what is printed."""
        if "pyplot" in source:
            with contextlib.suppress(ImportError):  # the cell itself will say so
                pyplot = importlib.import_module("matplotlib.pyplot")
                pyplot.show = lambda *_, **__: self._show_figures()  # matplotlib signs a function

    def _show_figures(self):
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is None:
            return
        try:
            for figure in map(pyplot.figure, pyplot.get_fignums()):
                self.display({"image/svg+xml": _svg(figure)}, raw=True)
        finally:
            pyplot.close("all")

    def _report(self, error):
        told = traceback.TracebackException.from_exception(error)
        _keep_the_readers(told)
        text = "".join(told.format()).rstrip()
        text = text.replace('File "<cell ', "Cell ").replace('>", ', ", ")
        missing = _missing(error)
        about = missing if missing.partition(".")[0] in COLAB_HAS else ""
        self.send("traceback", f"{text}\n{self._hint(error)}".rstrip(), about)

    def _hint(self, error):
        if isinstance(error, MemoryError) or any(text in str(error) for text in TOO_LARGE):
            return MEMORY
        if name := _missing(error).partition(".")[0]:
            near = difflib.get_close_matches(name, self.modules, n=1, cutoff=0.8)
            return f"The browser has no {name}." + "".join(f" Is it {one}?" for one in near)
        if isinstance(error, NameError) and error.name in self.origins:
            origin = self.origins[error.name]
            return f"Cell {origin} made {error.name}: run that cell again."
        return ""


class _Text:
    """What is printed, sent in pieces, and cut off where it gets too long."""

    def __init__(self, send):
        self.send = send
        self.begin()

    def begin(self):
        self.parts, self.kind, self.sent, self.messages = [], "out", time.monotonic(), 0
        self.lines, self.letters = LINES, LETTERS

    def stream(self, kind):
        return _Stream(self, kind)

    def write(self, kind, text):
        if self.lines <= 0 or self.letters <= 0:
            return
        if kind != self.kind:
            self.flush()
            self.kind = kind
        kept = "".join(text.splitlines(keepends=True)[: self.lines])[: self.letters]
        self.lines -= kept.count("\n")
        self.letters -= len(kept)
        self.parts.append(kept)
        if self.lines <= 0 or self.letters <= 0:
            self.flush()
            self.send("cut", TOO_LONG, "")
        elif ("\n" in kept and self.messages < AT_ONCE) or time.monotonic() - self.sent > PAUSE:
            self.flush()

    def flush(self):
        if text := "".join(self.parts):
            self.send(self.kind, text, "")
            self.messages += 1
        self.parts, self.sent = [], time.monotonic()


class _Stream(io.TextIOBase):
    def __init__(self, text, kind):
        self.text, self.kind = text, kind

    def writable(self):
        return True

    def write(self, text):
        self.text.write(self.kind, text)
        return len(text)

    def flush(self):
        self.text.flush()


def _stand_in_for_ipython(display):
    """The part of IPython that the library uses, and what matplotlib then asks of it."""
    package, module = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    package.version_info, package.get_ipython = (9, 0, 0), lambda: None
    package.display, module.display = module, display
    sys.modules.update({"IPython": package, "IPython.display": module})


def _no_input(*_):
    raise RuntimeError(NO_INPUT)


def _is_silenced(source, last):
    """Whether a semicolon after the last expression asks not to show it."""
    rest = source.splitlines()[last.end_lineno - 1].encode()[last.end_col_offset :]
    return rest.lstrip().startswith(b";")


def _forms(value):
    figure = sys.modules.get("matplotlib.figure")
    if figure and isinstance(value, figure.Figure):
        return {"image/svg+xml": _svg(value)}
    forms = {"text/plain": repr(value)}
    if not isinstance(value, type) and hasattr(value, "_repr_html_"):
        forms["text/html"] = value._repr_html_()
    return {kind: text for kind, text in forms.items() if text is not None}


def _svg(figure):
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", facecolor="white")
    return buffer.getvalue()


def _keep_the_readers(told):
    """Leave in a traceback the lines of cells, here and in the errors that led to it."""
    told.stack[:] = [frame for frame in told.stack if frame.filename.startswith("<cell ")]
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _keep_the_readers(other)


def _missing(error):
    """The module that an import did not find, or an empty text."""
    return error.name or "" if isinstance(error, ModuleNotFoundError) else ""
