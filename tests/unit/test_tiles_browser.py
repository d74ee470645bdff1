"""Tiles in a real browser, mounted from its module with no kernel behind it."""

import numpy as np
import pytest
from widget_harness import mount
from widget_pages import (
    check_accessible,
    check_slider_fits_a_frame,
    check_targets,
    drag_by_finger,
    rows,
    slide,
)

from minitransformer import reference_tiled
from minitransformer.widgets import Tiles

pytestmark = pytest.mark.browser


def texts(page, kind):
    return page.locator(f".mt-tiles .{kind} text").all_text_contents()


def check_shown(page):
    """The page shows the step of Python, for the inputs that it wrote down."""
    widget = Tiles(**page.evaluate("model.state"))
    steps = widget.steps
    at = min(widget.step, len(steps))
    arrays = (np.array(widget.query), np.array(widget.key), np.array(widget.value))
    sizes = (widget.query_tile, widget.key_tile, widget.causal)
    counts = reference_tiled.tiled_attention(*arrays, *sizes)[1]
    stored = reference_tiled.stored_attention(*arrays)[1].moved
    shown = rows(page, ".mt-moves")[:, 0]
    moved = steps[at - 1]["moved"] if at else 0
    assert shown[1:].tolist() == [counts.held, moved, counts.moved, stored]
    if at:
        step = steps[at - 1]
        running = rows(page, ".mt-running")
        expected = np.column_stack([step["largest"], step["total"], step["summed"]])
        np.testing.assert_allclose(running[:, [0, 2, 3, 4]], expected, rtol=0, atol=1e-6)
        assert texts(page, "mt-q.mt-in") == [f"Q{row + 1}" for row in step["rows"]]
        assert texts(page, "mt-k.mt-in") == [f"K{column + 1}" for column in step["columns"]]
        assert texts(page, "mt-v.mt-in") == [f"V{column + 1}" for column in step["columns"]]
    written = [row for step in steps[:at] if not step["columns"] for row in step["rows"]]
    assert texts(page, "mt-o.mt-in") == [f"O{row + 1}" for row in written]
    if not widget.causal:
        used = sum(len(step["rows"]) * len(step["columns"]) for step in steps[: max(0, at - 1)])
        assert len(texts(page, "mt-done")) == used
    assert page.problems == []
    return widget


def summary(page):
    return page.locator(".mt-summary").inner_text()


def unfold(page):
    page.locator("summary").click()
    page.wait_for_selector(".mt-list tbody")  # filled when it opens


def next_step(page):
    page.get_by_role("button", name="Next step").click()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("query_tile", "key_tile"), [(2, 4), (3, 5), (8, 2)])
def test_every_step_shows_the_numbers_of_python(page, query_tile, key_tile, causal):
    mount(page, Tiles(query_tile=query_tile, key_tile=key_tile, causal=causal))
    check_shown(page)
    steps = len(Tiles(query_tile=query_tile, key_tile=key_tile, causal=causal).steps)
    for number in range(1, steps + 1):
        next_step(page)
        assert check_shown(page).step == number
    assert page.get_by_role("button", name="Next step").get_attribute("aria-disabled") == "true"
    assert "less than 10⁻¹² apart" in summary(page)


def test_the_end_shows_the_outputs_of_plain_attention(page):
    mount(page, Tiles(query_tile=3))
    unfold(page)
    assert page.locator(".mt-outputs td", has_text="–").count() == 16
    page.get_by_role("button", name="To the end").click()
    widget = check_shown(page)
    expected = np.hstack([widget.output, widget.plain_output])
    np.testing.assert_allclose(rows(page, ".mt-outputs"), expected, rtol=0, atol=1e-6)
    assert f"Moved: {widget.steps[-1]['moved']} numbers" in summary(page)
    assert "stored, 320" in summary(page)


def test_a_rising_largest_score_shrinks_what_was_added_up(page):
    mount(page, Tiles(step=2))
    first, second = Tiles().steps[:2]
    shrink = np.exp(first["largest"] - second["largest"])
    np.testing.assert_allclose(rows(page, ".mt-running")[:, 1], shrink, rtol=0, atol=1e-6)
    i = int(np.flatnonzero(shrink < 1)[0])
    assert f"query {i + 1} rises from {first['largest'][i]:.3f}" in summary(page)
    assert f"× {shrink[i]:.3f}" in summary(page)


def test_the_table_of_steps_is_that_of_python(page):
    mount(page, Tiles(query_tile=3, key_tile=5, step=2))
    unfold(page)
    steps = Tiles(query_tile=3, key_tile=5).steps
    assert rows(page, ".mt-list")[:, -1].tolist() == [step["moved"] for step in steps]
    assert page.locator(".mt-list tr.followed th").inner_text() == "2"
    assert "outputs written" in page.locator(".mt-list tbody tr").nth(2).inner_text()


def test_the_keyboard_steps_and_sets_the_tile(page):
    mount(page, Tiles())
    page.get_by_role("button", name="Next step").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert check_shown(page).step == 2
    page.get_by_label("Step", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    assert check_shown(page).step == 1
    page.get_by_label("Queries a tile", exact=True).focus()
    page.keyboard.press("End")
    widget = check_shown(page)
    assert (widget.query_tile, widget.step) == (8, 0)
    page.get_by_label("causal").focus()
    page.keyboard.press("Space")
    assert check_shown(page).causal is True
    page.wait_for_function("model.saved.causal === true")


def test_at_the_end_another_tile_stays_at_the_end(page):
    """So that the numbers moved can be compared."""
    mount(page, Tiles())
    page.get_by_role("button", name="To the end").click()
    for size in (1, 4, 8):
        slide(page, "Queries a tile", size)
        widget = check_shown(page)
        assert f"Moved: {32 + 256 // size} numbers" in summary(page)
        assert widget.step >= len(widget.steps)


def test_back_undo_and_reset(page):
    mount(page, Tiles())
    next_step(page)
    next_step(page)
    page.get_by_role("button", name="Back").click()
    assert check_shown(page).step == 1
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).step == 2
    slide(page, "Keys a tile", 1)
    assert check_shown(page).step == 0
    page.get_by_role("button", name="Undo").click()
    widget = check_shown(page)
    assert (widget.key_tile, widget.step) == (4, 2)
    page.get_by_label("causal").check(force=True)
    assert check_shown(page).step == 0
    page.get_by_role("button", name="Undo").click()
    widget = check_shown(page)
    assert (widget.causal, widget.step) == (False, 2)
    page.get_by_role("button", name="Reset").click()
    assert check_shown(page).step == 0


def test_without_as_many_keys_as_queries_there_is_no_mask_to_choose(page):
    rng = np.random.default_rng(3)
    query, (key, value) = rng.normal(size=(5, 2)), rng.normal(size=(2, 7, 2))
    mount(page, Tiles(query=query, key=key, value=value, query_tile=8, step=1))
    assert not page.get_by_label("causal").is_visible()
    assert check_shown(page).step == 1
    assert page.get_by_label("Queries a tile", exact=True).get_attribute("aria-valuetext") == "5"
    assert page.locator(".mt-tiles .mt-now").count() == 5 * 4


def test_a_change_from_python_is_shown(page):
    mount(page, Tiles())
    page.evaluate('model.set("query_tile", 4); model.set("step", 3)')
    widget = check_shown(page)
    assert (widget.query_tile, widget.step) == (4, 3)


def test_a_finger_steps_and_drags(phone):
    mount(phone, Tiles())
    phone.get_by_role("button", name="Next step").tap()
    assert check_shown(phone).step == 1
    drag_by_finger(phone, phone.get_by_label("Step", exact=True), 0.1, 0.95)
    assert check_shown(phone).step >= 11


@pytest.mark.parametrize("label", ["Queries a tile", "Keys a tile", "Step"])
def test_one_change_fits_a_frame(page, label):
    mount(page, Tiles(query_tile=1, key_tile=1, step=40))
    unfold(page)
    check_slider_fits_a_frame(page, label, [1, 2, 8])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, Tiles(causal=True), theme)
    unfold(page)
    for name in ("Next step", "To the end"):
        page.get_by_role("button", name=name).click()
        check_accessible(page, width)


def test_targets_are_large_enough_for_a_finger(page):
    page.set_viewport_size({"width": 390, "height": 900})
    mount(page, Tiles())
    check_targets(page, at_least=11)


def test_cells_differ_without_colour(page):
    """By what is written into them: a score, a dot, a dash, nothing."""
    mount(page, Tiles(causal=True, query_tile=4, step=1))
    next_step(page)
    kinds = {kind: set(texts(page, kind)) for kind in ("mt-now", "mt-done", "mt-hide", "mt-todo")}
    assert kinds["mt-done"] <= {"·"}
    assert kinds["mt-hide"] == {"–"}
    assert kinds["mt-todo"] == {""}


def test_leaving_the_page_stops_listening(page):
    mount(page, Tiles())
    page.evaluate("unmount()")
    assert page.evaluate("model.listening()") == 0
    assert page.locator(".mt-widget").count() == 0
