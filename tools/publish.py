"""Copy the built site into a folder that a web server serves: make publish DIR=/srv/book

The copy is made beside the folder and then takes its name, so that no reader gets half of it. A
folder that holds something else is not touched: it must be empty, not there yet, or hold what
an earlier call has put there. Nothing is published that a link of the site does not find.
"""

import shutil
import sys
from pathlib import Path

from notebooks import ROOT

sys.path.append(str(ROOT / "tests" / "site"))
from site_links import broken_links

HTML = ROOT / "_build" / "html"
ASSIGNMENTS = ROOT / "_build" / "assignments"
MARK = ".published-book"  # what tells a published site from a folder with other things
USAGE = "Usage: make publish DIR=folder"


def publish(site, target, assignments=None):
    """Put the site, and student versions of assignments in a folder of it, in place of ``target``.

    Raises
    ------
    ValueError
        If ``target`` holds something that was not published, is no folder, or lies within the site,
        or a link of the site leads nowhere. Nothing has changed then.
    """
    target = Path(target).resolve()
    if target.is_relative_to(site.resolve()) or site.resolve().is_relative_to(target):
        raise ValueError(f"{target} and the built site lie within one another")
    if target.exists() and not target.is_dir():
        raise ValueError(f"{target} is a file")
    if target.exists() and any(target.iterdir()) and not (target / MARK).exists():
        raise ValueError(f"{target} holds something else; name a new folder, or an empty one")
    if broken := broken_links(site):
        raise ValueError("links of the site lead nowhere:\n" + "\n".join(broken))
    fresh, old = (target.with_name(f".{target.name}.{name}") for name in ("new", "old"))
    for folder in (fresh, old):
        shutil.rmtree(folder, ignore_errors=True)
    try:
        complete(site, fresh, assignments)
        if target.exists():
            target.rename(old)
        fresh.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def complete(site, folder, assignments=None):
    """A copy of the site with what a host needs beside the pages."""
    shutil.copytree(site, folder)
    if assignments is not None and assignments.is_dir():
        shutil.copytree(assignments, folder / "assignments")
    (folder / ".nojekyll").touch()  # GitHub Pages would leave out folders that begin with _
    (folder / MARK).write_text("What is in this folder is replaced by make publish.\n")


def main(arguments):
    """Publish the built site into the folder given on the command line."""
    if len(arguments) != 1 or not arguments[0].strip():
        sys.exit(USAGE)
    if not (HTML / "index.html").is_file():
        sys.exit("The site is not built: make book")
    try:
        publish(HTML, arguments[0], ASSIGNMENTS)
    except (ValueError, OSError) as error:
        sys.exit(f"nothing published: {error}")
    print(f"published: {Path(arguments[0]).resolve()}")


if __name__ == "__main__":
    main(sys.argv[1:])
