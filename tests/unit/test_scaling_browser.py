"""Scaling in a real browser, mounted from its module with no kernel behind it."""

import itertools

import numpy as np
import pytest
from widget_harness import mount
from widget_pages import (
    check_accessible,
    check_slider_fits_a_frame,
    check_targets,
    drag_by_finger,
    rows,
)

from minitransformer.widgets import Scaling
from minitransformer.widgets.scaling import DIVISORS, WIDTHS

pytestmark = pytest.mark.browser


def slider(page, name):
    return page.get_by_label(name)


def check_shown(page):
    """The page shows the numbers of Python, for the inputs that it wrote to its model."""
    widget = Scaling(**page.evaluate("model.state"))
    expected = np.stack([widget.products, widget.scores, widget.weights], axis=1)
    np.testing.assert_allclose(rows(page, ".mt-working"), expected, rtol=0, atol=1e-6)
    said = page.locator(".mt-summary").inner_text()
    assert f"effectively {widget.effective_keys:.2f} of 8 keys" in said
    assert f"norm of the Jacobian {widget.jacobian_norm:.3f}" in said
    assert page.problems == []
    return widget


@pytest.mark.parametrize("draw", [0, 4])
@pytest.mark.parametrize("divisor", DIVISORS)
def test_the_page_shows_the_numbers_of_python(page, draw, divisor):
    mount(page, Scaling(d_k=32, divisor=divisor, size=1.5, temperature=0.7, draw=draw))
    check_shown(page)


def test_the_table_holds_all_widths_and_divisors(page):
    mount(page, Scaling(size=0.5, draw=6))
    page.get_by_text("The picture as a table").click()
    expected = [
        [Scaling(d_k=w, divisor=d, size=0.5, draw=6).effective_keys for d in DIVISORS]
        for w in WIDTHS
    ]
    np.testing.assert_allclose(rows(page, ".mt-matrix"), expected, rtol=0, atol=1e-6)
    assert page.locator("tr.followed th").inner_text() == "64"


def test_sliders_answer_to_the_keyboard(page):
    mount(page, Scaling())
    slider(page, "Width d_k").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert check_shown(page).d_k == 256
    assert slider(page, "Width d_k").get_attribute("aria-valuetext") == "256"
    slider(page, "Size of numbers").focus()
    page.keyboard.press("End")
    slider(page, "Temperature").focus()
    page.keyboard.press("Home")
    widget = check_shown(page)
    assert (widget.size, widget.temperature) == (4, 0.105)
    page.wait_for_function("model.saves > 0")
    assert page.evaluate("model.saved.d_k") == 256


def test_divisors_and_new_vectors(page):
    mount(page, Scaling())
    before = check_shown(page).products
    page.get_by_label("nothing").check(force=True)
    assert check_shown(page).divisor == "nothing"
    page.get_by_role("button", name="New vectors").click()
    widget = check_shown(page)
    assert widget.draw == 1
    assert not np.allclose(widget.products, before)


def test_a_finger_moves_a_slider_and_taps_a_divisor(phone):
    mount(phone, Scaling(d_k=64))
    drag_by_finger(phone, slider(phone, "Width d_k"), 0.6, 0.98)
    assert check_shown(phone).d_k == max(WIDTHS)
    drag_by_finger(phone, slider(phone, "Temperature"), 0.5, 0.02)
    assert check_shown(phone).temperature < 0.2
    phone.locator("label", has_text="nothing").tap()
    assert check_shown(phone).divisor == "nothing"
    phone.get_by_role("button", name="New vectors").tap()
    assert check_shown(phone).draw == 1


def test_undo_and_reset(page):
    mount(page, Scaling())
    page.get_by_role("button", name="New vectors").click()
    slider(page, "Width d_k").fill("9")
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).d_k == 64
    slider(page, "Width d_k").fill("3")
    page.get_by_role("button", name="Reset").click()
    widget = check_shown(page)
    assert (widget.d_k, widget.draw) == (64, 0)


def test_a_change_from_python_is_shown(page):
    mount(page, Scaling())
    page.evaluate('model.set("draw", 42)')
    assert check_shown(page).draw == 42


@pytest.mark.parametrize("name", ["Width d_k", "Temperature"])
def test_one_change_fits_a_frame(page, name):
    mount(page, Scaling(divisor="nothing"))
    check_slider_fits_a_frame(page, name, list(range(3)))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, Scaling(d_k=1024), theme)
    page.get_by_text("The picture as a table").click()
    for divisor in DIVISORS:
        page.get_by_label(divisor, exact=True).check(force=True)
        check_accessible(page, width)


def test_targets_are_large_enough_for_a_finger(page):
    page.set_viewport_size({"width": 390, "height": 900})
    mount(page, Scaling())
    check_targets(page, at_least=10)


def test_labels_of_the_picture_lie_inside_and_apart(page):
    for draw in range(12):
        mount(page, Scaling(draw=draw, size=0.25))
        inside, boxes = page.evaluate(
            """() => {
              const box = (n) => n.getBoundingClientRect();
              const all = [...document.querySelectorAll(".mt-strip text")].map(box);
              const outer = box(document.querySelector(".mt-strip"));
              const labels = [...document.querySelectorAll(".mt-curve text")].map(box);
              return [
                all.every((b) => b.left >= outer.left - 1 && b.right <= outer.right + 1 &&
                  b.top >= outer.top - 1 && b.bottom <= outer.bottom + 1),
                labels.map((b) => [b.top, b.bottom]).sort((a, b) => a[0] - b[0]),
              ];
            }"""
        )
        assert inside
        assert all(b[0] > a[0] + 8 for a, b in itertools.pairwise(boxes))


def test_leaving_the_page_stops_listening(page):
    mount(page, Scaling())
    page.evaluate("unmount()")
    assert page.evaluate("model.listening()") == 0
    assert page.locator(".mt-widget").count() == 0
