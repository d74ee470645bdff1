"""Put the published site onto the branch that GitHub Pages serves: push_pages.py FOLDER [PLACE]

The site itself replaces all on the branch but the previews; with a place such as ``preview/pr-5``
only that folder is replaced, or removed where FOLDER is ``-``. The branch is made if need be.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BRANCH = "gh-pages"
PREVIEWS = "preview"
AUTHOR = ("-c", "user.name=site", "-c", "user.email=site@users.noreply.github.com")


def git(folder, *arguments, check=True):
    """Run git in a folder; the finished process."""
    return subprocess.run(
        ["git", "-C", str(folder), *arguments], check=check, capture_output=True, text=True
    )


def check_out(repository, folder):
    """A working tree of the branch as the remote has it; of a new one without a past if need be."""
    known = git(repository, "ls-remote", "--exit-code", "origin", BRANCH, check=False)
    if known.returncode == 0:
        git(repository, "fetch", "--depth=1", "origin", f"+{BRANCH}:refs/pages")
        git(repository, "worktree", "add", "--detach", folder, "refs/pages")
    else:
        git(repository, "worktree", "add", "--detach", folder)
        git(folder, "checkout", "--orphan", f"new-{BRANCH}")


def replace(folder, site, place=""):
    """Put ``site`` (None: nothing) in place of what is under ``place`` in ``folder``."""
    if place:
        shutil.rmtree(folder / place, ignore_errors=True)
        if site is not None:
            shutil.copytree(site, folder / place)
        return
    for entry in folder.iterdir():
        if entry.name in (".git", PREVIEWS):
            continue
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(site, folder, dirs_exist_ok=True)


def push(repository, site, place=""):
    """Commit and push; whether there was anything to push."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "pages"
        check_out(repository, folder)
        try:
            replace(folder, site, place)
            git(folder, "add", "--all", "--force")
            if git(folder, "diff", "--cached", "--quiet", check=False).returncode == 0:
                return False
            git(folder, *AUTHOR, "commit", "--message", f"Publish {place or 'the site'}")
            git(folder, "push", "origin", f"HEAD:refs/heads/{BRANCH}")
        finally:
            git(repository, "worktree", "remove", "--force", folder)
    return True


def main(arguments):
    """Push the folder given on the command line."""
    site, place = arguments[0], arguments[1] if len(arguments) > 1 else ""
    if place and not (place.startswith(f"{PREVIEWS}/") and ".." not in place):
        sys.exit(f"a place of the site begins with {PREVIEWS}/, not {place!r}")
    if not place and site == "-":
        sys.exit("the site itself is never removed")
    pushed = push(Path.cwd(), None if site == "-" else Path(site), place)
    print("pushed" if pushed else "nothing new")


if __name__ == "__main__":
    main(sys.argv[1:])
