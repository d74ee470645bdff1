"""The cost calculator in a real browser, mounted from its module with no kernel behind it."""

import numpy as np
import pytest
from widget_harness import mount
from widget_pages import (
    HOSTILE,
    check_accessible,
    check_slider_fits_a_frame,
    check_targets,
    drag_by_finger,
    rows,
    slide,
)

from minitransformer import costs
from minitransformer.widgets import CostCalculator

pytestmark = pytest.mark.browser
CURVES = {
    "arithmetic": [
        ["queries · keys", "weights · values"],
        ["projections", "feed-forward"],
    ],
    "memory": [
        ["scores of a layer, stored"],
        ["cache of all layers"],
        ["scores of a layer, in tiles"],
    ],
}


def check_shown(page):
    """The page shows the numbers of Python, for the inputs that it wrote down."""
    widget = CostCalculator(**page.evaluate("model.state"))
    shown = rows(page, ".mt-costs")
    numbers = shown[~np.isnan(shown[:, 0])]  # the rows that name a group have none
    expected = [[float(cost), widget.growth[name]] for name, cost in widget.costs.items()]
    np.testing.assert_allclose(numbers, expected, rtol=1e-12)
    assert page.problems == []
    return widget


def summary(page):
    return page.locator(".mt-summary").inner_text()


def at_length(widget, n):
    names = ("d_model", "n_layers", "n_heads", "n_kv_heads", "causal", "bytes_per_number")
    return CostCalculator(n=n, **{name: getattr(widget, name) for name in names}).costs


def test_every_model_loads_and_shows_the_numbers_of_python(page):
    mount(page, CostCalculator())
    for sizes in costs.PUBLISHED:
        button = page.get_by_role("button", name=sizes.name)
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        widget = check_shown(page)
        assert (widget.n_layers, widget.n_heads, widget.n_kv_heads) == sizes[1:4]
        assert widget.d_model == sizes.d_model


def test_doubling_to_the_end(page):
    mount(page, CostCalculator(n=100_000))
    double = page.get_by_role("button", name="Double n")
    for n in (200_000, 400_000, 800_000, 1_000_000):
        assert double.get_attribute("aria-disabled") == "false"
        double.click()
        assert check_shown(page).n == n
    assert double.get_attribute("aria-disabled") == "true"
    double.click(force=True)  # does nothing, and leaves nothing to undo
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).n == 800_000


def test_sliders_answer_to_the_keyboard(page):
    mount(page, CostCalculator())
    page.get_by_label("Tokens n", exact=True).focus()
    page.keyboard.press("ArrowRight")
    assert check_shown(page).n == 2000
    page.keyboard.press("Home")
    assert check_shown(page).n == 1
    page.keyboard.press("End")
    assert check_shown(page).n == 1_000_000
    page.get_by_label("KV heads", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    assert check_shown(page).n_kv_heads == 6
    page.get_by_label("causal").focus()
    page.keyboard.press("Space")
    assert check_shown(page).causal is True
    page.wait_for_function("model.saved.causal === true")


def test_the_parts_always_divide(page):
    """Whatever the reader does to width and heads, these still share out."""
    mount(page, CostCalculator(d_model=576, n_heads=9, n_kv_heads=3))
    for place in range(14):
        slide(page, "Width d_model", place)
        widget = check_shown(page)
        last = int(page.get_by_label("Heads", exact=True).get_attribute("max"))
        heads = [d for d in range(1, 129) if widget.d_model % d == 0]
        assert last == len(heads) - 1
        slide(page, "Heads", place % (last + 1))
        assert check_shown(page).n_heads == heads[place % (last + 1)]


@pytest.mark.parametrize("curves", CURVES)
def test_the_curves_are_those_of_python(page, curves):
    mount(page, CostCalculator(n=2000, n_kv_heads=4, causal=True, curves=curves))
    page.locator("summary").click()
    shown = rows(page, ".mt-matrix")
    lengths = [d * 10**k for k in range(6) for d in (1, 2, 5)] + [1_000_000]
    expected = [
        [
            sum(at_length(CostCalculator(n_kv_heads=4, causal=True), n)[name] for name in names)
            for names in CURVES[curves]
        ]
        for n in lengths
    ]
    np.testing.assert_allclose(shown, np.array(expected, dtype=float), rtol=1e-12)
    assert page.locator(".mt-matrix tr.followed th").inner_text() == "2,000"
    assert page.locator(".mt-loglog .mt-curve").count() == len(CURVES[curves])


def test_the_points_lie_on_the_lines_and_the_slopes_are_2_and_1(page):
    mount(page, CostCalculator(n=5000))
    lines = page.locator(".mt-loglog .mt-curve").evaluate_all(
        """groups => groups.map((group) => ({
          points: group.querySelector("polyline").getAttribute("points").split(" ")
            .map((pair) => pair.split(",").map(Number)),
          at: ["cx", "cy"].map((name) => Number(group.querySelector("circle").getAttribute(name))),
        }))"""
    )
    slopes = []
    for line in lines:
        x, y = np.array(line["points"]).T
        assert np.interp(line["at"][0], x, y) == pytest.approx(line["at"][1], abs=0.5)
        slopes.append((y[-1] - y[0]) / (x[-1] - x[0]))
    assert slopes[0] == pytest.approx(2 * slopes[1], rel=1e-6)


def test_the_sentence_says_where_attention_takes_over(page):
    mount(page, CostCalculator(n=1000))
    widget = check_shown(page)
    assert "1,000 tokens, 1 million scores in each head." in summary(page)
    assert f"from {widget.crossing:,} tokens on, more than half" in summary(page)
    assert "24 MB when stored, 441 kB in tiles" in summary(page)
    page.get_by_label("causal").check(force=True)
    assert "not counted" in summary(page)


def test_undo_and_reset(page):
    mount(page, CostCalculator())
    slide(page, "Width d_model", 0)
    assert check_shown(page).d_model == 64
    page.get_by_role("button", name="Undo").click()
    widget = check_shown(page)
    assert (widget.d_model, widget.n_heads, widget.n_kv_heads) == (768, 12, 12)
    page.get_by_label("1: int8").check(force=True)
    page.get_by_role("button", name="Llama 2 70B").click()
    page.get_by_role("button", name="Reset").click()
    widget = check_shown(page)
    assert (widget.d_model, widget.bytes_per_number) == (768, 2)


def test_a_change_from_python_is_shown(page):
    mount(page, CostCalculator())
    page.evaluate('model.set("d_model", 60); model.set("n_heads", 6); model.set("n_kv_heads", 2)')
    assert check_shown(page).d_model == 60


def test_a_finger_moves_a_slider_and_doubles(phone):
    mount(phone, CostCalculator())
    drag_by_finger(phone, phone.get_by_label("Tokens n", exact=True), 0.5, 0.02)
    assert check_shown(phone).n < 10
    before = check_shown(phone).n
    phone.get_by_role("button", name="Double n").tap()
    assert check_shown(phone).n == 2 * before


@pytest.mark.parametrize("label", ["Tokens n", "Width d_model", "Layers"])
def test_one_change_fits_a_frame(page, label):
    mount(page, CostCalculator(curves="memory"))
    check_slider_fits_a_frame(page, label, [3, 9, 12])


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, CostCalculator(n=1_000_000, causal=True), theme)
    page.locator("summary").click()
    for name in ("bytes", "multiply-adds"):
        page.get_by_label(name, exact=True).check(force=True)
        check_accessible(page, width)


def test_targets_are_large_enough_for_a_finger(page):
    page.set_viewport_size({"width": 390, "height": 900})
    mount(page, CostCalculator())
    check_targets(page, at_least=21)


@pytest.mark.parametrize("curves", CURVES)
def test_labels_of_the_picture_lie_inside_and_apart(page, curves):
    for n_layers, d_model in ((1, 64), (12, 768), (126, 16384)):
        heads = {"n_heads": 4, "n_kv_heads": 2}
        mount(page, CostCalculator(n_layers=n_layers, d_model=d_model, curves=curves, **heads))
        inside, apart = page.evaluate(
            """() => {
              const box = (n) => n.getBoundingClientRect();
              const outer = box(document.querySelector(".mt-loglog"));
              const all = [...document.querySelectorAll(".mt-loglog text")].map(box);
              const inside = all.every((b) => b.left >= outer.left - 1 && b.top >= outer.top - 1 &&
                b.right <= outer.right + 1 && b.bottom <= outer.bottom + 1);
              const meet = (a, b) => a.left < b.right && b.left < a.right &&
                a.top < b.bottom - 2 && b.top < a.bottom - 2;
              return [inside, !all.some((a, i) => all.some((b, j) => i < j && meet(a, b)))];
            }"""
        )
        assert inside
        assert apart


def test_hostile_names_are_text(page):
    mount(page, CostCalculator(models=[[HOSTILE, 1, 2, 1, 4, "here"]]))
    page.get_by_role("button", name=HOSTILE).click()
    assert check_shown(page).d_model == 8
    assert page.locator("img").count() == 0


def test_leaving_the_page_stops_listening(page):
    mount(page, CostCalculator())
    page.evaluate("unmount()")
    assert page.evaluate("model.listening()") == 0
    assert page.locator(".mt-widget").count() == 0
