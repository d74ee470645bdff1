"""Grouping and cache in a real browser, mounted from its module with no kernel behind it."""

import numpy as np
import pytest
from widget_harness import mount
from widget_pages import (
    HOSTILE,
    check_accessible,
    check_slider_fits_a_frame,
    check_targets,
    check_width,
    drag_by_finger,
    rows,
    slide,
)

from minitransformer import costs
from minitransformer.widgets import GroupingAndCache

pytestmark = pytest.mark.browser


def check_shown(page):
    """The page shows the numbers and groups of Python, for the inputs that it wrote down."""
    widget = GroupingAndCache(**page.evaluate("model.state"))
    expected = np.array([row[1:] for row in widget.comparison], dtype=float)
    np.testing.assert_allclose(rows(page, ".mt-cache"), expected, rtol=1e-12)
    members = page.locator(".mt-groups li").evaluate_all(
        """boxes => boxes.map((box) =>
          [...box.querySelectorAll(".mt-heads span")].map((head) => Number(head.textContent)))"""
    )
    assert members == [
        np.flatnonzero(widget.reads == serving).tolist() for serving in range(widget.n_kv_heads)
    ]
    assert page.problems == []
    return widget


def summary(page):
    return page.locator(".mt-summary").inner_text()


def test_every_model_loads_and_shows_the_numbers_of_python(page):
    mount(page, GroupingAndCache(n_heads=2, n_kv_heads=1))
    for sizes in costs.PUBLISHED:
        button = page.get_by_role("button", name=sizes.name)
        assert button.get_attribute("aria-pressed") == "false"
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        widget = check_shown(page)
        shown = (widget.n_layers, widget.n_heads, widget.n_kv_heads, widget.d_head)
        assert shown == sizes[1:5]


def test_the_table_of_models_names_their_sources(page):
    mount(page, GroupingAndCache())
    page.locator("summary").click()
    for sizes in costs.PUBLISHED:
        row = page.locator("details tr", has_text=sizes.name)
        assert sizes.source in row.inner_text()
        values = [
            float(x)
            for x in row.locator("td.number").evaluate_all(
                "cells => cells.map(c => c.dataset.value)"
            )
        ]
        assert values == [*sizes[1:5], 1 - sizes.n_kv_heads / sizes.n_heads]


def test_sliders_answer_to_the_keyboard(page):
    mount(page, GroupingAndCache(n_heads=12, n_kv_heads=4))
    page.get_by_label("KV heads", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert check_shown(page).n_kv_heads == 6
    page.keyboard.press("End")
    assert check_shown(page).n_kv_heads == 12
    page.keyboard.press("Home")
    assert check_shown(page).n_kv_heads == 1
    page.get_by_label("Tokens", exact=True).focus()
    page.keyboard.press("End")
    assert check_shown(page).length == 2**20
    page.get_by_label("Layers", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    assert check_shown(page).n_layers == 31
    page.wait_for_function("model.saved.n_layers === 31")


def test_only_divisors_can_be_set(page):
    """Whatever the reader does to the query heads, the KV heads divide them."""
    mount(page, GroupingAndCache(n_heads=9, n_kv_heads=3))
    for place in range(17):
        slide(page, "Query heads", place)
        widget = check_shown(page)
        last = page.get_by_label("KV heads", exact=True).get_attribute("max")
        assert int(last) + 1 == sum(widget.n_heads % d == 0 for d in range(1, widget.n_heads + 1))


def test_each_input_changes_the_cache(page):
    mount(page, GroupingAndCache())
    for label, place in (("Width of a head", 2), ("Texts at a time", 3), ("Tokens", 5)):
        before = rows(page, ".mt-cache")[:, 2]
        slide(page, label, place)
        check_shown(page)
        assert (rows(page, ".mt-cache")[:, 2] != before).all()
    page.get_by_label("4: float32").check(force=True)
    assert check_shown(page).bytes_per_number == 4


def test_the_sentence_multiplies_out(page):
    mount(page, GroupingAndCache(n_heads=64, n_kv_heads=8, n_layers=80, length=4096))
    assert (
        "2 (key and value) · 80 layers · 8 KV heads · width 128 · 2 bytes = 328 kB. "
        "4,096 tokens: 1.34 GB. 87.5 % less"
    ) in summary(page)
    page.get_by_label("KV heads", exact=True).focus()
    page.keyboard.press("End")
    assert "Nothing is saved" in summary(page)


def test_undo_and_reset(page):
    mount(page, GroupingAndCache(n_heads=12, n_kv_heads=4))
    slide(page, "Query heads", 0)
    assert check_shown(page).n_kv_heads == 1
    page.get_by_role("button", name="Undo").click()
    widget = check_shown(page)
    assert (widget.n_heads, widget.n_kv_heads) == (12, 4)
    page.get_by_role("button", name="GPT-3 175B").click()
    page.keyboard.press("Control+z")
    assert check_shown(page).n_heads == 12
    page.get_by_role("button", name="GPT-3 175B").click()
    page.get_by_role("button", name="Reset").click()
    assert check_shown(page).n_heads == 12


def test_a_change_from_python_is_shown(page):
    mount(page, GroupingAndCache(n_heads=12, n_kv_heads=4))
    page.evaluate('model.set("n_heads", 10); model.set("n_kv_heads", 5)')
    assert check_shown(page).n_heads == 10


def test_a_finger_moves_a_slider_and_loads_a_model(phone):
    mount(phone, GroupingAndCache())
    drag_by_finger(phone, phone.get_by_label("KV heads", exact=True), 0.6, 0.02)
    assert check_shown(phone).n_kv_heads == 1
    phone.get_by_role("button", name="Llama 2 70B").tap()
    assert check_shown(phone).n_heads == 64


@pytest.mark.parametrize("label", ["Query heads", "KV heads", "Tokens"])
def test_one_change_fits_a_frame(page, label):
    mount(page, GroupingAndCache(n_heads=128, n_kv_heads=64))
    check_slider_fits_a_frame(page, label, [16, 7, 12])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, GroupingAndCache(length=2**20, batch=1024), theme)
    page.locator("summary").click()
    for sizes in (costs.PUBLISHED[0], costs.PUBLISHED[-1]):
        page.get_by_role("button", name=sizes.name).click()
        check_accessible(page, width)


def test_targets_are_large_enough_for_a_finger(page):
    page.set_viewport_size({"width": 390, "height": 900})
    mount(page, GroupingAndCache())
    check_targets(page, at_least=17)


@pytest.mark.parametrize("width", [390, 900])
def test_hostile_names_are_text(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(
        page,
        GroupingAndCache(models=[[HOSTILE, 1, 2, 1, 4, HOSTILE], ["x" * 300, 1, 2, 2, 4, "y"]]),
    )
    page.locator("summary").click()
    assert page.get_by_role("button", name=HOSTILE).count() == 1
    assert page.locator("img").count() == 0
    check_width(page, width)
    assert page.problems == []


def test_leaving_the_page_stops_listening(page):
    mount(page, GroupingAndCache())
    page.evaluate("unmount()")
    assert page.evaluate("model.listening()") == 0
    assert page.locator(".mt-widget").count() == 0
