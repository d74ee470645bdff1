"""The site gets to where it is served whole or not at all, and takes nothing else with it."""

import subprocess
from pathlib import Path

import publish as tool
import push_pages
import pytest


def make_site(folder, text="one"):
    folder.mkdir(parents=True)
    (folder / "index.html").write_text(f"<a href='book/a.html'>{text}</a>")
    (folder / "book").mkdir()
    (folder / "book" / "a.html").write_text("<a href='../index.html'>back</a>")
    return folder


def content(folder):
    """All files under a folder with their texts."""
    files = sorted(
        file for file in folder.rglob("*") if file.is_file() and ".git" not in file.parts
    )
    return {str(file.relative_to(folder)): file.read_text() for file in files}


@pytest.fixture
def site(tmp_path):
    return make_site(tmp_path / "built")


def test_a_site_replaces_what_was_published_before(site, tmp_path):
    target, assignments = tmp_path / "srv" / "book", tmp_path / "assignments"
    target.mkdir(parents=True)
    assignments.mkdir()
    (assignments / "a1.ipynb").write_text("{}")
    tool.publish(site, target)
    assert set(content(target)) == {*content(site), ".nojekyll", tool.MARK}
    (site / "book" / "b.html").write_text("new")
    (site / "book" / "a.html").unlink()
    (site / "index.html").write_text("<a href='book/b.html'>two</a>")
    tool.publish(site, target, assignments)
    assert set(content(target)) == {*content(site), ".nojekyll", tool.MARK, "assignments/a1.ipynb"}
    assert [path.name for path in target.parent.iterdir()] == ["book"]


def foreign(site, target):
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")


def a_file(site, target):
    target.write_text("a file")


def broken_link(site, target):
    (site / "index.html").write_text("<a href='book/gone.html'>x</a>")


def published_before_and_broken(site, target):
    tool.publish(site, target)
    broken_link(site, target)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (foreign, "holds something else"),
        (a_file, "is a file"),
        (broken_link, "no file book/gone.html"),
        (published_before_and_broken, "no file book/gone.html"),
    ],
)
def test_what_must_not_be_published_or_replaced_is_left_alone(site, tmp_path, fault, words):
    target = tmp_path / "target"
    fault(site, target)
    before = content(tmp_path)
    with pytest.raises(ValueError, match=words):
        tool.publish(site, target)
    assert content(tmp_path) == before


@pytest.mark.parametrize("inside", [".", "..", "book"])
def test_a_site_is_not_published_into_itself(site, inside):
    with pytest.raises(ValueError, match="within one another"):
        tool.publish(site, site / inside)


@pytest.mark.parametrize("step", ["copytree", "rename"])
def test_a_copy_that_fails_leaves_the_old_site(site, tmp_path, monkeypatch, step):
    target = tmp_path / "target"
    tool.publish(site, target)
    before = content(tmp_path)
    (site / "index.html").write_text("two")
    rename = Path.rename

    def full(*_):
        raise OSError("the disk is full")

    def only_away(path, new):
        return full() if path.name.endswith(".new") else rename(path, new)

    if step == "copytree":
        monkeypatch.setattr(tool.shutil, "copytree", full)
    else:
        monkeypatch.setattr(Path, "rename", only_away)
    with pytest.raises(OSError, match="full"):
        tool.publish(site, target)
    assert content(tmp_path) == {**before, "built/index.html": "two"}


@pytest.mark.parametrize("arguments", [[], [""], ["a", "b"]])
def test_a_call_without_a_folder_says_how(arguments):
    with pytest.raises(SystemExit, match="make publish DIR="):
        tool.main(arguments)


@pytest.fixture
def repository(tmp_path):
    """A repository with a remote, and a function that shows a branch of the remote."""
    remote, here = tmp_path / "remote.git", tmp_path / "here"
    subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", here], check=True)
    (here / "source.txt").write_text("not for readers")
    push_pages.git(here, "add", "--all")
    push_pages.git(here, *push_pages.AUTHOR, "commit", "--message", "One")
    push_pages.git(here, "remote", "add", "origin", remote)
    push_pages.git(here, "push", "origin", "main")

    def shown():
        listed = push_pages.git(remote, "ls-tree", "-r", "--name-only", push_pages.BRANCH)
        return set(listed.stdout.split())

    return here, shown


SITE = {"index.html", "book/a.html"}
PREVIEW = {f"preview/pr-5/{name}" for name in SITE}


def test_site_and_previews_do_not_touch_one_another(site, repository, tmp_path):
    here, shown = repository
    assert push_pages.push(here, site)
    assert shown() == SITE
    assert push_pages.push(here, site, "preview/pr-5")
    assert shown() == SITE | PREVIEW
    assert push_pages.push(here, make_site(tmp_path / "two", "two"))
    assert shown() == SITE | PREVIEW
    assert not push_pages.push(here, tmp_path / "two")  # nothing new
    (site / "index.html").unlink()
    assert push_pages.push(here, site)
    assert shown() == (SITE | PREVIEW) - {"index.html"}
    assert push_pages.push(here, None, "preview/pr-5")
    assert shown() == SITE - {"index.html"}
    assert push_pages.git(here, "status", "--porcelain").stdout == ""
    assert (here / "source.txt").exists()


@pytest.mark.parametrize("arguments", [["x", "book"], ["x", "preview/../book"], ["-"]])
def test_no_other_place_is_written_and_the_site_never_removed(arguments):
    with pytest.raises(SystemExit):
        push_pages.main(arguments)
