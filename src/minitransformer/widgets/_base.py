"""What all widgets share: how a module is put together, checked inputs, and the stored table.

A widget is one Python class and one plain ES module. The class carries the inputs and says the
same numbers through ``reference.py``; the module draws and computes. Notebooks keep the inputs.
"""

import html
from importlib.resources import files

import anywidget
import traitlets

from .._checks import as_float

__all__ = ["Matrix", "Real", "Tokens", "Whole", "Widget", "module_source", "style_source"]


def _read(name):
    return (files(__package__) / name).read_text(encoding="utf-8")


def module_source(cls):
    """The whole ES module of a widget class: the shared parts, then its own.

    Parameters
    ----------
    cls : subclass of Widget

    Returns
    -------
    str
        A module without imports, whose default export has ``render({ model, el })``.

    Examples
    --------
    >>> from minitransformer.widgets import AttentionStepper, module_source
    >>> "export default" in module_source(AttentionStepper)
    True
    """
    return "\n".join(_read(f"{part}.js") for part in (*cls._parts, cls._module))


def style_source():
    """The one style sheet of all widgets.

    >>> style_source().startswith("/*")
    True
    """
    return _read("widgets.css")


class Widget(anywidget.AnyWidget):
    """The base of the book's widgets.

    A subclass names its module (``_module = "attention_stepper"`` for ``attention_stepper.js``)
    and, where it needs more than the mathematics and the kit, its ``_parts``. It defines
    ``_stored_table()``, which returns a caption, the column heads and the rows of the table that
    stands for the widget where no JavaScript runs, and ``__repr__``.
    """

    _module = None
    _parts = ("attention_math", "widget_kit")
    # ipywidgets 7 (Colab) would display through this method and leave the table out.
    _ipython_display_ = None

    def __init_subclass__(cls, **kwargs):
        if "_module" in cls.__dict__:
            cls._esm = module_source(cls)
            cls._css = style_source()
        super().__init_subclass__(**kwargs)

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if bundle is None:
            return None
        data, metadata = bundle
        stored = {"text/plain": repr(self), "text/html": table_html(*self._stored_table())}
        return {**data, **stored}, metadata


def table_html(caption, heads, rows):
    """An accessible HTML table; the first entry of each row is its head.

    >>> table_html("<b>", ["key"], [["in"]])
    '<table><caption>&lt;b&gt;</caption><thead><tr><th scope="col">key</th></tr></thead>\
<tbody><tr><th scope="row">in</th></tr></tbody></table>'
    """
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    body = "".join(
        f'<tr><th scope="row">{html.escape(first)}</th>'
        + "".join(f"<td>{html.escape(text)}</td>" for text in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f"<table><caption>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


class Matrix(traitlets.TraitType):
    """A list of rows of finite numbers; NumPy arrays are taken too.

    Parameters
    ----------
    rows : int or None
        ``None`` = any number of rows.
    columns : int
    limit : float
        The largest size of an entry, so that no product of products can overflow.
    """

    def __init__(self, default_value, *, rows=None, columns=2, limit=1e6, **kwargs):
        super().__init__(default_value, **kwargs)
        self.rows, self.columns, self.limit = rows, columns, limit

    def make_dynamic_default(self):
        return [list(row) for row in self.default_value]

    def validate(self, obj, value):
        try:
            array = as_float(self.name, value)
        except (TypeError, ValueError) as error:
            raise traitlets.TraitError(f"{error}; got {_brief(value)}") from None
        expected = f"({self.rows or 'tokens'}, {self.columns})"
        if array.ndim != 2 or array.shape[1] != self.columns or self.rows not in (None, len(array)):
            raise traitlets.TraitError(
                f"{self.name} must have shape {expected}, got shape {array.shape}"
            )
        if not (abs(array) <= self.limit).all():  # NaN is not <= anything
            raise traitlets.TraitError(
                f"{self.name} must hold finite numbers of size at most {self.limit:g}, "
                f"got {_brief(array[~(abs(array) <= self.limit)].tolist())}"
            )
        return array.astype(float).tolist()


class Tokens(traitlets.TraitType):
    """A list of 1 to ``most`` strings that are not blank."""

    def __init__(self, default_value, *, most=12, **kwargs):
        super().__init__(default_value, **kwargs)
        self.most = most

    def make_dynamic_default(self):
        return list(self.default_value)

    def validate(self, obj, value):
        if not isinstance(value, (list, tuple)):
            raise traitlets.TraitError(
                f"{self.name} must be a list of strings, got {_brief(value)} "
                f"of type {type(value).__name__}"
            )
        if not 1 <= len(value) <= self.most:
            raise traitlets.TraitError(
                f"{self.name} must hold 1 to {self.most} strings, got {len(value)}"
            )
        for place, token in enumerate(value):
            if not isinstance(token, str) or not token.strip():
                raise traitlets.TraitError(
                    f"{self.name}[{place}] must be a string that is not blank, got {_brief(token)}"
                )
        return list(value)


class Whole(traitlets.TraitType):
    """A whole number from ``least`` to ``most``."""

    def __init__(self, default_value, *, most, least=0, **kwargs):
        super().__init__(default_value, **kwargs)
        self.least, self.most = least, most

    def validate(self, obj, value):
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not self.least <= value <= self.most:
            raise traitlets.TraitError(
                f"{self.name} must be a whole number from {self.least} to {self.most}, "
                f"got {_brief(value)}"
            )
        return value


class Real(traitlets.TraitType):
    """A number from ``least`` to ``most``."""

    def __init__(self, default_value, *, least, most, **kwargs):
        super().__init__(default_value, **kwargs)
        self.least, self.most = least, most

    def validate(self, obj, value):
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not real or not self.least <= value <= self.most:  # NaN is not <= anything
            raise traitlets.TraitError(
                f"{self.name} must be a number from {self.least:g} to {self.most:g}, "
                f"got {_brief(value)}"
            )
        return float(value)


def _brief(value):
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
