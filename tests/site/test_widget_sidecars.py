"""The large part of a widget's state lies beside the page and is fetched when it is asked for."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from nbformat import v4
from site_visits import CHROMIUM, served, visit
from tiny_book import build, chapter
from widget_sidecars import put_aside

from minitransformer.widgets import HeadView, MaskExplorer

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium (Debian: apt-get install chromium)"),
]
PAGE = "chapters/00_tiny.html"
STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
TOKENS = ["</script><b>", "beta", "gamma"]
UNSTORED = ("_esm", "_css", "layout", "tabbable", "tooltip")


def head_view():
    rng = np.random.default_rng(0)
    texts = [(t, TOKENS, rng.dirichlet(np.ones(3), size=(2, 2, 3))) for t in ("first", "second")]
    return HeadView.of("a model", texts)


def notebook(*widgets):
    """The tiny chapter with these widgets, stored as the chapters store theirs."""
    made, states = chapter(), {}
    for k, widget in enumerate(widgets):
        model = f"{k:032x}"
        state = {name: x for name, x in widget.get_state().items() if name not in UNSTORED}
        states[model] = {
            "model_module": "anywidget",
            "model_module_version": "0.9.*",
            "model_name": "AnyModel",
            "state": state,
        }
        view = {"model_id": model, "version_major": 2, "version_minor": 0}
        data = {VIEW: view, "text/html": widget._repr_mimebundle_()[0]["text/html"]}
        output = v4.new_output("display_data", data=data)
        made.cells.append(v4.new_code_cell("w", execution_count=9 + k, outputs=[output]))
    made.metadata.widgets = {STATE: {"state": states, "version_major": 2, "version_minor": 0}}
    return made


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    done, html = build(tmp_path_factory.mktemp("sidecar"), notebook(head_view(), MaskExplorer()))
    assert done.returncode == 0, done.stdout + done.stderr
    return html


def states(html):
    text = (html / PAGE).read_text(encoding="utf-8")
    (stored,) = re.findall(rf'<script type="{re.escape(STATE)}">(.*?)</script>', text, re.DOTALL)
    return [model["state"] for model in json.loads(stored)["state"].values()]


def test_the_page_holds_names_and_sizes_and_the_files_the_texts(html):
    state, other = states(html)
    packed = head_view().maps
    assert [stored["bytes"] for stored in state["maps"]] == [len(text) for text in packed]
    files = [html / "_widgets" / stored["sidecar"] for stored in state["maps"]]
    assert [file.read_text(encoding="utf-8") for file in files] == packed
    assert not any(text in (html / PAGE).read_text(encoding="utf-8") for text in packed)
    assert state["texts"] == [["first", TOKENS], ["second", TOKENS]]  # the rest as it was
    assert other["n_queries"] == 6


def test_a_page_that_a_later_build_leaves_alone_keeps_its_names(html):
    before = (html / PAGE).read_bytes()
    put_aside(SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=html), None)
    assert (html / PAGE).read_bytes() == before


def fetched(seen):
    """The names of the texts that were asked for, in order."""
    names = (response.url.rpartition("/")[2] for response in seen.responses)
    return [name for name in names if name.endswith(".txt")]


def test_the_host_fetches_one_text_when_the_reader_asks(html, browser):
    with served(html) as address, visit(browser, f"{address}/{PAGE}") as seen:
        first, second = (stored["sidecar"] for stored in states(html)[0]["maps"])
        assert fetched(seen) == []
        seen.page.get_by_role("button", name="Show the heads").click()
        seen.page.wait_for_selector(".mt-inside:not([hidden])")
        assert fetched(seen) == [first]
        weights = seen.page.locator(".mt-top tbody td.number.bar").evaluate_all(
            "cells => cells.map(c => Number(c.dataset.value))"
        )
        expected = np.sort(head_view().weights(0)[0, 0, 0])[::-1]
        np.testing.assert_allclose(weights, expected[expected > 0], rtol=0, atol=1e-6)
        with seen.page.expect_response(f"**/{second}"):
            seen.page.get_by_label("second").check(force=True)
        assert fetched(seen) == [first, second]
        assert seen.page.locator(".mt-widget b b, .widget :is(script[src], img)").count() == 0
        assert (seen.foreign, seen.complaints) == ([], [])


def test_a_file_that_is_missing_is_said(html, browser):
    with served(html) as address, visit(browser, f"{address}/{PAGE}") as seen:
        name = states(html)[0]["maps"][0]["sidecar"]
        seen.page.route(f"**/{name}", lambda route: route.fulfill(status=404, body="gone"))
        seen.page.get_by_role("button", name="Show the heads").click()
        seen.page.get_by_text(f"could not be loaded ({name}: 404").wait_for()
