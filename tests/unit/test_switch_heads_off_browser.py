"""Switch heads off in a real browser, mounted from its module with no kernel behind it."""

import numpy as np
import pytest
from widget_harness import mount
from widget_pages import (
    HOSTILE,
    check_accessible,
    check_fits_a_frame,
    check_targets,
    check_width,
    rows,
)

from minitransformer.measurements import table
from minitransformer.widgets import SwitchHeadsOff

pytestmark = pytest.mark.browser
PAIR, LAYER = [[0, 1], [2, 2]], [[1, 0], [1, 1], [1, 2], [1, 3]]


def small(**changes):
    effects = np.random.default_rng(4).normal(size=(3, 4)).round(3) / 10
    sets = [["a pair", PAIR, 0.5], ["layer 1", LAYER, -0.4]]
    return SwitchHeadsOff(model="three by four", effects=effects, sets=sets, **changes)


def large(**changes):
    effects = np.random.default_rng(5).normal(size=(30, 9)) / 20
    sets = [[f"layer {i}", [[i, h] for h in range(9)], 0.1 * (i % 7)] for i in range(30)]
    return SwitchHeadsOff(model="thirty by nine", effects=effects, sets=sets, **changes)


def minilm(**changes):
    tables = table("minilm_heads"), table("minilm_joint")
    return SwitchHeadsOff.from_tables(*tables, model="MiniLM-L6", **changes)


def check_shown(page):
    """The page shows the sums of Python, for the heads that it wrote down as off."""
    widget = SwitchHeadsOff(**page.evaluate("model.state"))
    pressed = page.locator(".mt-switchboard tbody tr").evaluate_all(
        """rows => rows.map((row) => [...row.querySelectorAll("button")]
          .map((one) => one.getAttribute("aria-pressed") === "true"))"""
    )
    off = np.zeros(np.shape(widget.effects), dtype=bool)
    for layer, head in widget.off:
        off[layer, head] = True
    assert [row[1:] for row in pressed] == off.tolist()
    assert [row[0] for row in pressed] == off.all(axis=1).tolist()
    total, joint, gap = rows(page, ".mt-sum")[:, 0]
    assert total == pytest.approx(widget.total, abs=1e-9)
    if widget.joint is None:  # and the page holds no number either
        assert np.isnan([joint, gap]).all()
    else:
        assert (joint, gap) == (widget.joint, pytest.approx(widget.joint - widget.total, abs=1e-9))
    assert page.problems == []
    return widget


def switch(page, layer, head):
    return page.get_by_role("button", name=f"layer {layer}, head {head}:")


def summary(page):
    return page.locator(".mt-summary").inner_text()


def test_heads_and_layers_are_switched_off_and_on(page):
    mount(page, small())
    assert summary(page) == "All heads are on."
    switch(page, 0, 1).click()
    assert check_shown(page).off == [[0, 1]]
    assert "One head is off" in summary(page)
    page.get_by_role("button", name="layer 1, all heads").click()
    assert check_shown(page).off == [[0, 1], *LAYER]
    assert "was not measured" in summary(page)
    switch(page, 0, 1).click()
    assert check_shown(page).joint == -0.4
    page.get_by_role("button", name="layer 1, all heads").click()
    assert check_shown(page).off == []
    page.wait_for_function("model.saves > 0")


def test_a_measured_set_found_head_by_head_is_recognised(page):
    mount(page, small())
    switch(page, 2, 2).click()
    switch(page, 0, 1).click()
    widget = check_shown(page)
    assert widget.off == PAIR
    assert widget.joint == 0.5
    gap = widget.joint - widget.total
    assert f"together they do +0.500, {gap:.3f} above the sum" in summary(page)
    assert page.get_by_label("Sets that were measured").input_value() == "0"
    assert page.locator(".mt-sums .mt-chosen").count() == 1


def test_after_measured_sets_what_was_not_measured_holds_no_number(page):
    """A cell that held a number must not keep it."""
    mount(page, small(off=PAIR))
    check_shown(page)
    switch(page, 0, 0).click()
    cells = page.locator(".mt-sum td.number").all_inner_texts()
    assert cells[1:] == ["not measured", "not measured"]
    check_shown(page)


def test_every_set_of_minilm_can_be_picked(page):
    mount(page, minilm())
    picker = page.get_by_label("Sets that were measured")
    for k, (_, heads, joint) in enumerate(minilm().sets):
        picker.select_option(str(k))
        widget = check_shown(page)
        assert widget.off == heads
        assert widget.joint == joint
    picker.select_option("-1")
    assert check_shown(page).off == []


def test_the_dots_stand_at_sum_and_joint_effect(page):
    mount(page, minilm())
    dots = np.array(
        page.locator(".mt-sums .mt-dot").evaluate_all(
            "dots => dots.map(d => ['cx', 'cy'].map(name => Number(d.getAttribute(name))))"
        )
    )
    widget = minilm()
    sums = [widget.added(heads) for _, heads, _ in widget.sets]
    joints = [joint for *_, joint in widget.sets]
    for place, values in zip(dots.T, (sums, joints), strict=True):
        slope, at_zero = np.polyfit(values, place, 1)
        np.testing.assert_allclose(np.array(values) * slope + at_zero, place, atol=1e-6)
    page.locator(".mt-sums .mt-dot").nth(2).click()
    assert check_shown(page).joint == joints[2]


def test_the_list_of_sets_is_that_of_python(page):
    mount(page, small(off=LAYER))
    page.locator("summary").click()
    widget = small()
    expected = [
        [len(heads), widget.added(heads), joint, joint - widget.added(heads)]
        for _, heads, joint in widget.sets
    ]
    np.testing.assert_allclose(rows(page, ".mt-sets"), expected, rtol=0, atol=1e-9)
    assert page.locator(".mt-sets tr.followed th").inner_text() == "layer 1"


def test_the_keyboard_moves_through_the_grid(page):
    mount(page, small())
    switch(page, 0, 0).focus()
    for key in ("ArrowRight", "ArrowDown", "Space", "ArrowUp", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    assert check_shown(page).off == [[0, 1], [1, 1]]
    for key in ("ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Space"):
        page.keyboard.press(key)
    assert check_shown(page).off == [[0, 1], *LAYER]
    assert page.locator(".mt-switchboard [tabindex='0']").count() == 1
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('.mt-switchboard') !== null")
    page.keyboard.press("Shift+Tab")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == "layer 1, all heads"


def test_undo_reset_and_all_on(page):
    mount(page, small(off=PAIR))
    switch(page, 1, 1).click()
    page.get_by_role("button", name="All on").click()
    assert check_shown(page).off == []
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).off == [[0, 1], [1, 1], [2, 2]]
    page.keyboard.press("Control+z")
    assert check_shown(page).off == PAIR
    switch(page, 1, 1).click()
    page.get_by_role("button", name="Reset").click()
    assert check_shown(page).off == PAIR


def test_a_change_from_python_is_shown(page):
    mount(page, small())
    page.evaluate("model.set('off', [[2, 0]])")
    assert check_shown(page).off == [[2, 0]]


def test_fingers_switch_heads(phone):
    mount(phone, minilm())
    switch(phone, 3, 11).tap()
    phone.get_by_role("button", name="layer 5, all heads").tap()
    assert check_shown(phone).off == [[3, 11], *([5, head] for head in range(12))]
    check_width(phone, 390)
    grid = phone.locator(".mt-scroll").first
    assert grid.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_one_change_fits_a_frame(page):
    mount(page, large())
    page.locator("summary").click()
    changes = """() => {
      const switches = [...document.querySelectorAll(".mt-switchboard button")];
      return (k) => switches[(7 * k) % switches.length].click();
    }"""
    check_fits_a_frame(page, changes)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    for widget in (minilm(off=[[2, head] for head in range(12)]), large(off=PAIR)):
        mount(page, widget, theme)
        page.locator("summary").click()
        check_accessible(page, width)


def test_targets_are_large_enough_for_a_finger(page):
    page.set_viewport_size({"width": 390, "height": 900})
    mount(page, minilm())
    check_targets(page, at_least=6 * 13 + 4)


def test_a_head_that_is_off_differs_without_colour(page):
    mount(page, small(off=PAIR))
    line = "node => getComputedStyle(node).textDecorationLine"
    assert switch(page, 0, 1).evaluate(line) == "line-through"
    assert switch(page, 0, 0).evaluate(line) == "none"


def test_hostile_names_are_text(page):
    widget = SwitchHeadsOff(model=HOSTILE, effects=[[1.0, 2.0]], sets=[[HOSTILE, [[0, 1]], 3.0]])
    mount(page, widget)
    page.locator("summary").click()
    assert HOSTILE in page.locator(".mt-widget p").first.inner_text()
    assert page.locator(".mt-sets th[scope=row]").inner_text() == HOSTILE
    assert page.locator("img").count() == 0
    assert page.problems == []


def test_leaving_the_page_stops_listening(page):
    mount(page, small())
    page.evaluate("unmount()")
    assert page.evaluate("model.listening()") == 0
    assert page.locator(".mt-widget").count() == 0
