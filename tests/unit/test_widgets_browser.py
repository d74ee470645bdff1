"""The attention stepper in a real browser, mounted from its module with no kernel behind it."""

import re

import numpy as np
import pytest
from widget_harness import mount
from widget_pages import check_accessible, check_fits_a_frame, check_targets, check_width

from minitransformer.widgets import AttentionStepper

pytestmark = pytest.mark.browser
STAGE_MATRIX = {1: "products", 2: "weights", 3: "weights"}


def stepper(seed=None, time=5, **inputs):
    if seed is None:
        return AttentionStepper(**inputs)
    rng = np.random.default_rng(seed)
    x, w_q, w_k, w_v = rng.normal(size=(time, 2)), *rng.normal(size=(3, 2, 2))
    tokens = [f"t{i}" for i in range(time)]
    return AttentionStepper(
        tokens=tokens, embeddings=x, w_q=w_q, w_k=w_k, w_v=w_v, query=time - 1, **inputs
    )


def set_by_reader(page):
    """A widget in Python with the inputs that the page wrote back to its model."""
    state = page.evaluate("model.state")
    return AttentionStepper(**state)


def shown(page, table=".mt-matrix", attribute="data-value"):
    """The numbers of a table's body, by full precision or as displayed."""
    rows = page.locator(f"{table} tbody tr").all()
    cells = [row.locator("td.number").all() for row in rows]
    if attribute == "text":
        return [[float(c.inner_text().replace("−", "-")) for c in row] for row in cells]
    return [[float(c.get_attribute(attribute)) for c in row] for row in cells]


def go_to(page, stage):
    page.locator(".mt-steps button").nth(stage).click()


def handle(page, i):
    return page.locator(".mt-handle").nth(i)


def centre(page, i):
    box = handle(page, i).locator(".mt-dot").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page, i, dx, dy):
    x, y = centre(page, i)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + dx / 2, y + dy / 2)
    page.mouse.move(x + dx, y + dy)
    page.mouse.up()


def field(page, label):
    return page.get_by_label(label, exact=True)


def embeddings(page):
    return page.evaluate("model.state.embeddings")


def problem(page):
    return page.locator(".mt-problem").inner_text()


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_the_page_shows_the_numbers_of_python(page, seed):
    widget = stepper(seed)
    mount(page, widget)
    for stage in (2, 3):
        go_to(page, stage)
        n = len(widget.tokens)
        full = np.array(shown(page))
        np.testing.assert_allclose(full[:, :n], widget.weights, rtol=0, atol=1e-6)
        text = np.array(shown(page, attribute="text"))
        np.testing.assert_allclose(text[:, :n], widget.weights, rtol=0, atol=0.5e-3 + 1e-9)
    np.testing.assert_allclose(full[:, n:], widget.output, rtol=0, atol=1e-6)
    go_to(page, 2)
    rows = np.array(shown(page, table=".mt-working table"))
    np.testing.assert_allclose(rows[:, 1], widget.scores[widget.query], rtol=0, atol=1e-6)
    np.testing.assert_allclose(rows[:, 3], widget.weights[widget.query], rtol=0, atol=1e-6)
    np.testing.assert_allclose(rows[:, 2] / rows[:, 2].sum(), rows[:, 3], rtol=0, atol=1e-6)
    go_to(page, 1)
    np.testing.assert_allclose(shown(page), widget.scores * np.sqrt(2), rtol=0, atol=1e-6)
    assert page.problems == []


def test_the_first_stage_shows_queries_keys_and_values(page):
    widget = stepper(3, time=4)
    mount(page, widget)
    x = np.array(widget.embeddings)
    expected = np.hstack([x @ np.array(w) for w in (widget.w_q, widget.w_k, widget.w_v)])
    np.testing.assert_allclose(shown(page), expected, rtol=0, atol=1e-6)


def test_rows_are_queries_and_columns_are_keys(page):
    widget = stepper(4, time=3, stage=2)
    mount(page, widget)
    table = page.locator(".mt-matrix")
    assert table.locator("tbody th").all_inner_texts() == widget.tokens
    assert table.locator("thead th").all_inner_texts()[1:] == widget.tokens
    assert table.locator("tbody th").first.get_attribute("scope") == "row"
    assert not np.allclose(widget.weights, widget.weights.T)
    np.testing.assert_allclose(np.array(shown(page)).sum(axis=1), 1, rtol=1e-12)


def test_stages_are_stepped_through_by_buttons(page):
    mount(page, stepper())
    page.get_by_role("button", name="Next →").click()
    assert page.locator(".mt-explain").inner_text().startswith("Stage 2 of 4: Compare.")
    for _ in range(4):  # one more than there are: the last stage stays
        page.get_by_role("button", name="Next →").click(force=True)
    assert page.locator("[aria-current=step]").inner_text().split() == ["4", "Mix"]
    assert page.evaluate("model.state.stage") == 3
    page.get_by_role("button", name="← Back").click()
    assert page.evaluate("model.state.stage") == 2
    assert "largest 0.238 to “Karina”, “in” and “den”" in page.locator(".mt-summary").inner_text()


def test_a_token_is_picked_by_its_name_and_by_its_point(page):
    mount(page, stepper(stage=3))
    page.get_by_label("Laden", exact=True).check(force=True)
    assert page.evaluate("model.state.query") == 4
    assert page.locator(".mt-summary").inner_text().startswith("The output of “Laden” is [0.722, 0")
    page.mouse.click(*centre(page, 1))
    assert page.evaluate("model.state.query") == 1
    assert page.locator("tr.followed th").inner_text() == "geht"
    assert embeddings(page) == AttentionStepper().embeddings


def test_a_drag_moves_the_point_under_the_mouse_and_the_numbers_with_it(page):
    mount(page, stepper(stage=2))
    width = page.locator(".mt-plane").bounding_box()["width"]
    drag(page, 0, -width / 4, -width / 8)  # the window spans 2: by −0.5 and 0.25
    np.testing.assert_allclose(embeddings(page)[0], [0.5, 0.25], atol=0.02)
    np.testing.assert_allclose(shown(page), set_by_reader(page).weights, rtol=0, atol=1e-6)
    assert float(field(page, "Embeddings, Karina, dimension 1").input_value()) == pytest.approx(
        embeddings(page)[0][0]
    )
    page.wait_for_function("model.saves > 0")
    assert page.evaluate("model.saved.embeddings") == embeddings(page)
    assert page.evaluate("model.saves") == 1  # one message for the whole drag


def test_a_point_stays_in_the_plane(page):
    mount(page, stepper())
    drag(page, 4, 0, -2000)
    assert embeddings(page)[4] == [0.5, 1.5]


def test_of_points_in_one_place_the_chosen_one_is_dragged(page):
    mount(page, stepper(query=2))  # "in" and "den" lie on one another
    drag(page, 3, 0, 40)
    assert embeddings(page)[3] == [1, 1]
    assert embeddings(page)[2][1] < 1


def test_a_finger_moves_a_point_and_does_not_scroll_the_page(phone):
    phone.set_viewport_size({"width": 390, "height": 600})  # the page is longer
    mount(phone, stepper())
    handle(phone, 0).scroll_into_view_if_needed()
    (x, y), scrolled = centre(phone, 0), phone.evaluate("scrollY")
    session = phone.context.new_cdp_session(phone)
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        ("touchMove", [{"x": x - 30, "y": y - 30}]),
        ("touchMove", [{"x": x - 60, "y": y - 90}]),
        ("touchEnd", []),
    ):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    phone.wait_for_function("model.saves > 0")
    (x, y), width = embeddings(phone)[0], phone.locator(".mt-plane").bounding_box()["width"]
    assert x == pytest.approx(1 - 2 * 60 / width, abs=0.03)  # the window spans 2
    assert y == pytest.approx(2 * 90 / width, abs=0.03)
    assert phone.evaluate("scrollY") == scrolled


def test_arrow_keys_move_a_point_and_undo_takes_the_burst_back(page):
    mount(page, stepper())
    handle(page, 1).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "Shift+ArrowDown"):
        page.keyboard.press(key)
    assert embeddings(page)[1] == [0.2, 1.09]
    assert handle(page, 1).get_attribute("aria-valuetext") == "0.2, 1.09"
    page.keyboard.press("Control+z")
    assert embeddings(page)[1] == [0, 1]
    page.keyboard.press("Enter")
    assert page.evaluate("model.state.query") == 1


def test_everything_is_reached_by_tab(page):
    mount(page, stepper())
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "(a => a.getAttribute('aria-label') || a.textContent)(document.activeElement)"
            )
        )
    assert {"Undo", "Reset", "← Back", "Next →", "Projection matrices", "Full table"} <= reached
    assert {f"embedding of {token}" for token in AttentionStepper().tokens} <= reached
    assert "Embeddings, Laden, dimension 2" in reached


def test_undo_and_reset(page):
    mount(page, stepper())
    undo, reset = (page.get_by_role("button", name=name) for name in ("Undo", "Reset"))
    start = embeddings(page)
    undo.click(force=True)  # nothing to undo: nothing happens
    assert embeddings(page) == start
    assert undo.get_attribute("aria-disabled") == reset.get_attribute("aria-disabled") == "true"
    drag(page, 0, -30, -30)
    after_drag = embeddings(page)
    field(page, "Embeddings, geht, dimension 2").fill("-0.75")
    after_typing = embeddings(page)
    assert after_typing[1] == [0, -0.75]
    undo.click()
    assert embeddings(page) == after_drag
    undo.click()
    assert embeddings(page) == start
    drag(page, 1, 30, 30)
    changed = embeddings(page)
    reset.click()
    assert embeddings(page) == start
    assert reset.get_attribute("aria-disabled") == "true"
    undo.click()  # a reset can be taken back too
    assert embeddings(page) == changed


def test_projections_are_edited_and_undone(page):
    mount(page, stepper(stage=2))
    page.get_by_text("Projection matrices").click()
    field(page, "W_Q, row 1, column 2").fill("-2.5")
    assert page.evaluate("model.state.w_q") == [[1, -2.5], [0, 1]]
    np.testing.assert_allclose(shown(page), set_by_reader(page).weights, rtol=0, atol=1e-6)
    page.get_by_role("button", name="Undo").click()
    assert page.evaluate("model.state.w_q") == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("", "the field is empty"),
        ("-", "that is not a number"),
        ("1e", "that is not a number"),
        ("1e999", "not a number"),
        ("2000000", "2000000 is beyond ±1000000"),
    ],
)
def test_a_dead_input_gets_an_answer_and_changes_nothing(page, typed, answer):
    mount(page, stepper(stage=2))
    before, old = shown(page), embeddings(page)
    box = field(page, "Embeddings, in, dimension 2")
    box.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(typed)
    message = problem(page)
    assert answer in message
    assert message.startswith("Embeddings, in, dimension 2: ")
    assert box.get_attribute("aria-invalid") == "true"
    good = embeddings(page)[2][1]  # what was a number on the way, such as the 1 of 1e
    assert np.isfinite(shown(page)).all()
    if typed in ("", "-"):
        assert (shown(page), embeddings(page)) == (before, old)
    box.blur()
    assert float(box.input_value()) == good
    assert box.get_attribute("aria-invalid") == "false"
    box.fill("0.5")
    assert problem(page) == ""
    assert embeddings(page)[2] == [1, 0.5]


def test_nan_cannot_be_typed_into_a_number(page):
    mount(page, stepper(stage=2))
    box = field(page, "Embeddings, in, dimension 2")
    box.focus()
    page.keyboard.press("Control+a")
    page.keyboard.type("NaN")
    assert np.isfinite(embeddings(page)).all()
    assert np.isfinite(shown(page)).all()


HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<b>bold</b>",
    "‮rtl",
    "x" * 300,
    "\"'&amp;\\",
]


@pytest.mark.parametrize("width", [390, 900])
def test_hostile_tokens_are_text(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, AttentionStepper(tokens=HOSTILE))
    page.on("dialog", lambda dialog: page.problems.append(dialog.message))
    for stage in range(4):
        go_to(page, stage)
        for query in range(len(HOSTILE)):
            page.locator(".mt-tokens input").nth(query).check(force=True)
        assert page.locator("#widget :is(img, script)").count() == 0
        assert page.locator("#widget th b").count() == 0
        check_width(page, width)
    assert page.locator(".mt-matrix tbody th").all_text_contents() == HOSTILE
    assert page.problems == []


def test_a_change_from_python_is_shown(page):
    mount(page, stepper(stage=2))
    drag(page, 0, -30, -30)
    other = stepper(6, time=3, stage=2)
    page.evaluate(
        """({ tokens, embeddings }) => {
          Object.assign(model.state, { query: 1 });
          model.set("tokens", tokens);
          model.set("embeddings", embeddings);
        }""",
        {"tokens": other.tokens, "embeddings": other.embeddings},
    )
    np.testing.assert_allclose(shown(page), set_by_reader(page).weights, rtol=0, atol=1e-6)
    assert page.locator(".mt-handle").count() == 3
    assert page.get_by_role("button", name="Undo").get_attribute("aria-disabled") == "true"


def test_only_inputs_are_saved(page):
    mount(page, stepper())
    names = set(page.evaluate("Object.keys(model.state)"))
    drag(page, 0, -30, -30)
    go_to(page, 3)
    page.wait_for_function("model.saves > 0")
    assert set(page.evaluate("Object.keys(model.state)")) == names


def test_leaving_the_page_saves_and_stops_listening(page):
    mount(page, stepper())
    drag(page, 0, -30, -30)
    page.evaluate("unmount()")
    assert page.evaluate("model.saved.embeddings") == embeddings(page)
    assert page.evaluate("model.listening()") == 0
    assert page.locator(".mt-widget").count() == 0


@pytest.mark.parametrize("stage", range(4))
def test_one_change_with_twelve_tokens_fits_a_frame(page, stage):
    mount(page, stepper(8, time=12, stage=stage))
    changes = """() => {
      const field = document.querySelector("input[type=number]");
      return (k) => {
        field.value = String(k / 100);
        field.dispatchEvent(new Event("input"));
      };
    }"""
    check_fits_a_frame(page, changes)
    assert page.evaluate("model.state.embeddings[0][0]") == 1.19  # the changes were real


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 900])
def test_no_accessibility_violation(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, stepper(query=2), theme)
    page.get_by_text("Projection matrices").click()
    for stage in range(4):
        go_to(page, stage)
        check_accessible(page, width)


def test_targets_are_large_enough_for_a_finger(page):
    page.set_viewport_size({"width": 390, "height": 900})
    mount(page, stepper())
    page.get_by_text("Projection matrices").click()
    check_targets(page, at_least=31, targets="button, summary, input, .mt-reach")


def luminance(colour):
    r, g, b = (float(x) / 255 for x in re.findall(r"[\d.]+", colour)[:3])
    return 0.2126 * r**2.2 + 0.7152 * g**2.2 + 0.0722 * b**2.2


def background(page):
    return luminance(
        page.locator(".mt-widget").evaluate("node => getComputedStyle(node).backgroundColor")
    )


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_theme_of_the_page_beats_that_of_the_system(page, system, theme):
    page.emulate_media(color_scheme=system)
    mount(page, stepper(), theme)
    assert (background(page) < 0.2) == (theme == "dark")


@pytest.mark.parametrize("system", ["light", "dark"])
def test_without_a_theme_the_system_decides(page, system):
    page.emulate_media(color_scheme=system)
    mount(page, stepper(), theme="")
    assert (background(page) < 0.2) == (system == "dark")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_larger_weights_differ_in_grey_too(page, theme):
    mount(page, stepper(stage=2), theme)
    cells = page.locator(".mt-matrix td.heat").all()
    values = [float(c.get_attribute("data-value")) for c in cells]
    to_grey = """node => {
      const pen = new OffscreenCanvas(1, 1).getContext("2d");
      pen.fillStyle = getComputedStyle(node).backgroundColor;
      pen.fillRect(0, 0, 1, 1);
      return `rgb(${pen.getImageData(0, 0, 1, 1).data.slice(0, 3).join()})`;
    }"""
    greys = [luminance(c.evaluate(to_grey)) for c in cells]
    order = np.array(greys)[np.argsort(values)]
    steps = np.diff(order) * (1 if theme == "dark" else -1)
    assert (steps >= -1e-9).all()
    assert abs(order[-1] - order[0]) > 0.08


def test_motion_is_reduced_on_request(page):
    page.emulate_media(reduced_motion="reduce")
    mount(page, stepper())
    moving = page.locator(".mt-widget, .mt-widget *").evaluate_all(
        """nodes => nodes.map(n => getComputedStyle(n))
          .filter(s => s.animationName !== "none" || parseFloat(s.transitionDuration) > 0).length"""
    )
    assert moving == 0
