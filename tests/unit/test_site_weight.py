"""What the site's extensions leave out of style sheets, pages and figures, and what they keep."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from compact_pictures import compact
from light_pages import clear, lighten
from matplotlib.figure import Figure
from used_styles import join, pruned

FACE = '@font-face { font-family: "Old Face"; src: url(old.woff2) }'
BUILDER = SimpleNamespace(format="html")


@pytest.mark.parametrize(
    ("css", "kept"),
    [
        (".here { top: 0 }", ".here{top: 0}"),
        (".gone { top: 0 }", ""),
        ("#gone, p > .here .here { top: 0 }", "p > .here .here{top: 0}"),
        (".here .gone { top: 0 }", ""),
        ("p:not(.gone) :is(.gone, .other) { top: 0 }", "p:not(.gone) :is(.gone, .other){top: 0}"),
        ("html[data-x=gone] { top: 0 }", "html[data-x=gone]{top: 0}"),
        ("@media print { .gone { top: 0 } .here { top: 1px } }", "@media print{.here{top: 1px}}"),
        ("@media print { .gone { top: 0 } }", ""),
        ("/* a { */ .here { content: 'a; } /* */' }", '.here{content: "a; } /* */"}'),
        (FACE + ".gone { font-family: Old Face }", ""),
        ("@keyframes turn { to { top: 0 } }", ""),
    ],
)
def test_a_rule_stays_if_a_page_can_match_it(css, kept):
    assert pruned(css, {"here"}) == kept


def test_a_face_stays_with_a_rule_that_names_it():
    assert "old.woff2" in pruned(FACE + "p { font-family: Old Face }", set())


@pytest.fixture
def site(tmp_path):
    """A site of two pages, one below, with a sheet that imports another."""
    for folder in ("part", "_static/theme", "_static/faces"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "_static/base.css").write_text(".used { src: url('faces/a.woff2') } .gone {}")
    (tmp_path / "_static/theme/theme.css").write_text(
        '@import "../base.css"; .gone { top: 0 } .set-by-script { mask: url(data:x,y) }'
    )
    (tmp_path / "_static/book.css").write_text(".made-of-parts-1 { top: 0 }")
    (tmp_path / "_static/page.js").write_text('el.className = "set-by-script"')
    links = '<link href="{}_static/theme/theme.css" rel="stylesheet" />\n'
    links += '<link rel="stylesheet" type="text/css" href="{}_static/book.css?v=1" />\n'
    links += '<link rel="icon" href="{}_static/i.svg"/>'
    for name, root in (("part/page.html", "../"), ("index.html", "")):
        page = f"<head>{links.replace('{}', root)}</head><p class='used'>text</p>"
        (tmp_path / name).write_text(page)
    return tmp_path


@pytest.fixture
def app(site, tmp_path_factory):
    """Sphinx, which keeps the site and what it wants to remember in two folders."""
    kept = tmp_path_factory.mktemp("doctrees")
    return SimpleNamespace(outdir=site, doctreedir=kept, builder=BUILDER)


def links(site, page):
    return re.findall(r'rel="stylesheet" href="([^"]*css[^"]*)"', (site / page).read_text())


def test_the_sheets_of_a_page_become_one(site, app):
    join(app, None)
    ((sheet,), (from_below,)) = links(site, "index.html"), links(site, "part/page.html")
    assert from_below == f"../{sheet}"
    assert (site / sheet).read_text().splitlines() == [
        ".used{src: url(faces/a.woff2)}.set-by-script{mask: url(data:x,y)}",
        ".made-of-parts-1 { top: 0 }",
    ]
    head = (site / "index.html").read_text().partition("</head>")[0]
    assert head.startswith(f'<head><link rel="preload" as="style" href="{sheet}" />')
    assert head.endswith(
        f'<link rel="icon" href="_static/i.svg"/><link rel="stylesheet" href="{sheet}" />'
    )


def test_a_later_build_leaves_other_pages_their_sheet_and_drops_what_none_links(site, app):
    join(app, None)
    before = links(site, "part/page.html")
    (site / "index.html").write_text(  # written anew, with a class that it had not
        '<link rel="stylesheet" href="_static/theme/theme.css"/>'
        '<link rel="stylesheet" href="_static/book.css"/></head><p class="gone">'
    )
    join(app, None)
    (new,) = links(site, "index.html")
    assert links(site, "part/page.html") == before != [f"../{new}"]
    assert ".gone" in (site / new).read_text()
    (site / "part/page.html").unlink()
    join(app, None)
    assert [sheet.name for sheet in site.glob("_static/site-*")] == [new.rpartition("/")[2]]


def test_what_stayed_of_a_sheet_is_found_again_until_something_changes(site, app, monkeypatch):
    pages = {page: (site / page).read_text() for page in ("index.html", "part/page.html")}

    def build(**changed):
        for page, text in (pages | changed).items():
            (site / page).write_text(text)
        join(app, None)
        return (site / links(site, "index.html")[0]).read_text()

    calls = []
    monkeypatch.setattr("used_styles.pruned", lambda *args: calls.append(args) or pruned(*args))
    first = build()
    assert (build(), len(calls)) == (first, 1)
    assert ".gone" in build(**{"index.html": pages["index.html"] + '<p class="gone">'})
    (site / "_static/base.css").write_text(".used { top: 7px }")
    assert "7px" in build()
    assert len(calls) == 3


class Script:
    """Sphinx's record of a script."""

    def __init__(self, filename, priority=500, **attributes):
        self.filename, self.priority, self.attributes = filename, priority, attributes


def pathto(file, _):
    return f"../{file}"


def test_scripts_wait_but_modules_and_written_ones_do_not():
    scripts = [
        Script("a.js", 200),
        Script("m.js", type="module"),
        Script(None, body="start()"),
        Script(None, body="DOCUMENTATION_OPTIONS.pagename = 'x';"),
    ]
    context = {"script_files": scripts, "pathto": pathto}
    lighten(None, "page", "", context, None)
    found = [(s.filename, s.priority, s.attributes) for s in context["script_files"]]
    assert found == [
        ("a.js", 200, {"defer": "defer"}),
        ("m.js", 500, {"type": "module"}),
        (None, 500, {"body": "start()"}),
    ]
    context = {"script_files": scripts, "pathto": pathto}
    lighten(None, "search", "", context, None)
    assert context["script_files"] == scripts


def test_code_keeps_its_letters_and_the_elements_with_a_colour():
    code = '<span></span><span class="n">x</span><span class="o">=</span><span class="mi">1</span>'
    code += '\n<span class="n">y</span>\n'
    body = f'<span class="n">prose</span><div class="highlight"><pre>{code}</pre>'
    context = {"script_files": [], "body": body, "pathto": pathto}
    lighten(None, "page", "", context, None)
    assert context["body"] == (
        '<span class="n">prose</span><div class="highlight"><pre><span></span>'
        'x<span class="o">=</span><span class="mi">1</span>\ny\n</pre>'
    )


def test_letters_are_asked_for_where_there_are_some():
    def asked(body):
        context = {"script_files": [], "body": body, "pathto": pathto, "metatags": "<meta />"}
        lighten(None, "page", "", context, None)
        assert context["metatags"].startswith("<meta /><link ")
        return re.findall(
            r'href="../_static/vendor/[a-z-]+/(?:fonts/)?([^"]+).woff2"', context["metatags"]
        )

    plain = "source-sans-3-latin-wght-normal"
    assert asked("text") == [plain]
    formula = '<i class="mrel">=</i><i class="mathnormal">x</i>'
    assert asked(formula) == [plain, "KaTeX_Main-Regular", "KaTeX_Math-Italic"]
    assert asked("<em>text</em>") == [plain, "source-sans-3-latin-wght-italic"]


def test_what_no_page_loads_is_not_published(site):
    (site / "_static/scripts").mkdir()
    for name in ("fontawesome.js", "fontawesome.js.map", "theme.js"):
        (site / "_static/scripts" / name).write_text("")
    clear(SimpleNamespace(outdir=site, builder=BUILDER), None)
    assert [file.name for file in (site / "_static/scripts").iterdir()] == ["theme.js"]


def picture(draw):
    figure, buffer = Figure((3, 2)), io.StringIO()
    draw(figure.add_subplot())
    figure.savefig(buffer, format="svg")
    return buffer.getvalue()


def test_a_heat_map_is_written_short_and_shows_the_same_cells():
    svg = picture(lambda axes: axes.pcolormesh(np.eye(9, 7)))
    short = compact(svg)
    assert len(short) < 0.6 * len(svg)
    assert compact(short) == short
    cells = re.search(r'<g id="QuadMesh_1"( clip-path="[^"]*")?>(.*?)</g>', short)
    assert cells[1] is not None
    assert cells[2].count("<path") == 63
    corner = r"M {0} {0} \nL {0} {0} \nL {0} {0} ".format(r"([\d.]+)")
    before = [[round(float(x), 2) for x in found] for found in re.findall(corner, svg)]
    after = [
        [float(x) for x in (x0, y0, x1, y0, x1, y1)]
        for x0, y0, x1, y1 in re.findall(r'"M([\d.]+) ([\d.]+)H([\d.]+)V([\d.]+)H\1z"', short)
    ]
    assert len(after) >= 63
    assert all(cell in before for cell in after)


def test_what_is_no_rectangle_keeps_its_points():
    assert compact('<path d="M 1 2 \nL 3 4.128 \nz\n"/>') == '<path d="M1 2L3 4.13z"/>'
    assert compact('<path d="M 1 2 L 3 2 L 3 4 L 1 5 z"/>') == '<path d="M1 2L3 2L3 4L1 5z"/>'
    assert compact('<g transform="scale(0.015625)"/>') == '<g transform="scale(0.015625)"/>'
