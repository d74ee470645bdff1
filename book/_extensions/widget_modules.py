"""Put the current module of every widget, its style and the host beside the pages.

Notebooks store a widget's inputs, never its code. The pages load the code from ``_widgets/``,
which is written anew at every build, so that a page cannot show an old widget.
"""

from pathlib import Path

from minitransformer import widgets
from minitransformer.widgets import Widget, module_source, style_source


def write(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_widgets"
    folder.mkdir(exist_ok=True)
    (folder / "widgets.css").write_text(style_source(), encoding="utf-8")
    for name in widgets.__all__:
        cls = getattr(widgets, name)
        if isinstance(cls, type) and issubclass(cls, Widget) and cls is not Widget:
            (folder / f"{name}.js").write_text(module_source(cls), encoding="utf-8")


def use_the_host(app, config):
    # myst-nb asks for these scripts on pages with widgets, in place of the 0.9 MB html-manager.
    config.nb_ipywidgets_js = {"widget_host.js": {"type": "module"}}


def setup(app):
    app.connect("config-inited", use_the_host)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
