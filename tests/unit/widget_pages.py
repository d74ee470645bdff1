"""What the browser tests of several widgets do with a page: slide, read tables, measure, check."""

import json

import numpy as np
from axe_playwright_python.sync_playwright import Axe

FRAME_MS = 16
HOSTILE = "</script><img src=x onerror=alert(1)>"
# The k-th place of a slider.
SLIDE = """
({ label, places }) => {
  const field = [...document.querySelectorAll("label")]
    .find((one) => one.textContent.startsWith(label)).querySelector("input");
  return (k) => {
    field.value = String(places[k % places.length]);
    field.dispatchEvent(new Event("input"));
  };
}
"""
TIMES = """
(argument) => {
  const change = (%s)(argument);
  const once = (k) => {
    const start = performance.now();
    change(k);
    document.querySelector(".mt-widget").getBoundingClientRect(); // the layout counts too
    return performance.now() - start;
  };
  return Array.from({ length: 120 }, (_, k) => once(k)).slice(20).sort((a, b) => a - b);
}
"""


def slide(page, label, place):
    """Move a slider to its ``place``, as dragging it does."""
    page.get_by_label(label, exact=True).fill(str(place))


def rows(page, table):
    """The numbers of a table's body, with their full precision: array (row, column)."""
    return np.array(
        page.locator(f"{table} tbody tr").evaluate_all(
            "rows => rows.map(r => [...r.cells].slice(1).map(c => Number(c.dataset.value)))"
        ),
        dtype=float,
    )


def check_slider_fits_a_frame(page, label, places):
    """One change of a slider, layout included, fits a frame."""
    check_fits_a_frame(page, SLIDE, {"label": label, "places": places})


def check_fits_a_frame(page, changes, argument=None):
    """One change, layout included, fits a frame.

    ``changes`` is a function in JavaScript of ``argument``; it gives the one that makes change k.
    """
    times = page.evaluate(TIMES % changes, argument)
    print(f"{argument or ''} median {times[50]:.1f} ms, 95 % {times[95]:.1f} ms")
    assert times[10] <= FRAME_MS  # the tenth least disturbed by what else the machine does


def check_accessible(page, width):
    """No violation that axe knows, and nothing wider than the page."""
    violations = Axe().run(page).response["violations"]
    assert violations == [], json.dumps(violations)
    check_width(page, width)


def check_width(page, width):
    """Nothing is wider than the page."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def check_targets(page, at_least, targets="button, summary, input, .mt-handle"):
    """All controls are there and large enough for a finger."""
    sizes = page.locator(f".mt-widget :is({targets})").evaluate_all(
        "nodes => nodes.map(n => n.getBoundingClientRect()).map(r => Math.min(r.width, r.height))"
    )
    assert len(sizes) >= at_least
    assert min(sizes) >= 24


def drag_by_finger(page, locator, start, end):
    """One finger drags over ``locator``, from one share of its width to another."""
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    y = box["y"] + box["height"] / 2
    xs = [box["x"] + share * box["width"] for share in (start, (start + end) / 2, end)]
    session = page.context.new_cdp_session(page)
    for kind, points in (
        ("touchStart", [{"x": xs[0], "y": y}]),
        ("touchMove", [{"x": xs[1], "y": y}]),
        ("touchMove", [{"x": xs[2], "y": y}]),
        ("touchEnd", []),
    ):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
