"""The positions widget in a real browser, mounted from its module with no kernel behind it."""

import numpy as np
import pytest
from widget_harness import mount
from widget_pages import check_accessible, check_slider_fits_a_frame, check_targets, check_width

from minitransformer.widgets import Positions
from minitransformer.widgets.positions import KINDS

pytestmark = pytest.mark.browser


def slider(page, name):
    return page.get_by_role("slider", name=name)


def rows(page, table):
    return page.locator(f"{table} tbody tr").evaluate_all(
        """rows => rows.map(r => [...r.cells].map(
          c => Number(c.dataset.value ?? (c.textContent.replace("▸ ", "")))))"""
    )


def summary(page):
    return page.locator(".mt-summary").inner_text()


def check_shown(page):
    """The page shows the numbers of Python, for the inputs that it wrote to its model."""
    widget = Positions(**page.evaluate("model.state"))
    moved = rows(page, ".mt-moved")
    assert [widget.query_at, widget.key_at] in [row[:2] for row in moved]
    for query, key, score, *alone in moved:
        assert query - key == widget.query_at - widget.key_at
        assert score == pytest.approx(widget.scores[int(query), int(key)], abs=1e-6)
        if alone:
            pair = widget.encoding[[int(query), int(key)]]
            assert alone[0] == pytest.approx(pair[0] @ pair[1] / widget.d_model**0.5, abs=1e-6)
    rate = 0 if widget.kind == "none" else widget.base ** (-2 * widget.pair / widget.d_model)
    angles = [widget.query_at * rate, widget.key_at * rate]
    expected = [*angles, angles[0] - angles[1]]
    np.testing.assert_allclose(rows(page, ".mt-turned")[0][1:], expected, rtol=0, atol=1e-6)
    sentence = np.array(rows(page, ".mt-sentence"))[:, 1:]
    expected = np.vstack([widget.order_weights, widget.order_changes]).T
    np.testing.assert_allclose(sentence, expected, rtol=0, atol=1e-6)
    assert page.problems == []
    return widget


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_shows_the_numbers_of_python(page, kind):
    words = ["der", "Hund", "beißt", "den", "Mann"]
    mount(page, Positions(kind=kind, d_model=8, base=300.0, query_at=3, key_at=20, words=words))
    check_shown(page)
    page.get_by_text("The map as a table").click()
    page.wait_for_selector(".mt-all tbody")  # filled when it opens
    shown = np.array(rows(page, ".mt-all"))[:, 1:]
    expected = Positions(kind=kind, d_model=8, base=300.0).encoding
    np.testing.assert_allclose(shown, expected, rtol=0, atol=1e-6)


def test_moving_both_leaves_a_rotary_score_as_it_is(page):
    mount(page, Positions(kind="rotary"))
    before = rows(page, ".mt-moved")[0][2]
    dial = page.locator(".mt-angle").get_attribute("d")
    slider(page, "Both together").focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    widget = check_shown(page)
    assert (widget.query_at, widget.key_at) == (15, 11)
    assert {round(row[2], 9) for row in rows(page, ".mt-moved")} == {round(before, 9)}
    assert "it is the same at all 28 places" in summary(page)
    assert page.locator(".mt-angle").get_attribute("d") != dial  # the hands turned
    page.keyboard.press("End")
    assert check_shown(page).query_at == 31
    page.keyboard.press("Home")
    assert check_shown(page).key_at == 0


def test_moving_both_changes_a_sinusoidal_score(page):
    mount(page, Positions(kind="sinusoidal"))
    table = rows(page, ".mt-moved")
    assert len({round(row[2], 3) for row in table}) == 5
    assert len({round(row[3], 9) for row in table}) == 1
    assert "over 28 places it runs from" in summary(page)


def test_without_positions_the_order_does_not_count(page):
    mount(page, Positions(kind="rotary"))
    verdict = page.locator(".mt-verdict")
    assert verdict.inner_text().startswith("Yes: “Hund beißt Mann” and “Mann beißt Hund”")
    page.get_by_label("none").check(force=True)
    assert verdict.inner_text().startswith("No: “Hund beißt Mann” and “Mann beißt Hund”")
    assert "never turns" in page.locator(".mt-turned caption").inner_text()
    check_shown(page)


def test_each_slider_changes_its_input(page):
    mount(page, Positions())
    for name, key, expected in (
        ("Query at", "ArrowRight", {"query_at": 10}),
        ("Key at", "ArrowLeft", {"key_at": 4}),
        ("Pair shown", "End", {"pair": 7}),
        ("Width d_model", "ArrowLeft", {"d_model": 8, "pair": 3}),
        ("Base", "ArrowLeft", {"base": 5600}),
        ("Positions", "Home", {"n_positions": 2, "query_at": 1, "key_at": 1}),
    ):
        slider(page, name).focus()
        page.keyboard.press(key)
        widget = check_shown(page)
        assert {name: getattr(widget, name) for name in expected} == expected
    assert "no other place" not in summary(page).lower()
    page.wait_for_function("model.saved?.n_positions === 2")


def test_undo_and_reset(page):
    mount(page, Positions())
    slider(page, "Both together").fill("20")
    page.get_by_label("rotary").check(force=True)
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).kind == "sinusoidal"
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).query_at == 9
    slider(page, "Base").fill("2")
    slider(page, "Pair shown").fill("4")
    page.get_by_role("button", name="Reset").click()
    widget = check_shown(page)
    assert (widget.base, widget.pair) == (10000, 1)
    slider(page, "Query at").focus()
    page.keyboard.press("Control+z")
    assert check_shown(page).pair == 4


def chart_point(page, distance):
    box = page.locator(".mt-distance").bounding_box()
    at = (40 + (distance + 31) / 62 * 288) / 340
    return box["x"] + at * box["width"], box["y"] + box["height"] / 2


def test_the_key_is_dragged_along_the_chart_in_one_step(page):
    mount(page, Positions())
    page.mouse.move(*chart_point(page, 2))
    page.mouse.down()
    page.mouse.move(*chart_point(page, 8))
    page.mouse.move(*chart_point(page, 14))
    page.mouse.up()
    page.mouse.move(*chart_point(page, 3))  # the key was let go
    assert check_shown(page).key_at == 23
    page.mouse.move(*chart_point(page, -20))
    page.mouse.down()
    page.mouse.up()
    assert check_shown(page).key_at == 0  # no key stands farther back
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).key_at == 5


def stroke(page, places):
    """A finger goes down at the first of ``places``, along the others, and up."""
    session = page.context.new_cdp_session(page)
    for number, (x, y) in enumerate(places):
        event = {"type": "touchMove" if number else "touchStart", "touchPoints": [{"x": x, "y": y}]}
        session.send("Input.dispatchTouchEvent", event)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_a_finger_drags_the_key(phone):
    mount(phone, Positions(kind="rotary"))
    phone.locator(".mt-distance").scroll_into_view_if_needed()
    stroke(phone, [chart_point(phone, distance) for distance in (0, 6, 12)])
    phone.wait_for_function("model.saves > 0")
    assert check_shown(phone).key_at == 21


def test_a_finger_taps_the_chart(phone):
    mount(phone, Positions(kind="rotary"))
    phone.locator(".mt-distance").scroll_into_view_if_needed()
    stroke(phone, [chart_point(phone, 12)])
    phone.wait_for_function("model.saves > 0")
    assert check_shown(phone).key_at == 21


def test_a_finger_that_scrolls_over_the_chart_moves_no_key(phone):
    mount(phone, Positions(kind="rotary"))
    phone.locator(".mt-distance").scroll_into_view_if_needed()
    before = phone.evaluate("scrollY")
    x, y = chart_point(phone, 12)
    stroke(phone, [(x, y - 30 * step) for step in range(9)])
    phone.wait_for_function("before => scrollY > before", arg=before)
    assert check_shown(phone).key_at == 5


def test_a_finger_taps_the_map(phone):
    mount(phone, Positions(kind="rotary"))
    picture = phone.locator(".mt-encoding")
    box = picture.bounding_box()
    x = (40 + 10.5 / 16 * 288) / 340 * box["width"]  # dimension 10: of pair 2
    y = (10 + 25.5 / 32 * 202) / 250 * box["height"]
    picture.tap(position={"x": x, "y": y})
    phone.wait_for_function("model.saves > 0")
    widget = check_shown(phone)
    assert (widget.query_at, widget.pair) == (25, 2)


def test_a_change_from_python_is_shown(page):
    mount(page, Positions())
    page.evaluate('model.set("words", ["x", "y"]); model.set("kind", "rotary")')
    assert len(check_shown(page).words) == 2
    page.evaluate('model.set("n_positions", 4)')  # query and key do not fit yet
    page.evaluate('model.set("query_at", 3); model.set("key_at", 1)')
    assert check_shown(page).n_positions == 4


@pytest.mark.parametrize("width", [390, 900])
def test_hostile_words_are_text(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    words = ["</script><img src=x onerror=alert(1)>", "<b>bold</b>", "x" * 300]
    mount(page, Positions(words=words))
    assert page.locator("#widget :is(img, script, th b)").count() == 0
    assert page.locator(".mt-sentence tbody th").all_text_contents() == words
    check_width(page, width)
    assert page.problems == []


@pytest.mark.parametrize("name", ["Both together", "Query at", "Base"])
def test_one_change_at_full_size_fits_a_frame(page, name):
    kind = "rotary" if name == "Base" else "sinusoidal"
    mount(page, Positions(kind=kind, n_positions=64, d_model=32, query_at=0, key_at=0))
    check_slider_fits_a_frame(page, name, list(range(5)))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, Positions(n_positions=12, d_model=32, query_at=9), theme)
    page.get_by_text("The map as a table").click()
    page.wait_for_selector(".mt-all tbody")
    for kind in ("none", "rotary"):
        page.get_by_label(kind, exact=True).check(force=True)
        check_accessible(page, width)
    check_targets(page, at_least=12)


def test_labels_of_the_pictures_lie_inside(page):
    for kind in KINDS:
        for query in range(0, 32, 5):
            mount(page, Positions(kind=kind, query_at=query, key_at=31, d_model=32, pair=0))
            outside = page.locator(".mt-strip text").evaluate_all(
                """nodes => nodes.filter((n) => {
                  const [b, o] = [n, n.ownerSVGElement].map((x) => x.getBoundingClientRect());
                  return b.left < o.left - 1 || b.right > o.right + 1 ||
                    b.top < o.top - 1 || b.bottom > o.bottom + 1;
                }).map((n) => n.textContent)"""
            )
            assert outside == []


def test_the_hands_keep_their_names_apart(page):
    mount(page, Positions(kind="rotary", base=1.0, pair=0))
    for query in range(12):
        for key in range(query - 1, query + 2):
            page.evaluate(f"model.set('query_at', {query}); model.set('key_at', {max(key, 0)})")
            boxes = page.locator(".mt-hand text").evaluate_all(
                """all => all.map(t => t.getBoundingClientRect())
                  .map(b => [b.x, b.y, b.right, b.bottom])"""
            )
            (x1, y1, right1, bottom1), (x2, y2, right2, bottom2) = boxes
            overlap = min(right1, right2) - max(x1, x2), min(bottom1, bottom2) - max(y1, y2)
            assert min(overlap) < 4


def test_nothing_moves_by_itself(page):
    """Reduced motion is honoured because there is no motion but the reader's."""
    page.emulate_media(reduced_motion="reduce")
    mount(page, Positions())
    slider(page, "Both together").fill("20")
    assert page.evaluate("document.getAnimations().length") == 0


def test_leaving_the_page_saves_and_stops_listening(page):
    mount(page, Positions())
    slider(page, "Query at").fill("12")
    page.evaluate("unmount()")
    assert page.evaluate("model.saved.query_at") == 12
    assert page.evaluate("model.listening()") == 0
    assert page.locator(".mt-widget").count() == 0
