"""Every widget of the book can be used, and listened to, by keyboard alone."""

import pytest
from keyboard_walk import walk
from site_visits import CHAPTERS, visit

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_widget_is_walked_through(browser, site, name):
    with visit(browser, f"{site}/{name}.html") as seen:
        for number, widget in enumerate(seen.page.locator(".widget-view").all(), start=1):
            found = walk(seen.page, widget)
            assert found.complaints == [], f"widget {number}: {found.stops}"
            assert len(found.stops) >= 3, f"widget {number}: {found.stops}"
            assert found.announced, f"widget {number} says nothing to a screen reader"
            # JupyterLab takes arrows and letters for commands where the focus has no such mark.
            control = widget.locator("button, input, [tabindex='0']").first
            control.focus()
            assert control.get_attribute("data-lm-suppress-shortcuts"), f"widget {number}"
        assert seen.complaints == []


def test_widgets_are_there_to_be_walked_through(html):
    pages = [(html / f"{name}.html").read_text(encoding="utf-8") for name in CHAPTERS]
    assert sum("widget-view+json" in page for page in pages) >= 10


GOOD = """
<p role="status">0</p>
<button onclick="this.previousElementSibling.textContent += '+'">More</button>
<input type="range" aria-label="Width" oninput="this.nextElementSibling.textContent = value">
<p role="status"></p>
"""


@pytest.fixture
def widget(browser):
    """A function that shows elements as a widget."""
    page = browser.new_page()

    def show(elements):
        page.set_content(f"<main><div>{elements}</div><button>After it</button></main>")
        return page, page.locator("main > div")

    yield show
    page.close()


def test_a_walk_meets_all_and_hears_what_changes(widget):
    found = walk(*widget(GOOD))
    assert found.stops == [("button", "More"), ("slider", "Width")]
    assert (found.complaints, found.announced) == ([], True)


@pytest.mark.parametrize(
    ("elements", "words"),
    [
        ("<button onclick='this.value = 1'></button>", "no name"),
        ("<div role='button' tabindex='0' onclick='this.title = 1'>Click</div>", "nothing happens"),
        ("<div tabindex='0' aria-label='a plane'>.</div>", "no role that says what to press"),
        ("<button onclick='this.remove()'>Once</button><button>x</button>", "the focus is lost"),
        ("<style>* { outline: 0 !important }</style><button>Unseen</button>", "not to be seen"),
        ("<button onkeydown='event.key === `Tab` && event.preventDefault()'>x</button>", "no way"),
    ],
)
def test_a_walk_complains(widget, elements, words):
    found = walk(*widget(elements))
    assert any(words in complaint for complaint in found.complaints), found


def test_silence_is_noticed(widget):
    assert not walk(*widget("<p>0</p><button onclick='this.title += 1'>More</button>")).announced
