"""Statement: its inputs, and the widget in a real browser."""

import pytest
import traitlets
from widget_harness import mount
from widget_pages import check_accessible

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


class TestInABrowser:
    pytestmark = pytest.mark.browser

    def answer(self, phone):
        return phone.get_by_role("status").inner_text()

    def test_nothing_is_given_away_before_a_choice(self, phone):
        mount(phone, statement())
        shown = phone.locator(".mt-widget").inner_text()
        assert "“A mask hides.”" in shown
        assert "may be seen" not in shown
        assert phone.get_by_role("status").count() == 0

    def test_its_own_words_name_it_among_many(self, phone):
        mount(phone, statement())
        assert phone.get_by_role("region", name="To judge: “A mask hides.”").count() == 1
        phone.evaluate("model.set('text', 'A mask shows.')")
        assert phone.get_by_role("region", name="To judge: “A mask shows.”").count() == 1

    @pytest.mark.parametrize("choice", ["right", "wrong"])
    def test_a_wrong_choice_is_told_the_verdict_and_the_reason(self, phone, choice):
        mount(phone, statement())
        phone.get_by_role("button", name=choice).tap()
        expected = f"You said “{choice}”. It is: only if it says who may be seen."
        assert self.answer(phone) == expected
        assert "mt-missed" in phone.get_by_role("status").get_attribute("class")

    def test_the_right_choice_is_confirmed_and_can_be_taken_back(self, phone):
        mount(phone, statement())
        phone.get_by_role("button", name="wrong").click()
        phone.get_by_role("button", name="only if").click()
        assert self.answer(phone) == "Yes: only if it says who may be seen."
        assert "mt-missed" not in phone.get_by_role("status").get_attribute("class")
        pressed = phone.locator("button[aria-pressed=true]")
        assert pressed.all_inner_texts() == ["only if"]
        phone.get_by_role("button", name="Hide the answer").click()
        assert phone.get_by_role("status").count() == 0
        assert pressed.count() == 0

    def test_by_keyboard_alone(self, phone):
        mount(phone, statement(verdict="wrong"))
        for key in ("Tab", "Tab", "Enter"):
            phone.keyboard.press(key)
        assert self.answer(phone).startswith("Yes: wrong.")
        for key in ("Tab", "Tab", "Space"):  # past "only if" to "Hide the answer"
            phone.keyboard.press(key)
        assert phone.get_by_role("status").count() == 0
        focused = phone.evaluate("document.activeElement.textContent")
        assert focused == "right"

    def test_another_statement_of_the_model_starts_afresh(self, phone):
        mount(phone, statement())
        phone.get_by_role("button", name="right").click()
        phone.evaluate("model.set('text', 'A mask remembers.')")
        assert "“A mask remembers.”" in phone.locator(".mt-widget").inner_text()
        assert phone.get_by_role("status").count() == 0

    def test_text_stays_text(self, phone):
        mount(phone, statement(text=HOSTILE, why=HOSTILE))
        phone.get_by_role("button", name="only if").click()
        assert HOSTILE in self.answer(phone)
        assert phone.evaluate("window.hacked") is None
        assert phone.problems == []

    def test_nothing_stays_behind(self, phone):
        mount(phone, statement())
        phone.evaluate("unmount()")
        assert phone.locator(".mt-widget").count() == 0
        assert phone.evaluate("model.listening()") == 0

    @pytest.mark.parametrize("theme", ["light", "dark"])
    @pytest.mark.parametrize("width", [390, 1280])
    def test_axe_finds_nothing(self, page, theme, width):
        page.set_viewport_size({"width": width, "height": 700})
        mount(page, statement(), theme)
        page.get_by_role("button", name="wrong").click()
        check_accessible(page, width)
