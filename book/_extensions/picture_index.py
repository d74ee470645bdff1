"""The index of figures: every picture that a chapter prints, small, with a link to its place."""

from html import escape

from docutils import nodes
from read_chapters import (
    cell,
    chapters,
    depend_on_chapters,
    notebook,
    notebook_title,
    number,
    place,
    tree,
)

PAGE = "book/index_figures"
PLACE = "<!-- the figures -->"
CHAPTER = "<!-- the figures of {} -->"
FIRST_SCREEN = 3  # pictures that are seen at once, on a phone too; the others wait


def figures(env, page):
    """The pictures of a chapter with their places: pairs of image node and Place."""
    return [(image, place(image, page)) for image in tree(env, page).findall(nodes.image)]


def has_pictures(content):
    """Whether a notebook shows any picture."""
    outputs = [output for cell in content["cells"] for output in cell.get("outputs", ())]
    drawn = any(kind.startswith("image/") for o in outputs for kind in o.get("data", ()))
    return drawn or any(cell.get("attachments") for cell in content["cells"])


def head(app, page, source):
    """One heading for each chapter with pictures, and under it a comment where they go."""
    if page == PAGE and PLACE in source[0]:
        depend_on_chapters(app.env)
        parts = []
        for chapter in chapters(app.env):
            content = notebook(app.env, chapter)
            if has_pictures(content):
                title = f"## {number(chapter)}. {notebook_title(content)}"
                parts += [title, CHAPTER.format(chapter)]
        source[0] = source[0].replace(PLACE, "\n\n".join(parts))


def fill(app, document, page):
    """Put the figures in place of the comments."""
    if page != PAGE or app.builder.format != "html":
        return
    at_once = FIRST_SCREEN
    for comment in list(document.findall(nodes.raw)):
        for chapter in chapters(app.env):
            if comment.astext().strip() == CHAPTER.format(chapter):
                found = figures(app.env, chapter)
                pictures = gallery(app.env, found).replace('loading="lazy" ', "", max(at_once, 0))
                at_once -= len(found)
                comment.replace_self(nodes.raw("", pictures, format="html"))


def gallery(env, found):
    """The pictures as a list of links."""
    items = "\n".join(_item(env, image, where) for image, where in found)
    return f'<ul class="gallery">\n{items}\n</ul>'


def _item(env, image, where):
    file = f"../_images/{env.images[image['uri']][1]}"
    sides = "".join(f' {side}="{image[side]}"' for side in ("width", "height") if side in image)
    address = f"../{where.page}.html#{cell(image) or where.id}"
    return (
        f'<li><a href="{address}"><img src="{file}" alt="{escape(image["alt"])}"{sides} '
        f'loading="lazy" /><span>{escape(where.title)}</span></a></li>'
    )


def setup(app):
    app.connect("source-read", head)
    app.connect("doctree-resolved", fill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
