"""The block walk in a real browser, mounted from its module with no kernel behind it."""

import numpy as np
import pytest
from test_block_walk import TOKENS, block, walk_of
from widget_harness import mount
from widget_pages import check_accessible, check_fits_a_frame, check_targets, check_width

from minitransformer.widgets import BlockWalk

pytestmark = pytest.mark.browser
STEPS = {
    "pre": ["resid_pre", None, "attn_out", "resid_mid", None, "mlp_out", "resid_post"],
    "post": ["resid_pre", "attn_out", None, "resid_mid", "mlp_out", None, "resid_post"],
}


def values(page, table):
    return page.locator(f"{table} tbody tr").evaluate_all(
        """rows => rows.map(r => [...r.cells].slice(1)
          .filter((c) => c.dataset.value !== undefined).map((c) => Number(c.dataset.value)))"""
    )


def step_buttons(page):
    return page.locator(".mt-block button")


def bars(page, k, kind=":not(.mt-ghost)"):
    """The numbers that the bars of step ``k`` stand for, up to one scale for all steps."""
    return np.array(
        step_buttons(page)
        .nth(k)
        .locator(f"rect{kind}")
        .evaluate_all(
            """bars => bars.map(b => Number(b.getAttribute("height")) *
              (Number(b.getAttribute("y")) + 1e-6 < Number(b.ownerSVGElement
                .querySelector("line").getAttribute("y1")) ? 1 : -1))"""
        )
    )


def check_shown(page):
    """The page shows the numbers of the torch block, for the inputs it wrote to its model."""
    widget = BlockWalk(**page.evaluate("model.state"))
    passed, i = widget.passes(), widget.token
    names = STEPS[widget.norm_position]
    known = [(k, name) for k, name in enumerate(names) if name]
    expected = np.concatenate([passed[f"hook_{name}"][i] for _, name in known])
    drawn = np.concatenate([bars(page, k) for k, _ in known])
    unit = np.abs(drawn).max() / np.abs(expected).max()
    np.testing.assert_allclose(drawn / unit, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(values(page, ".mt-outputs"), widget.output, rtol=0, atol=1e-6)
    detail, shown = np.array(values(page, ".mt-detail")), page.evaluate("model.state.step")
    parts = {"attn_out": passed["attn.hook_pattern"][:, i].T}
    parts["mlp_out"] = np.stack([passed["mlp.hook_pre"][i], passed["mlp.hook_post"][i]], axis=1)
    if names[shown] in parts:
        np.testing.assert_allclose(detail, parts[names[shown]], rtol=0, atol=1e-6)
    elif names[shown] and not (widget.norm_position == "post" and "resid" in names[shown]):
        expected = passed[f"hook_{names[shown]}"][i]
        np.testing.assert_allclose(detail[:, -1], expected, rtol=0, atol=1e-6)
    assert page.problems == []
    return widget


CASES = [
    block(activation="relu"),
    block(norm_position="post", activation="gelu", is_causal=True),
    block(d_model=12, n_heads=4, d_ff=32, n_kv_heads=2, activation="gelu_tanh", seed=3),
    block(norm="rms", activation="swiglu", bias=False, d_head=4),
]


@pytest.mark.parametrize("made", CASES, ids=range(len(CASES)))
def test_each_step_shows_the_numbers_of_the_block(page, made):
    mount(page, walk_of(made, token=3))
    page.get_by_text("All tokens after the block").click()
    for k in range(7):
        step_buttons(page).nth(k).click()
        check_shown(page)
        assert page.locator(".mt-block [aria-current=step]").count() == 1
        assert f"Step {k + 1} of 7" in page.locator(".mt-explain").inner_text()


def test_the_walk_goes_by_keyboard_from_end_to_end(page):
    mount(page, BlockWalk())
    next_, back = (page.get_by_role("button", name=name) for name in ("Next →", "← Back"))
    next_.focus()
    titles = []
    for _ in range(8):  # once too often
        titles.append(page.locator(".mt-explain b").inner_text().strip())
        page.keyboard.press("Enter")
    assert len(set(titles)) == 7
    assert titles[-1] == titles[-2] == "Step 7 of 7: Add."
    assert next_.get_attribute("aria-disabled") == "true"
    back.focus()
    page.keyboard.press("Space")
    assert page.evaluate("model.state.step") == 5
    page.wait_for_function("model.saved?.step === 5")


def test_the_arrow_keys_choose_the_token(page):
    mount(page, BlockWalk(step=2))
    before = values(page, ".mt-detail")
    page.locator(".mt-tokens input").nth(2).focus()
    page.keyboard.press("ArrowLeft")
    widget = check_shown(page)
    assert widget.token == 1
    assert values(page, ".mt-detail") != before
    assert "Whom “Hund” reads" in page.locator(".mt-detail caption").inner_text()


def test_a_part_is_switched_off_and_on_again(page):
    mount(page, BlockWalk(step=2))
    effect, summary = page.locator(".mt-effect"), page.locator(".mt-summary")
    assert "With all parts on, “beißt” leaves with length" in effect.inner_text()
    assert page.locator(".mt-ghost").count() == 0
    whole = BlockWalk().output[2]
    page.get_by_label("attention").uncheck()
    widget = check_shown(page)
    assert not widget.attention
    assert "nothing is added" in summary.inner_text()
    assert "Attention (off)" in step_buttons(page).nth(2).inner_text()
    away = np.linalg.norm(widget.output[2] - whole)
    length = np.linalg.norm(whole)
    assert f"is now {away:.3f} away" in effect.inner_text()
    assert f"a vector of length {length:.3f}" in effect.inner_text()
    assert page.locator(".mt-block li").nth(6).locator(".mt-ghost").count() == 6
    page.get_by_label("feed-forward").uncheck()
    widget = check_shown(page)
    np.testing.assert_array_equal(widget.output, widget.x)  # a pre-norm block of nothing
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    assert check_shown(page).attention
    assert page.locator(".mt-ghost").count() == 0


def test_the_dashed_bars_are_those_of_the_block_as_given(page):
    mount(page, BlockWalk())
    passed = BlockWalk().passes()
    page.get_by_label("feed-forward").uncheck()
    known = [(k, name) for k, name in enumerate(STEPS["pre"]) if name]
    expected = np.concatenate([passed[f"hook_{name}"][2] for _, name in known])
    drawn = np.concatenate([bars(page, k, ".mt-ghost") for k, _ in known])
    unit = np.abs(drawn).max() / np.abs(expected).max()
    np.testing.assert_allclose(drawn / unit, expected, rtol=0, atol=1e-6)
    for norm in (1, 4):  # what comes before the part that is off is the same
        np.testing.assert_allclose(bars(page, norm, ".mt-ghost"), bars(page, norm), atol=1e-9)


def test_norms_are_moved_and_reset(page):
    mount(page, BlockWalk(step=1))
    assert page.locator(".mt-branch").count() == 4
    assert "Norm 1" in step_buttons(page).nth(1).inner_text()
    page.get_by_label("after (post)").check(force=True)
    check_shown(page)
    assert page.locator(".mt-branch").count() == 2
    assert "Attention" in step_buttons(page).nth(1).inner_text()
    assert "Norm 2" in step_buttons(page).nth(6).inner_text()
    assert page.locator(".mt-ghost").count() == 42
    page.get_by_role("button", name="Reset").click()
    assert check_shown(page).norm_position == "pre"
    page.get_by_label("attention").focus()
    page.keyboard.press("Control+z")
    assert check_shown(page).norm_position == "post"


def test_a_causal_block_hides_later_tokens(page):
    mount(page, walk_of(block(is_causal=True), token=1, step=2))
    hidden = page.locator(".mt-detail td.hidden")
    assert hidden.count() == 2 * 3
    assert set(hidden.all_inner_texts()) == {"–"}
    check_shown(page)


def test_hidden_units_say_whether_they_are_on(page):
    widget = BlockWalk(step=5)
    mount(page, widget)
    on = widget.passes()["mlp.hook_pre"][2] > 0
    words = page.locator(".mt-detail tbody td:last-child").all_inner_texts()
    assert words == ["on" if unit else "off" for unit in on]
    assert 0 < on.sum() < 10
    assert f"{on.sum()} of 10 are on" in page.locator(".mt-detail caption").inner_text()


def test_a_change_from_python_is_shown(page):
    mount(page, BlockWalk())
    other = walk_of(block(d_model=4, d_ff=9), token=4)
    page.evaluate(
        "state => { for (const [name, value] of Object.entries(state)) model.set(name, value); }",
        {name: getattr(other, name) for name in ("weights", "x", "tokens", "activation", "token")},
    )
    assert check_shown(page).tokens == TOKENS


def test_a_finger_taps_steps_tokens_and_switches(phone):
    mount(phone, BlockWalk())
    step_buttons(phone).nth(3).tap()
    phone.locator(".mt-tokens label").nth(0).tap()
    phone.get_by_text("feed-forward", exact=True).tap()
    phone.wait_for_function("model.saved?.feed_forward === false")
    widget = check_shown(phone)
    assert (widget.step, widget.token, widget.feed_forward) == (3, 0, False)


@pytest.mark.parametrize("width", [390, 900])
def test_hostile_tokens_are_text(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    tokens = ["</script><img src=x onerror=alert(1)>", "<b>bold</b>", "x" * 300, "\u202ertl"]
    mount(page, BlockWalk(tokens=tokens, step=2, token=0))
    page.get_by_text("All tokens after the block").click()
    for k in range(7):
        step_buttons(page).nth(k).click()
        assert page.locator("#widget :is(img, script, th b, caption b)").count() == 0
        check_width(page, width)
    assert page.locator(".mt-outputs tbody th").all_text_contents() == tokens
    assert page.problems == []


@pytest.mark.parametrize("change", ["token", "step", "attention"])
def test_one_change_at_full_size_fits_a_frame(page, change):
    mount(page, walk_of(block(d_model=12, n_heads=4, d_ff=32), step=2))
    changes = """(change) => {
      const all = (where) => document.querySelectorAll(`.mt-widget ${where}`);
      return {
        token: (k) => all(".mt-tokens input")[k % 5].click(),
        step: (k) => all(".mt-block button")[k % 7].click(),
        attention: () => all(".mt-check input")[0].click(),
      }[change];
    }"""
    check_fits_a_frame(page, changes, change)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_accessibility_violation_and_no_overflow(page, theme, width):
    page.set_viewport_size({"width": width, "height": 900})
    mount(page, walk_of(block(d_model=12, n_heads=4, d_ff=32, is_causal=True), token=1), theme)
    page.get_by_text("All tokens after the block").click()
    page.get_by_label("attention").uncheck()
    for step in (0, 2, 5):
        step_buttons(page).nth(step).click()
        check_accessible(page, width)
    check_targets(page, at_least=7 + 4 + 5 + 2 + 2 + 1)


def test_nothing_moves_by_itself(page):
    """Reduced motion is honoured because there is no motion but the reader's."""
    page.emulate_media(reduced_motion="reduce")
    mount(page, BlockWalk())
    page.get_by_role("button", name="Next →").click()
    assert page.evaluate("document.getAnimations().length") == 0


def test_leaving_the_page_saves_and_stops_listening(page):
    mount(page, BlockWalk())
    page.get_by_label("attention").uncheck()
    page.evaluate("unmount()")
    assert page.evaluate("model.saved.attention") is False
    assert page.evaluate("model.listening()") == 0
    assert page.locator(".mt-widget").count() == 0
