"""What holds for the module of every widget."""

import pytest

from minitransformer import widgets

CLASSES = [
    made
    for made in vars(widgets).values()
    if isinstance(made, type) and issubclass(made, widgets.Widget) and made is not widgets.Widget
]


@pytest.fixture(params=CLASSES, ids=lambda made: made.__name__)
def made(request):
    return request.param


def test_the_module_imports_nothing_and_asks_no_network(made):
    source = widgets.module_source(made)
    addresses = source.replace("http://www.w3.org/2000/svg", "")  # a name, never fetched
    for outside in ("http", "import ", "import(", "XMLHttpRequest", "WebSocket"):
        assert outside not in addresses


def test_text_never_becomes_markup(made):
    source = widgets.module_source(made)
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"):
        assert way not in source


def test_what_jupyter_runs_is_what_the_site_runs(made):
    assert made._esm == widgets.module_source(made)
