"""The library search in a real browser, mounted from its module with no kernel behind it."""

import numpy as np
import pytest
from widget_harness import mount
from widget_pages import (
    check_accessible,
    check_fits_a_frame,
    check_targets,
    check_width,
    drag_by_finger,
)

from minitransformer.widgets import LibrarySearch

pytestmark = pytest.mark.browser


def library(seed, words=5, **inputs):
    rng = np.random.default_rng(seed)
    return LibrarySearch(
        words=[f"w{i}" for i in range(words)],
        key=rng.normal(size=(words, 2)),
        value=rng.normal(size=(words, 1)),
        query=rng.normal(size=(1, 2)),
        **inputs,
    )


def set_by_reader(page):
    return LibrarySearch(**page.evaluate("model.state"))


def check_shown(page):
    """The page shows the numbers of Python, for the inputs that it wrote to its model."""
    widget = set_by_reader(page)
    rows = page.locator(".mt-working tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.cells].slice(1).map(c => Number(c.dataset.value)))"
    )
    foot = page.locator(".mt-working tfoot td").first
    np.testing.assert_allclose(np.array(rows)[:, 0], np.ravel(widget.value), atol=1e-6)
    np.testing.assert_allclose(np.array(rows)[:, 2], widget.scores, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(np.array(rows)[:, 3], widget.weights, rtol=0, atol=1e-6)
    assert float(foot.get_attribute("data-value")) == pytest.approx(widget.answer, abs=1e-6)
    assert float(foot.inner_text().replace("−", "-")) == pytest.approx(widget.answer, abs=6e-4)
    return widget


def handle(page, i):
    return page.locator(".mt-handle").nth(i)


def drag(page, i, dx, dy):
    box = handle(page, i).locator(".mt-dot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()


@pytest.mark.parametrize("seed", [1, 2])
def test_the_page_shows_the_numbers_of_python(page, seed):
    mount(page, library(seed, sharpness=2.5))
    check_shown(page)
    assert page.problems == []


def test_the_request_is_dragged(page):
    mount(page, LibrarySearch())
    before = set_by_reader(page).answer
    drag(page, 4, 40, 80)
    widget = check_shown(page)
    assert widget.query[0][0] > 0.5
    assert widget.query[0][1] < 1.5
    assert widget.answer != pytest.approx(before, abs=0.01)
    assert widget.key == LibrarySearch().key
    page.wait_for_function("model.saves > 0")
    assert page.evaluate("model.saved.query") == widget.query


def test_a_card_is_moved_by_keys_and_undone(page):
    mount(page, LibrarySearch())
    handle(page, 0).focus()
    assert handle(page, 0).get_attribute("aria-label") == "card of Fluss"
    for key in ("ArrowLeft", "ArrowUp", "Shift+ArrowUp"):
        page.keyboard.press(key)
    assert check_shown(page).key[0] == pytest.approx([1.9, 0.11])
    page.keyboard.press("Control+z")
    assert set_by_reader(page).key == LibrarySearch().key


@pytest.mark.parametrize(("i", "name"), [(4, "query"), (3, "key")])
def test_a_finger_drags_the_request_or_a_card_and_does_not_scroll(phone, i, name):
    mount(phone, LibrarySearch())
    handle(phone, i).scroll_into_view_if_needed()
    box = handle(phone, i).locator(".mt-dot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before, scrolled = set_by_reader(phone), phone.evaluate("scrollY")
    session = phone.context.new_cdp_session(phone)
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        ("touchMove", [{"x": x + 20, "y": y + 30}]),
        ("touchMove", [{"x": x + 40, "y": y + 60}]),
        ("touchEnd", []),
    ):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    phone.wait_for_function("model.saves > 0")
    moved = np.array(getattr(check_shown(phone), name)) - np.array(getattr(before, name))
    row = moved[0] if name == "query" else moved[i]
    assert row[0] > 0.1  # to the right
    assert row[1] < -0.1  # and down
    assert np.count_nonzero(moved) == 2  # nothing else
    assert phone.evaluate("scrollY") == scrolled


def test_a_finger_moves_the_sharpness(phone):
    mount(phone, LibrarySearch(sharpness=1))
    drag_by_finger(phone, phone.get_by_label("Sharpness"), 0.5, 0.98)
    assert check_shown(phone).sharpness > 10
    phone.get_by_role("button", name="Average").tap()
    assert check_shown(phone).sharpness == 0


@pytest.mark.parametrize(
    ("button", "sharpness"), [("Average", 0), ("Soften", 0.5), ("Sharpen", 2), ("Best card", 20)]
)
def test_the_buttons_sharpen_and_soften(page, button, sharpness):
    mount(page, LibrarySearch())
    page.get_by_role("button", name=button).click()
    assert check_shown(page).sharpness == sharpness
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).sharpness == 1


def test_sharpness_stays_in_its_range_and_leaves_zero(page):
    mount(page, LibrarySearch(sharpness=15))
    page.get_by_role("button", name="Sharpen").click()
    assert set_by_reader(page).sharpness == 20
    page.get_by_role("button", name="Average").click()
    page.get_by_role("button", name="Sharpen").click()
    assert set_by_reader(page).sharpness == 0.1


def test_the_slider_works_by_keys(page):
    mount(page, LibrarySearch())
    page.get_by_label("Sharpness").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert check_shown(page).sharpness == pytest.approx(1.3)
    page.get_by_role("button", name="Reset").click()
    assert check_shown(page).sharpness == 1


def test_numbers_are_typed(page):
    mount(page, LibrarySearch())
    page.get_by_text("Type the numbers").click()
    page.get_by_label("Books, Konto, value", exact=True).fill("3")
    page.get_by_label("Request, request, dimension 1", exact=True).fill("-0.25")
    widget = check_shown(page)
    assert widget.value[2] == [3]
    assert widget.query == [[-0.25, 1.5]]
    page.get_by_label("Cards, Ufer, dimension 2", exact=True).fill("")
    assert "the field is empty" in page.locator(".mt-problem").inner_text()
    assert check_shown(page).key == LibrarySearch().key


def test_the_answer_is_said_in_words(page):
    mount(page, LibrarySearch())
    summary = page.locator(".mt-summary")
    assert summary.inner_text() == "The answer is 0.527. Largest weight: 0.563 to “Konto”."
    page.get_by_role("button", name="Average").click()
    assert summary.inner_text().startswith("The answer is −0.050. Largest weight: 0.250 each to")


def test_a_change_from_python_is_shown(page):
    mount(page, LibrarySearch())
    other = library(6, words=3)
    page.evaluate(
        "state => { for (const [name, value] of Object.entries(state)) model.set(name, value); }",
        {name: getattr(other, name) for name in ("words", "key", "value")},
    )
    assert page.locator(".mt-handle").count() == 4
    check_shown(page)


def test_leaving_the_page_saves_and_stops_listening(page):
    mount(page, LibrarySearch())
    drag(page, 4, 30, 30)
    page.evaluate("unmount()")
    assert page.evaluate("model.saved.query") == page.evaluate("model.state.query")
    assert page.evaluate("model.listening()") == 0


@pytest.mark.parametrize("width", [390, 900])
def test_hostile_words_are_text(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    words = ["</script><img src=x onerror=alert(1)>", "<b>bold</b>", "x" * 300, "‮rtl"]
    mount(page, LibrarySearch(words=words))
    assert page.locator("#widget :is(img, script, th b)").count() == 0
    assert page.locator(".mt-working tbody th").all_text_contents() == words
    check_width(page, width)
    assert page.problems == []


def test_one_change_with_twelve_cards_fits_a_frame(page):
    mount(page, library(8, words=12))
    changes = """() => {
      const field = document.querySelector("input[type=range]");
      return (k) => {
        field.value = String(1 + k / 10);
        field.dispatchEvent(new Event("input"));
      };
    }"""
    check_fits_a_frame(page, changes)
    assert page.evaluate("model.state.sharpness") == pytest.approx(12.9)  # the changes were real


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900])
def test_no_accessibility_violation(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, LibrarySearch(), theme)
    page.get_by_text("Type the numbers").click()
    check_accessible(page, width)
    check_targets(page, at_least=12, targets="button, summary, input, .mt-reach")
