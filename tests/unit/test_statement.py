"""Statement: its inputs, and the widget in a real browser."""

import pytest
import traitlets
from axe_playwright_python.sync_playwright import Axe
from widget_harness import CHROMIUM, browser, mount

from minitransformer.widgets import Statement

HOSTILE = '</script><img src=x onerror="window.hacked = 1">'


def statement(**changes):
    parts = {"text": "A mask hides.", "verdict": "only if", "why": "it says who may be seen."}
    return Statement(**(parts | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": " "}, "text must be a string that is not blank, got ' '"),
        ({"text": 3}, "text must be a string that is not blank, got 3"),
        ({"why": ""}, "why must be a string that is not blank"),
        ({"verdict": "maybe"}, "maybe"),
        ({"verdict": "Right"}, "Right"),
    ],
)
def test_bad_inputs_are_named(changes, message):
    with pytest.raises(traitlets.TraitError) as error:
        statement(**changes)
    assert message in str(error.value)


def test_without_a_script_a_table_holds_statement_verdict_and_reason():
    table = statement(text=HOSTILE)._repr_mimebundle_()[0]["text/html"]
    assert "<td>only if</td><td>it says who may be seen.</td>" in table
    assert "<img" not in table


needs_a_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium (Debian: apt-get install chromium)"),
]


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture
def page(chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 700}, has_touch=True)
    yield context.new_page()
    context.close()


class TestInABrowser:
    pytestmark = needs_a_browser

    def answer(self, page):
        return page.get_by_role("status").inner_text()

    def test_nothing_is_given_away_before_a_choice(self, page):
        mount(page, statement())
        shown = page.locator(".mt-widget").inner_text()
        assert "“A mask hides.”" in shown
        assert "may be seen" not in shown
        assert page.get_by_role("status").count() == 0

    def test_its_own_words_name_it_among_many(self, page):
        mount(page, statement())
        assert page.get_by_role("region", name="To judge: “A mask hides.”").count() == 1
        page.evaluate("model.set('text', 'A mask shows.')")
        assert page.get_by_role("region", name="To judge: “A mask shows.”").count() == 1

    @pytest.mark.parametrize("choice", ["right", "wrong"])
    def test_a_wrong_choice_is_told_the_verdict_and_the_reason(self, page, choice):
        mount(page, statement())
        page.get_by_role("button", name=choice).tap()
        expected = f"You said “{choice}”. It is: only if it says who may be seen."
        assert self.answer(page) == expected
        assert "mt-missed" in page.get_by_role("status").get_attribute("class")

    def test_the_right_choice_is_confirmed_and_can_be_taken_back(self, page):
        mount(page, statement())
        page.get_by_role("button", name="wrong").click()
        page.get_by_role("button", name="only if").click()
        assert self.answer(page) == "Yes: only if it says who may be seen."
        assert "mt-missed" not in page.get_by_role("status").get_attribute("class")
        pressed = page.locator("button[aria-pressed=true]")
        assert pressed.all_inner_texts() == ["only if"]
        page.get_by_role("button", name="Hide the answer").click()
        assert page.get_by_role("status").count() == 0
        assert pressed.count() == 0

    def test_by_keyboard_alone(self, page):
        mount(page, statement(verdict="wrong"))
        for key in ("Tab", "Tab", "Enter"):
            page.keyboard.press(key)
        assert self.answer(page).startswith("Yes: wrong.")
        for key in ("Tab", "Tab", "Space"):  # past "only if" to "Hide the answer"
            page.keyboard.press(key)
        assert page.get_by_role("status").count() == 0
        focused = page.evaluate("document.activeElement.textContent")
        assert focused == "right"

    def test_another_statement_of_the_model_starts_afresh(self, page):
        mount(page, statement())
        page.get_by_role("button", name="right").click()
        page.evaluate("model.set('text', 'A mask remembers.')")
        assert "“A mask remembers.”" in page.locator(".mt-widget").inner_text()
        assert page.get_by_role("status").count() == 0

    def test_text_stays_text(self, page):
        mount(page, statement(text=HOSTILE, why=HOSTILE))
        page.get_by_role("button", name="only if").click()
        assert HOSTILE in self.answer(page)
        assert page.evaluate("window.hacked") is None
        assert page.problems == []

    def test_nothing_stays_behind(self, page):
        mount(page, statement())
        page.evaluate("unmount()")
        assert page.locator(".mt-widget").count() == 0
        assert page.evaluate("model.listening()") == 0

    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize("width", [390, 1280])
    def test_axe_finds_nothing(self, page, theme, width):
        page.set_viewport_size({"width": width, "height": 700})
        mount(page, statement(), theme)
        page.get_by_role("button", name="wrong").click()
        assert Axe().run(page).response["violations"] == []
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0
