"""The mask explorer in a real browser, mounted from its module with no kernel behind it."""

import json

import numpy as np
import pytest
from widget_harness import mount
from widget_pages import check_accessible, check_fits_a_frame, check_targets, drag_by_finger

from minitransformer.widgets import MaskExplorer

pytestmark = pytest.mark.browser
PRESETS = 7


def set_by_reader(page):
    return MaskExplorer(**page.evaluate("model.state"))


def shown(page, attribute="data-value"):
    rows = page.locator(".mt-mask tbody tr").all()
    cells = [row.locator("td.number").all() for row in rows]
    if attribute == "text":
        return [[cell.inner_text() for cell in row] for row in cells]
    return [[float(cell.get_attribute(attribute)) for cell in row] for row in cells]


def check_table(page):
    widget = set_by_reader(page)
    np.testing.assert_allclose(shown(page), widget.weights, rtol=0, atol=1e-6)
    assert [[text != "–" for text in row] for row in shown(page, "text")] == widget.mask.tolist()


def slide(page, label, value):
    page.get_by_label(label, exact=True).evaluate(
        """(field, value) => {
          field.value = value;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        value,
    )


def summary(page):
    return page.locator(".mt-summary").inner_text()


def test_every_example_shows_the_numbers_of_python(page):
    mount(page, MaskExplorer())
    buttons = page.locator(".mt-buttons button")
    assert buttons.count() == PRESETS
    seen = set()
    for k in range(PRESETS):
        buttons.nth(k).click()
        check_table(page)
        seen.add(json.dumps(page.evaluate("model.state"), sort_keys=True))
    assert len(seen) == PRESETS
    assert page.problems == []


def test_each_slider_and_the_causal_mask_change_the_weights(page):
    mount(page, MaskExplorer(n_queries=4, n_keys=6, q_offset=3))
    for label, name, value in (
        ("query offset", "q_offset", 2),
        ("window, keys back", "window", 1),
        ("padding, left", "pad_left", 2),
        ("padding, right", "pad_right", 1),
        ("queries", "n_queries", 5),
        ("keys", "n_keys", 7),
    ):
        before = shown(page)
        slide(page, label, value)
        assert page.evaluate(f"model.state.{name}") == value
        assert shown(page) != before
        check_table(page)
    before = shown(page)
    page.get_by_label("causal mask").uncheck()
    assert shown(page) != before
    check_table(page)
    page.wait_for_function("model.saves > 0")
    assert page.evaluate("model.saved.causal") is False


def test_the_arrow_keys_move_a_slider(page):
    mount(page, MaskExplorer())
    page.get_by_label("query offset").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("model.state.q_offset") == 2
    check_table(page)


def test_a_finger_moves_sliders_and_taps_the_rest(phone):
    mount(phone, MaskExplorer(n_queries=4, n_keys=6, q_offset=2))
    for label, name, start, end in (
        ("query offset", "q_offset", 0.4, 0.02),
        ("window, keys back", "window", 0.98, 0.02),
        ("padding, left", "pad_left", 0.02, 0.5),
    ):
        before = phone.evaluate(f"model.state.{name}")
        drag_by_finger(phone, phone.get_by_label(label, exact=True), start, end)
        assert phone.evaluate(f"model.state.{name}") != before
        check_table(phone)
    phone.get_by_label("causal mask").tap()
    assert phone.evaluate("model.state.causal") is False
    phone.get_by_role("button", name="Chunk").tap()
    check_table(phone)
    assert phone.evaluate("model.state.causal") is True
    assert phone.problems == []


def test_the_last_step_of_the_window_is_no_limit(page):
    mount(page, MaskExplorer(window=9))
    slider = page.get_by_label("window, keys back")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("model.state.window") is None
    assert slider.get_attribute("aria-valuetext") == "no limit"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("model.state.window") == 9


def test_padding_never_exceeds_the_keys(page):
    mount(page, MaskExplorer(n_keys=6, pad_left=4, pad_right=1))
    slide(page, "padding, right", 5)
    assert page.evaluate("[model.state.pad_left, model.state.pad_right]") == [1, 5]
    slide(page, "padding, left", 10)
    assert page.evaluate("[model.state.pad_left, model.state.pad_right]") == [6, 0]
    check_table(page)
    assert "Nothing to see at place 1, 2, 3, 4, 5 and 6" in summary(page)


def test_the_summary_names_the_alignment_and_empty_rows(page):
    mount(page, MaskExplorer())
    assert summary(page) == "21 of 36 scores count."
    page.get_by_role("button", name="Wrong alignment").click()
    assert "the offset would be keys − queries = 5" in summary(page)
    page.get_by_role("button", name="Padding on the left").click()
    assert "Nothing to see at place 1 and 2: weights of 0, not NaN." in summary(page)


def test_a_change_from_python_is_shown(page):
    mount(page, MaskExplorer())
    page.evaluate("model.set('q_offset', 4); model.set('window', 1)")
    check_table(page)
    assert page.get_by_label("query offset").input_value() == "4"


def test_leaving_the_page_saves_and_stops_listening(page):
    mount(page, MaskExplorer())
    slide(page, "query offset", 3)
    page.evaluate("unmount()")
    assert page.evaluate("model.saved.q_offset") == 3
    assert page.evaluate("model.listening()") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, MaskExplorer(n_queries=10, n_keys=10, pad_left=2), theme)
    check_accessible(page, width)


def test_targets_are_large_enough_for_a_finger(page):
    page.set_viewport_size({"width": 390, "height": 900})
    mount(page, MaskExplorer())
    check_targets(page, at_least=PRESETS + 7)


def test_hidden_cells_differ_without_colour(page):
    """By their text and their hatching: a weight near 0 has neither."""
    mount(page, MaskExplorer())
    image = page.locator("td.hidden").first.evaluate("n => getComputedStyle(n).backgroundImage")
    assert "repeating-linear-gradient" in image


def test_one_change_at_full_size_fits_a_frame(page):
    mount(page, MaskExplorer(n_queries=10, n_keys=10))
    changes = """() => {
      const field = document.querySelectorAll("input[type=range]")[2];
      return (k) => {
        field.value = k % 10;
        field.dispatchEvent(new Event("input"));
      };
    }"""
    check_fits_a_frame(page, changes)
    assert page.evaluate("model.state.q_offset") == 9  # the changes were real
