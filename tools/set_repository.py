"""Write the repository's address everywhere: make set-repository URL=https://github.com/OWNER/NAME

The address stands in ``_config.yml``; the set-up cells, the README and pages carry copies of it,
in full or inside the links to Colab and to the published site. All new texts are ready before the
first file changes.
"""

import re
import subprocess
import sys

from notebooks import ROOT, write_atomically
from setup_cell import repository

HOST = "https://github.com/"
USAGE = "Usage: make set-repository URL=https://github.com/OWNER/NAME"

_URL = re.compile(r"https://github\.com/([A-Za-z0-9][A-Za-z0-9-]{0,38})/([\w.-]{1,100})")


def valid(url):
    """``url`` without a final slash or ``.git``.

    >>> valid("https://github.com/ada/attention.git/")
    'https://github.com/ada/attention'

    Raises
    ------
    ValueError
        If it is not the address of a repository on GitHub.
    """
    cleaned = url.strip().rstrip("/").removesuffix(".git")
    match = _URL.fullmatch(cleaned)
    if not match or match[2].strip(".") == "" or not match[0].isascii():
        raise ValueError(
            f"not the address of a repository on GitHub: {url!r}\n"
            "Colab opens notebooks from there, so the address must be "
            "https://github.com/OWNER/NAME, without branch or file."
        )
    return cleaned


def tracked_files(root=ROOT):
    """The files git knows or would know of under ``root``; what is ignored is none of them."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    files = [root / name for name in listed.decode().split("\0") if name]
    return [file for file in files if file.is_file() and not file.is_symlink()]


def replaced(text, old, new):
    """``text`` with the repository ``old`` replaced by ``new`` (both ``OWNER/NAME``) in addresses.

    >>> replaced("https://github.com/a/b, a/b, colab/github/a/b/blob, a.github.io/b", "a/b", "x/y")
    'https://github.com/x/y, a/b, colab/github/x/y/blob, x.github.io/y'
    >>> replaced("https://github.com/a/b-c https://github.com/a/b.git", "a/b", "x/y")
    'https://github.com/a/b-c https://github.com/x/y.git'
    """
    for form in ("/{}/{}", "{}.github.io/{}"):
        before, after = form.format(*old.split("/")), form.format(*new.split("/"))
        whole = rf"{re.escape(before)}(?![\w-]|\.(?!git\b)\w)"
        text = re.sub(whole, lambda _, to=after: to, text)
    return text


def set_repository(url, root=ROOT):
    """Write ``url`` into every file under ``root`` that carries the old address; those files.

    Raises
    ------
    ValueError
        If ``url`` is no address of a repository on GitHub. No file has changed then.
    """
    new = valid(url).removeprefix(HOST)
    old = repository(root)[0].removeprefix(HOST)
    changes = {}
    for file in tracked_files(root):
        try:
            text = file.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue  # a picture or the like
        if (after := replaced(text, old, new)) != text:
            changes[file] = after
    for file, text in changes.items():
        write_atomically(file, text)
    return list(changes)


def main(arguments):
    """Set the address given on the command line and list the files that changed."""
    if len(arguments) != 1 or not arguments[0].strip():
        sys.exit(USAGE)
    try:
        changed = set_repository(arguments[0])
    except ValueError as error:
        sys.exit(f"{error}\n{USAGE}")
    for file in changed:
        print(f"written: {file.relative_to(ROOT)}")
    print(f"The repository is now {repository()[0]}.", "" if changed else "It was that before.")


if __name__ == "__main__":
    main(sys.argv[1:])
