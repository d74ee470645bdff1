"""The head board in a real browser, mounted from its module with no kernel behind it."""

import numpy as np
import pytest
from test_head_board import board
from widget_harness import mount
from widget_pages import check_accessible, check_fits_a_frame, check_targets

from minitransformer.widgets import HeadBoard

pytestmark = pytest.mark.browser
LINKS = [["one", 1, 2], ["two", 3, 0], ["three", 4, 4]]


def numbers(page, table):
    rows = page.locator(f".{table} tbody tr").all()
    return [
        [float(cell.get_attribute("data-value")) for cell in row.locator("td").all()]
        for row in rows
    ]


def check_row(page, widget, query):
    expected = np.vstack([widget.weights[:, query], widget.weights[:, query].mean(axis=0)]).T
    np.testing.assert_allclose(numbers(page, "mt-rows"), expected, rtol=0, atol=1e-6)
    assert page.evaluate("model.state.query") == query
    assert page.locator(".mt-tokens input").nth(query).is_checked()
    marks = page.locator(".mt-row").evaluate_all("rows => rows.map(r => r.getAttribute('y'))")
    assert set(marks) == {str(query)}


def test_every_word_shows_the_numbers_of_python(page):
    widget = board(heads=3, links=LINKS, query=2)
    mount(page, widget)
    check_row(page, widget, 2)
    for query in (0, 4):
        page.locator(".mt-tokens label").nth(query).click()
        check_row(page, widget, query)
    page.wait_for_function("model.saved?.query === 4")  # saved a little after the last choice
    assert page.problems == []


def test_relations_pick_their_query_and_have_a_table(page):
    widget = board(heads=3, links=LINKS)
    mount(page, widget)
    for k, (name, query, _) in enumerate(LINKS):
        page.get_by_role("button", name=name, exact=True).click()
        check_row(page, widget, query)
        pressed = page.locator(".mt-buttons button[aria-pressed=true]").all_inner_texts()
        assert pressed == [LINKS[k][0]]
    on = np.array([widget.weights[:, q, k] for _, q, k in LINKS])
    expected = np.column_stack([on, on.mean(axis=1)])
    np.testing.assert_allclose(numbers(page, "mt-links"), expected, rtol=0, atol=1e-6)


def test_a_row_of_a_map_can_be_clicked(page):
    widget = board(heads=3, links=LINKS)
    mount(page, widget)
    one = page.locator(".mt-maps svg").nth(1)
    size = one.bounding_box()["height"]
    one.click(position={"x": 5, "y": size * 0.7})
    check_row(page, widget, 3)


def test_a_finger_taps_words_relations_and_rows(phone):
    widget = board(heads=3, links=LINKS)
    mount(phone, widget)
    phone.locator(".mt-tokens label").nth(4).tap()
    check_row(phone, widget, 4)
    phone.get_by_role("button", name=LINKS[1][0], exact=True).tap()
    check_row(phone, widget, LINKS[1][1])
    one = phone.locator(".mt-maps svg").nth(2)
    one.tap(position={"x": 9, "y": one.bounding_box()["height"] * 0.3})
    check_row(phone, widget, 1)
    assert phone.problems == []


def test_the_arrow_keys_move_through_the_words(page):
    widget = board(links=LINKS)
    mount(page, widget)
    page.locator(".mt-tokens input").first.focus()
    page.keyboard.press("ArrowRight")
    check_row(page, widget, 1)


def test_the_maps_are_shaded_by_the_weights(page):
    widget = board(heads=3, links=LINKS)
    mount(page, widget)
    shades = page.locator(".mt-maps rect:not(.mt-row)").evaluate_all(
        "cells => cells.map(c => Number(c.style.getPropertyValue('--heat')))"
    )
    expected = widget.weights / widget.weights.max()
    np.testing.assert_allclose(shades, expected.flatten(), rtol=0, atol=1e-4)


def test_the_summary_names_where_each_head_looks(page):
    mount(page, HeadBoard(query=2))
    text = page.locator(".mt-summary").inner_text()
    assert text == (
        "From “sleeps”, the largest weight lies: head 0 on “dog” (0.85) and head 1 on “the” (0.61)."
    )


def test_a_change_from_python_is_shown(page):
    widget = board(heads=3, links=LINKS)
    mount(page, widget)
    page.evaluate("model.set('query', 3)")
    check_row(page, widget, 3)


def test_tokens_cannot_become_markup(page):
    mount(page, HeadBoard(tokens=["<img src=x>", "<b>", "c"], links=[["<i>", 0, 1]]))
    assert page.locator(".mt-widget :is(img, i)").count() == 0
    assert page.problems == []


def test_leaving_the_page_saves_and_stops_listening(page):
    mount(page, board(links=LINKS))
    page.locator(".mt-tokens label").nth(3).click()
    page.evaluate("unmount()")
    assert page.evaluate("model.saved.query") == 3
    assert page.evaluate("model.listening()") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, board(heads=8, time=20, links=LINKS), theme)
    check_accessible(page, width)


def test_targets_are_large_enough_for_a_finger(page):
    page.set_viewport_size({"width": 390, "height": 900})
    mount(page, board(links=LINKS))
    check_targets(page, at_least=len(LINKS) + 5, targets="button, label")


def test_one_change_at_full_size_fits_a_frame(page):
    mount(page, board(heads=8, time=20, links=LINKS))
    changes = """() => {
      const radios = document.querySelectorAll("input[type=radio]");
      return (k) => {
        radios[k % 20].checked = true;
        radios[k % 20].dispatchEvent(new Event("change"));
      };
    }"""
    check_fits_a_frame(page, changes)
    assert page.evaluate("model.state.query") == 19  # the changes were real
