"""The head view in a real browser, mounted from its module with no kernel behind it."""

import numpy as np
import pytest
from test_head_view import MARKS, TOKENS, view, weights_of
from widget_harness import mount
from widget_pages import (
    check_accessible,
    check_slider_fits_a_frame,
    check_targets,
    check_width,
)

from minitransformer.widgets import HeadView

pytestmark = pytest.mark.browser
HOSTILE = ["</script><img src=x onerror=alert(1)>", "<b>bold</b>", "x" * 300, "\u202ertl", "e"]


def opened(page, widget, theme="light"):
    mount(page, widget, theme)
    page.get_by_role("button", name="Show the heads").click()
    page.wait_for_selector(".mt-inside:not([hidden])")


def pixels(page, canvas):
    """How opaque the pixels are, array (row, column) from 0 to 255."""
    found = page.locator(f"{canvas} canvas").evaluate(
        """canvas => {
          const { width, height } = canvas;
          const copy = new OffscreenCanvas(width, height).getContext("2d");
          copy.drawImage(canvas, 0, 0);
          const { data } = copy.getImageData(0, 0, width, height);
          return [height, width, [...data].filter((_, k) => k % 4 === 3)];
        }"""
    )
    return np.array(found[2]).reshape(found[:2])


def check_shown(page):
    """The page shows the stored weights, for the inputs that it wrote to its model."""
    widget = HeadView(**page.evaluate("model.state"))
    tokens = widget.texts[widget.text][1]
    stored = widget.weights(widget.text)[widget.layer, widget.head]
    row = stored[widget.query]
    hidden = {"nothing": [], "first token": [0]}.get(
        widget.hide, MARKS if "[CLS]" in tokens else [0]
    )
    cells = page.locator(".mt-top tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.cells].map(c => c.dataset.value ?? c.textContent))"
    )
    places = [int(place) for _, place, _ in cells]
    assert [token for token, *_ in cells] == [tokens[j] for j in places]
    np.testing.assert_allclose([float(w) for *_, w in cells], row[places], rtol=0, atol=1e-6)
    shown = np.sort(np.delete(row, hidden))[::-1]
    count = min(8, np.count_nonzero(shown))
    np.testing.assert_allclose(row[places], shown[:count], rtol=0, atol=1e-12)
    rest, gone = page.locator(".mt-top tfoot td.number, .mt-top tfoot td[data-value]").evaluate_all(
        "cells => cells.map(c => Number(c.dataset.value))"
    )
    assert rest == pytest.approx(shown[count:].sum(), abs=1e-6)
    assert gone == pytest.approx(row[hidden].sum(), abs=1e-6)
    expected = stored.copy()
    expected[:, hidden] = 0
    painted = pixels(page, ".mt-head-map")
    np.testing.assert_allclose(painted / 255, expected / expected.max(), rtol=0, atol=0.003)
    assert page.problems == []
    return widget


def test_nothing_is_unpacked_before_the_reader_asks(page):
    mount(page, view())
    assert page.locator(".mt-inside").is_hidden()
    button = page.get_by_role("button", name="Show the heads")
    assert "MB" in button.inner_text()
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".mt-inside:not([hidden])")
    assert button.is_hidden()
    assert page.evaluate("document.activeElement.type") == "range"  # the next control
    check_shown(page)


def test_layer_head_and_query_are_chosen_by_keyboard(page):
    opened(page, view())
    for name, key in (("Layer", "End"), ("Head", "ArrowRight"), ("Query", "End")):
        page.get_by_role("slider", name=name).focus()
        page.keyboard.press(key)
        check_shown(page)
    widget = check_shown(page)
    assert (widget.layer, widget.head, widget.query) == (2, 1, 11)
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).query == 0
    page.get_by_role("button", name="Reset").click()
    assert check_shown(page).layer == 0
    page.wait_for_function("model.saved?.layer === 0")


def test_heads_queries_and_words_are_tapped(phone):
    opened(phone, view())
    for place, share, name, value in (
        (".mt-head-grid", (0.75, 0.9), "layer", 2),
        (".mt-head-map", (0.5, 4.5 / 12), "query", 4),
    ):
        box = phone.locator(place).bounding_box()
        phone.locator(place).tap(
            position={"x": share[0] * box["width"], "y": share[1] * box["height"]}
        )
        phone.wait_for_function("([name, value]) => model.state[name] === value", arg=[name, value])
    assert phone.evaluate("model.state.head") == 1
    phone.locator(".mt-word").nth(2).tap()
    phone.wait_for_function("model.state.query === 2")
    check_shown(phone)


def test_sinks_are_hidden_on_demand(page):
    opened(page, view(query=5))
    summary = page.locator(".mt-summary")
    assert "hidden" not in summary.inner_text()
    for hide in ("first token", "first + marks"):
        page.get_by_label(hide, exact=True).check(force=True)
        widget = check_shown(page)
        assert widget.hide == hide
        share = widget.weights(0)[0, 0, 5, [0] if hide == "first token" else MARKS].sum()
        assert f"Keys that are hidden hold {share:.2f} of its weight" in summary.inner_text()
        assert page.locator(".mt-gone").count() == (1 if hide == "first token" else len(MARKS))


def test_the_grid_holds_the_map_of_every_head(page):
    opened(page, view(text=1))
    painted, stored = pixels(page, ".mt-head-grid"), view().weights(1)
    for layer in range(3):
        for head in range(2):
            y, x = layer * 7 + 1, head * 7 + 1
            shown = painted[y : y + 5, x : x + 5] / 255
            expected = stored[layer, head] / stored[layer, head].max()
            np.testing.assert_allclose(shown, expected, rtol=0, atol=0.003)


def test_lines_lead_to_the_keys_with_weight(page):
    opened(page, view(query=3))
    row = view().weights(0)[0, 0, 3]
    lines = page.locator(".mt-strong line")
    ends = lines.evaluate_all(
        "all => all.map(l => [l.getAttribute('y1'), l.getAttribute('y2')].map(y => (y - 16) / 22))"
    )
    assert {start for start, _ in ends} == {3}
    assert {end for _, end in ends} == set(np.flatnonzero(row >= 0.01))
    faint = page.locator(".mt-faint").get_attribute("d")
    assert faint.count("M") == (view().weights(0)[0, 0] >= 0.2).sum()


def test_another_text_takes_the_query_along_as_far_as_it_goes(page):
    opened(page, view(query=11))
    page.get_by_label("two", exact=True).check(force=True)
    page.wait_for_function("document.querySelectorAll('.mt-word').length === 5")
    assert check_shown(page).query == 4
    page.get_by_role("button", name="Undo").click()
    page.wait_for_function("document.querySelectorAll('.mt-word').length === 12")
    assert check_shown(page).query == 11


def test_what_lies_elsewhere_is_asked_of_the_host_once_and_only_when_opened(page):
    mount(page, view())
    page.evaluate(
        """() => {
          window.asked = [];
          const stored = model.state.maps;
          model.load = async (one) => { asked.push(one.sidecar); return stored[one.sidecar]; };
          model.set("maps", stored.map((text, k) => ({ sidecar: k, bytes: text.length })));
        }"""
    )
    assert page.evaluate("asked") == []
    page.get_by_role("button", name="Show the heads").click()
    page.wait_for_selector(".mt-inside:not([hidden])")
    page.get_by_label("two", exact=True).check(force=True)
    page.wait_for_function("document.querySelectorAll('.mt-word').length === 5")
    page.get_by_label("one", exact=True).check(force=True)
    page.wait_for_function("document.querySelectorAll('.mt-word').length === 12")
    assert page.evaluate("asked") == [0, 1]


def test_the_button_keeps_the_focus_until_the_weights_are_there(page):
    mount(page, view())
    page.evaluate(
        """() => {
          const text = model.state.maps[0];
          window.asked = 0;
          model.load = () => {
            asked++;
            return new Promise((done) => { window.come = () => done(text); });
          };
          model.set("maps", model.state.maps.map(() => ({ sidecar: "x", bytes: 9 })));
        }"""
    )
    button = page.get_by_role("button", name="Show the heads")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_text("Loading the weights").wait_for()
    assert button.get_attribute("aria-disabled") == "true"
    page.keyboard.press("Enter")
    page.wait_for_timeout(100)
    assert button.evaluate("button => button === document.activeElement")
    page.evaluate("come()")
    page.wait_for_selector(".mt-inside:not([hidden])")
    assert page.evaluate("document.activeElement.type") == "range"
    assert page.evaluate("asked") == 1


def test_weights_that_do_not_come_are_said_and_can_be_asked_for_again(page):
    mount(page, view())
    page.evaluate(
        """() => {
          window.text = model.state.maps[0];
          model.load = async () => { throw new Error("the file is not there"); };
          model.set("maps", model.state.maps.map(() => ({ sidecar: "x", bytes: 9 })));
        }"""
    )
    button = page.get_by_role("button", name="Show the heads")
    button.click()
    problem = page.locator(".mt-problem")
    problem.get_by_text("could not be loaded (the file is not there)").wait_for()
    page.evaluate("model.load = async () => text")
    button.click()
    page.wait_for_selector(".mt-inside:not([hidden])")
    assert problem.inner_text() == ""


def test_a_text_that_does_not_come_leaves_the_other_one_usable(page):
    mount(page, view())
    page.evaluate(
        """() => {
          model.load = async () => { throw new Error("gone"); };
          model.set("maps", [model.state.maps[0], { sidecar: "x", bytes: 9 }]);
        }"""
    )
    button = page.get_by_role("button", name="Show the heads")
    button.click()
    page.wait_for_selector(".mt-inside:not([hidden])")
    page.get_by_label("two", exact=True).check(force=True)
    page.get_by_text("could not be loaded (gone)").wait_for()
    assert button.is_visible()
    assert page.locator(".mt-inside").is_hidden()
    page.get_by_label("one", exact=True).check(force=True)
    page.wait_for_selector(".mt-inside:not([hidden])")
    assert button.is_hidden()
    assert page.locator(".mt-problem").inner_text() == ""
    assert check_text(page) == "one"


def check_text(page):
    """The title of the text whose first token the lines show."""
    state = page.evaluate("model.state")
    title, tokens = state["texts"][state["text"]]
    assert page.locator(".mt-word").first.text_content() == tokens[0]
    return title


def test_a_change_from_python_is_shown(page):
    opened(page, view())
    other = HeadView.of("another", [("x", list("abcd"), weights_of(2, 4, 4))], head=3)
    page.evaluate(
        "state => { for (const [name, value] of Object.entries(state)) model.set(name, value); }",
        {
            name: getattr(other, name)
            for name in ("model", "n_layers", "texts", "maps", "n_heads", "head")
        },
    )
    page.wait_for_function("document.querySelectorAll('.mt-word').length === 4")
    assert check_shown(page).head == 3
    assert "Where another looks: 2 layers of 4 heads" in page.locator(".mt-widget").inner_text()
    assert page.locator(".mt-widget").count() == 1


@pytest.mark.parametrize("width", [390, 900])
def test_hostile_tokens_are_text(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    texts = [("<img src=x>", HOSTILE, weights_of(time=5))]
    opened(page, HeadView.of("</script>", texts))
    assert page.locator("#widget :is(img, script, th b, svg b)").count() == 0
    assert sorted(page.locator(".mt-top tbody th").all_text_contents()) == sorted(HOSTILE)
    check_width(page, width)
    assert page.problems == []


@pytest.mark.parametrize(("label", "places"), [("Layer", [0, 5, 11]), ("Query", [3, 90, 127])])
def test_one_change_on_144_heads_and_128_tokens_fits_a_frame(page, label, places):
    tokens = [f"w{i}" for i in range(128)]
    opened(page, HeadView.of("a model", [("long", tokens, weights_of(12, 12, 128))]))
    check_slider_fits_a_frame(page, label, places)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, view(), theme)
    check_accessible(page, width)
    page.get_by_role("button", name="Show the heads").click()
    page.wait_for_selector(".mt-inside:not([hidden])")
    page.get_by_label("first + marks").check(force=True)
    check_accessible(page, width)
    page.locator(".mt-primary").evaluate("node => node.remove()")  # it is not shown any more
    check_targets(page, at_least=2 + 2 + 3 + 3)


def test_nothing_moves_by_itself(page):
    """Reduced motion is honoured because there is no motion but the reader's."""
    page.emulate_media(reduced_motion="reduce")
    opened(page, view())
    page.get_by_role("slider", name="Layer").fill("2")
    assert page.evaluate("document.getAnimations().length") == 0


def test_leaving_the_page_saves_and_stops_listening(page):
    opened(page, view())
    page.get_by_role("slider", name="Layer").fill("2")
    page.evaluate("unmount()")
    assert page.evaluate("model.saved.layer") == 2
    assert page.evaluate("model.listening()") == 0
    assert page.locator(".mt-widget").count() == 0


def test_leaving_while_weights_are_on_their_way_is_quiet(page):
    mount(page, view())
    page.get_by_role("button", name="Show the heads").click()
    page.evaluate("unmount()")
    page.wait_for_timeout(200)
    assert page.locator(".mt-widget").count() == 0
    assert page.problems == []


def test_tokens_of_the_tests_are_those_that_are_hidden():
    assert [TOKENS[j] for j in MARKS] == ["[CLS]", "'", ",", "<|im_end|>", "…"]
