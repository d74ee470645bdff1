"""What a reader can do: find, copy, turn the page, run, report, read in the dark or on paper."""

import json
import re
from urllib.parse import parse_qs, urlsplit

import checks
import pytest
from prose import PARSER
from site_links import broken_links, followed
from site_visits import CHAPTERS, PAGES, PHONE, ROOT, config, visit

from minitransformer.exercises import solution

pytestmark = pytest.mark.browser
CHAPTER = "chapters/03_worked_example"  # the one whose widget and figures are known here


@pytest.fixture
def chapter(browser, site):
    """The first chapter, as a new reader finds it."""
    with visit(browser, f"{site}/{CHAPTER}.html") as seen:
        yield seen.page


def notebook(name):
    return json.loads((ROOT / f"{name}.ipynb").read_text(encoding="utf-8"))


def formulas(name):
    """How many formulas the prose of a notebook holds."""
    prose = ("".join(c["source"]) for c in notebook(name)["cells"] if c["cell_type"] == "markdown")
    tokens = [token for text in prose for token in PARSER.parse(text)]
    tokens += [child for token in tokens for child in token.children or ()]
    return sum(token.type.startswith("math_") for token in tokens)


def test_links_lead_somewhere(html, checked):
    for page, links in followed(html).items():
        if page in CHAPTERS:
            checked(page, "links", links)
    assert broken_links(html) == []


@pytest.fixture(scope="module", params=CHAPTERS)
def each(request, browser, site):
    """Name and page of each chapter, to look at only."""
    with visit(browser, f"{site}/{request.param}.html") as seen:
        yield request.param, seen.page


def test_every_callout_of_the_notebook_is_a_box(each):
    name, page = each
    text = "\n".join("".join(cell["source"]) + "\n" for cell in notebook(name)["cells"])
    typed = re.findall(r"^> \[!(\w+)\]", text, re.MULTILINE)
    boxes = page.locator("article div.admonition").all()
    assert len(boxes) == len(typed) > 0
    assert all(box.locator(".admonition-title").inner_text() for box in boxes)


def test_every_formula_and_widget_of_the_notebook_is_there(each):
    name, page = each
    outputs = [o for cell in notebook(name)["cells"] for o in cell.get("outputs", ())]
    views = [o for o in outputs if "application/vnd.jupyter.widget-view+json" in o.get("data", {})]
    assert page.locator(".widget-view").count() == len(views)
    assert page.locator("article .katex").count() == formulas(name)
    if formulas(name):  # without any, no font of theirs is fetched
        assert page.evaluate("document.fonts.check('16px KaTeX_Main')")


def test_colab_button_opens_this_notebook(each):
    name, page = each
    repository = config()["repository"]
    owner_and_name = urlsplit(repository["url"]).path.strip("/")
    assert page.get_by_role("link", name="Run in Colab").get_attribute("href") == (
        f"https://colab.research.google.com/github/{owner_and_name}/blob/"
        f"{repository['branch']}/{name}.ipynb"
    )


def test_report_link_names_the_chapter(each):
    _, page = each
    title = page.locator("article h1").inner_text().removesuffix("#").strip()
    href = page.get_by_role("link", name="Report an error").get_attribute("href")
    assert href.startswith(config()["repository"]["url"] + "/issues/new?")
    assert title in parse_qs(urlsplit(href).query)["title"][0]


def test_notebook_can_be_downloaded(chapter):
    with chapter.expect_download() as download:
        chapter.get_by_role("link", name="Download notebook").click()
    assert json.loads(download.value.path().read_text(encoding="utf-8")) == notebook(CHAPTER)


def test_pages_turn_in_the_order_of_the_contents(browser, site):
    with visit(browser, f"{site}/{PAGES[0]}.html") as seen:
        for name in PAGES[1:]:
            seen.page.locator(".right-next").click()
            seen.page.wait_for_url(f"{site}/{name}.html")
        assert seen.page.locator(".right-next").count() == 0
        seen.page.locator(".left-prev").click()
        seen.page.wait_for_url(f"{site}/{PAGES[-2]}.html")


def test_search_finds_a_word(chapter):
    chapter.locator(".search-button__button:visible").first.click()
    chapter.locator("#pst-search-dialog input").fill("equivariant")
    chapter.keyboard.press("Enter")
    chapter.wait_for_url("**/search.html?q=equivariant*")
    found = chapter.locator("#search-results .search > li > a")
    found.first.wait_for()
    assert any(CHAPTER in link.get_attribute("href") for link in found.all())


def test_search_finds_no_word_that_is_not_there(browser, site):
    with visit(browser, f"{site}/search.html?q=zyzzyva") as seen:
        seen.page.get_by_text("did not match any documents").wait_for()
        assert seen.page.locator("#search-results .search > li > a").count() == 0


def test_copy_button_copies_the_code_and_only_that(chapter):
    chapter.context.grant_permissions(["clipboard-read", "clipboard-write"])
    cells = chapter.locator("div.cell:not(.tag_setup) div.cell_input")
    code = next(c for c in notebook(CHAPTER)["cells"][3:] if c["cell_type"] == "code")
    cells.first.hover()
    cells.first.locator("button.copybtn").click()
    chapter.wait_for_function("async () => (await navigator.clipboard.readText()).length > 0")
    assert chapter.evaluate("navigator.clipboard.readText()") == "".join(code["source"])
    assert chapter.locator(".cell_output button.copybtn").count() == 0


def luminance(page):
    """Mean of the page's background colour, from 0 (black) to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3


def test_theme_is_the_readers_choice_and_stays(chapter):
    button = chapter.get_by_role("button", name="Color mode")
    seen = set()
    for _ in range(3):  # the system's, light, dark, in some order
        button.click()
        seen.add((chapter.evaluate("document.documentElement.dataset.theme"), luminance(chapter)))
        if seen and chapter.evaluate("document.documentElement.dataset.mode") == "dark":
            break
    assert luminance(chapter) < 60
    chapter.reload()
    assert luminance(chapter) < 60


def test_first_paint_is_dark_where_the_system_is(browser, site):
    with visit(browser, f"{site}/{CHAPTER}.html", dark=True) as seen:
        # Without the theme's own script, which comes late.
        seen.page.route("**/pydata-sphinx-theme.js*", lambda route: route.abort())
        seen.page.reload()
        assert luminance(seen.page) < 60


def test_figures_stand_on_a_light_panel_in_the_dark(browser, site):
    with visit(browser, f"{site}/{CHAPTER}.html", dark=True) as seen:
        colours = seen.page.locator(".cell_output img").evaluate_all(
            "all => all.map((img) => getComputedStyle(img).backgroundColor)"
        )
    assert len(colours) > 0
    assert set(colours) == {"rgb(255, 255, 255)"}


def test_set_up_cell_is_folded_and_named(chapter):
    details = chapter.locator(".tag_setup details")
    assert details.get_attribute("open") is None
    assert details.locator("summary").inner_text().startswith("Set-up")
    details.locator("summary").click()
    assert "google.colab" in details.inner_text()


def test_solutions_are_folded_and_the_library_s(each):
    name, page = each
    text = "\n".join("".join(cell["source"]) for cell in notebook(name)["cells"])
    asked = re.findall(r'^# solution\("(\w+)"\)$', text, re.MULTILINE)
    shown = page.locator("details", has=page.locator("summary", has_text="Solution"))
    assert shown.count() == len(asked) > 0
    for exercise, details in zip(asked, shown.all(), strict=True):
        assert details.get_attribute("open") is None
        assert details.locator("pre").text_content().strip() == solution(exercise).code


@pytest.mark.parametrize("name", CHAPTERS)
def test_without_scripts_the_stored_tables_stand_for_the_widgets(browser, site, name):
    with visit(browser, f"{site}/{name}.html", scripts=False, size=PHONE) as seen:
        tables = seen.page.locator(".widget-table table")
        assert tables.count() == seen.page.locator("script[type*='widget-view+json']").count()
        assert all(table.is_visible() for table in tables.all())
        set_formulas = seen.page.locator("article .katex-html").all()
        assert len(set_formulas) == formulas(name)
        assert all(formula.is_visible() for formula in set_formulas)
        # The colours of the theme hold as well: light letters on the dark button.
        button = seen.page.get_by_role("link", name="Run in Colab")
        colour = button.evaluate("button => getComputedStyle(button).color")
        assert colour == "rgb(255, 255, 255)"


def test_widget_answers_without_a_kernel(chapter):
    widget = chapter.locator(".widget-view").first
    before = widget.inner_text()
    widget.get_by_role("button", name=re.compile("Mix")).click()
    assert widget.inner_text() != before
    assert checks.dead_widgets(chapter) == []


def test_views_of_one_model_move_together(browser, site):
    """The page gets the widget's view a second time; both follow one click."""
    with visit(browser, f"{site}/{CHAPTER}.html") as seen:

        def twice(route):
            body = route.fetch().text()
            view = re.search(r'<div class="widget">.*?</div>', body, re.DOTALL).group()
            route.fulfill(body=body.replace(view, view * 2, 1), content_type="text/html")

        seen.page.route(f"**/{CHAPTER}.html", twice)
        seen.page.reload(wait_until="networkidle")
        first, second = seen.page.locator(".widget-view").all()[:2]
        first.get_by_role("button", name=re.compile("Mix")).click()
        current = second.locator("[aria-current]").inner_text()
        assert "Mix" in current


def test_paper_shows_widget_prose_and_solutions_but_no_buttons(chapter):
    assert not chapter.locator(".tag_solution pre").first.is_visible()
    chapter.emulate_media(media="print")
    assert chapter.locator(".tag_solution pre").first.is_visible()
    assert not chapter.locator(".chapter-bar").is_visible()
    assert chapter.locator(".widget-view").first.is_visible()
    assert chapter.locator("article section > p").first.is_visible()
    assert chapter.locator("h1:visible").count() == 1
