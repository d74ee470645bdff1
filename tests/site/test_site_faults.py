"""The checks can fail: each fault, planted in a copy of a built page, is reported by its check."""

import re
import secrets
import shutil

import checks
import pytest
from site_links import broken_links
from site_visits import DESKTOP, PHONE, scroll_through, served, visit

pytestmark = pytest.mark.browser
INTRO, CHAPTER = "book/intro", "chapters/03_worked_example"
STEPPER = "minitransformer.widgets.attention_stepper.AttentionStepper"
POLICY = re.compile('<meta http-equiv="Content-Security-Policy"[^>]*>')
HEAD, END = "</head>", "</article>"  # what is planted goes before one of these


@pytest.fixture(scope="module")
def copy(html, tmp_path_factory):
    """A copy of the built site; faults are planted in it as pages of their own."""
    folder = tmp_path_factory.mktemp("faults") / "html"
    shutil.copytree(html, folder)
    return folder


@pytest.fixture(scope="module")
def address(copy):
    with served(copy) as address:
        yield address


@pytest.fixture
def faulty(browser, copy, address, request):
    """A function that visits a page after text in it was replaced (there must be such text).

    The page has lost its content security policy, which would stop some faults before the checks
    see them; what it stops is in test_content_security.py.
    """
    visits = []

    def open_page(old, new, *, page=INTRO, **how):
        text = (copy / f"{page}.html").read_text(encoding="utf-8")
        text, removed = POLICY.subn("", text)
        assert removed == 1
        assert old in text
        name = f"{page.split('/')[0]}/fault_{secrets.token_hex(4)}.html"
        (copy / name).write_text(text.replace(old, new, 1), encoding="utf-8")
        manager = visit(browser, f"{address}/{name}", **how)
        seen = manager.__enter__()
        visits.append(manager)
        scroll_through(seen.page)
        return seen

    yield open_page
    for manager in visits:
        manager.__exit__(None, None, None)


@pytest.mark.parametrize(
    "fault",
    [
        '<script src="https://cdn.example.org/x.js"></script>',
        '<style>@import url("https://fonts.example.org/face.css");</style>',
        '<script>fetch("http://other.example.org/count")</script>',
        '<img src="//pictures.example.org/a.png" alt="a picture from somewhere else">',
    ],
)
def test_request_to_another_host(faulty, fault):
    assert "example.org" in "".join(checks.foreign_requests(faulty(HEAD, fault + HEAD)))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("<script>nobody.knows.this();</script>", "page error: nobody is not defined"),
        ("<script>console.error('it is broken');</script>", "console error: it is broken"),
        ('<link rel="stylesheet" href="nowhere.css">', "404"),
    ],
)
def test_error_on_the_page(faulty, fault, words):
    assert any(words in text for text in checks.complaints(faulty(HEAD, fault + HEAD)))


def test_heavy_page(faulty):
    fault = f"<!-- {secrets.token_hex(checks.PAGE_LIMIT)} -->"
    assert f"at most {checks.PAGE_LIMIT}" in checks.too_heavy(faulty(END, fault + END))[0]


@pytest.mark.parametrize(
    ("fault", "rule", "dark"),
    [
        ('<p style="color: #999">Hardly to be read</p>', "color-contrast", False),
        ('<p style="color: #444">Dark on dark</p>', "color-contrast", True),
        ("<button></button>", "button-name", False),
        ('<p id="twice" lang="xx-nothing">?</p>', "valid-lang", False),
        ("<h6>Four levels are left out</h6>", "heading-order", False),
        ('<p style="width: 9em; height: 2em; overflow: auto; white-space: pre">'
         f'<span style="color: inherit">{"wide " * 50}</span></p>',
         "scrollable-region-focusable", False),
    ],
)  # fmt: skip
def test_rule_of_axe_broken(faulty, fault, rule, dark):
    seen = faulty(END, fault + END, dark=dark)
    assert [text.split()[0] for text in checks.accessibility(seen.page)] == [rule]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ('<pre style="overflow: visible">' + "x" * 200 + "</pre>", "the page is"),
        (
            '<div style="width: 100px; overflow: hidden"><div style="width: 900px">.</div></div>',
            "cut off",
        ),
    ],
)
def test_too_wide_for_a_phone(faulty, fault, words):
    seen = faulty(END, fault + END, size=PHONE)
    assert words in "".join(checks.sideways(seen.page))


PICTURE = '<div style="height: 3000px"></div><img src="../_static/favicon.svg" {}>'


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ('width="9" height="9" loading="lazy"', "no alternative text"),
        ('alt="heat map" width="9" height="9" loading="lazy"', "no alternative text"),
        ('alt="favicon-large.svg" width="9" height="9" loading="lazy"', "a file name"),
        ('alt="A small sign of the book" width="9" height="9"', "not lazy"),
        ('alt="A small sign of the book" height="9" loading="lazy"', "no width"),
        ('alt="A small sign of the book" width="9" loading="lazy"', "no height"),
    ],
)
def test_picture_lacks_something(faulty, attributes, words):
    complaints = checks.pictures(faulty(END, PICTURE.format(attributes) + END).page)
    assert len(complaints) == 1
    assert words in complaints[0]


def test_picture_in_the_first_screen_waits(faulty):
    start = '<article class="bd-article">'
    picture = '<img src="../_static/favicon.svg" alt="A small sign of the book" loading="lazy"'
    complaints = checks.pictures(faulty(start, f'{start}{picture} width="9" height="9">').page)
    assert complaints == ["picture favicon.svg: lazy, in the first screen"]


def test_alternative_text_of_a_figure_lost(faulty, copy):
    text = (copy / f"{CHAPTER}.html").read_text(encoding="utf-8")
    start = text.index('<img alt="') + len('<img alt="')
    alt = text[start : text.index('"', start)]
    assert len(alt) > 50
    seen = faulty(f'alt="{alt}"', 'alt=""', page=CHAPTER)
    assert "no alternative text" in "".join(checks.pictures(seen.page))


@pytest.mark.parametrize(
    ("module", "words"),
    [
        (None, "Failed to fetch"),
        ("this is no JavaScript", "Unexpected identifier"),
        ("throw new Error('broken at the start');", "broken at the start"),
        ("export default { render() { throw new Error('cannot draw'); } };", "cannot draw"),
        ("export default { render() {} };", "shows nothing"),
    ],
)
def test_dead_widget(faulty, copy, module, words):
    if module:
        (copy / "_widgets" / "Broken.js").write_text(module, encoding="utf-8")
    name = f"minitransformer.widgets.broken.{'Broken' if module else 'Missing'}"
    seen = faulty(STEPPER, name, page=CHAPTER, size=DESKTOP)
    assert words in "".join(checks.dead_widgets(seen.page))
    if words != "shows nothing":  # nothing went wrong there as far as the host can tell
        assert "could not be started" in seen.page.locator(".widget [role=alert]").inner_text()
        assert seen.page.locator(".widget-table table").is_visible()
        assert checks.complaints(seen) != []


def test_widget_host_missing(faulty):
    seen = faulty("widget_host.js", "widget_hosd.js", page=CHAPTER)
    assert checks.dead_widgets(seen.page) == ["a widget was not mounted at all"]
    assert seen.page.locator(".widget-table table").is_visible()


@pytest.mark.parametrize(
    ("check", "fault"),
    [
        ("callouts", "<blockquote><p>[!NOTE] This is a note.</p></blockquote>"),
        ("mathematics", "<p>The root is $\\sqrt{d_k}$ here.</p>"),
        ("mathematics", '<div class="math">\\sqrt{d_k}</div>'),
        ("mathematics", '<span class="math"><span class="katex-error">\\sqr</span></span>'),
        ("icons", '<i class="fa-solid fa-kiwi-bird"></i>'),
        ("icons", '<i class="fas fa-rocket"></i>'),
    ],
)
def test_left_as_typed(faulty, check, fault):
    assert len(getattr(checks, check)(faulty(END, fault + END).page)) == 1


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (HEAD, "<style>:focus:focus { outline: none !important }</style>" + HEAD, "not to be seen"),
        ('href="#main-content"', "", "no skip link"),
        (END, '<button onkeydown="event.preventDefault()">a trap</button>' + END, "no end"),
        (END, '<a href="#" style="opacity: 0">unseen</a>' + END, "not to be seen"),
        (END, '<a href="#" style="position: fixed; left: -9em">x</a>' + END, "off the screen"),
    ],
)
def test_keyboard_fault(faulty, old, new, words):
    assert words in "".join(checks.keyboard(faulty(old, new).page, stops=80))


def test_empty_page(faulty):
    seen = faulty("</title>", "</title><style>article > section { display: none }</style>")
    assert "next to nothing" in checks.unfinished(seen.page)[0]


def test_broken_links(copy, tmp_path):
    shutil.copytree(copy, tmp_path / "html")
    page = tmp_path / "html" / f"{INTRO}.html"
    text = page.read_text(encoding="utf-8")
    page.write_text(
        text.replace(END, '<a href="nowhere.html">x</a><a href="#nothing">y</a>' + END, 1),
        encoding="utf-8",
    )
    found = [text for text in broken_links(tmp_path / "html") if text.startswith(INTRO)]
    assert found == [f"{INTRO}.html: no file nowhere.html", f"{INTRO}.html: no place #nothing"]
