"""Draw the theme's icons as style-sheet masks of the few pictures in use.

The theme names its icons by Font Awesome's classes (``fa-solid fa-bars``) and draws them with a
script of 1.5 MB. Here each picture in ``_static/vendor/fontawesome`` becomes one rule of a style
sheet instead. A test sees to it that every class in the built pages has its picture.
"""

from base64 import b64encode
from pathlib import Path

PICTURES = Path(__file__).parents[1] / "_static" / "vendor" / "fontawesome"

COMMON = """\
:is(.fa-solid, .fas, .fa-brands, .fab) {
  display: inline-block; width: 1em; height: 1em; vertical-align: -0.125em;
  background-color: currentColor;
  mask: var(--icon) center / contain no-repeat;
}
/* the theme's style sheet would fetch 270 kB of fonts here to draw each icon a second time */
:is(.fa-solid, .fas, .fa-brands, .fab)::before { content: none !important; }
.fa-lg { font-size: 1.25em; vertical-align: -0.075em; }
"""


def style_sheet():
    """The style sheet, one rule a picture."""
    rules = [COMMON]
    for picture in sorted(PICTURES.glob("*.svg")):
        data = b64encode(picture.read_bytes()).decode()
        rules.append(f'.fa-{picture.stem} {{ --icon: url("data:image/svg+xml;base64,{data}"); }}\n')
    return "".join(rules)


def write(app, exception):
    if exception is None and app.builder.format == "html":
        (Path(app.outdir) / "_static" / "icons.css").write_text(style_sheet(), encoding="utf-8")


def setup(app):
    app.add_css_file("icons.css")
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
