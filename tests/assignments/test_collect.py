"""Whose notebook is which, in the layouts that teachers get them in."""

import unicodedata

import pytest
from course.collect import collect, safe_name
from course.sources import CourseError

NAME = "a0_means"


@pytest.fixture
def folder(tmp_path):
    """Make files by their paths, and collect them: ({student: files}, {left aside: reason})."""

    def make(*paths):
        for path in paths:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text("{}")
        found, aside = collect(tmp_path, NAME)
        files = {
            one.student: [file.relative_to(tmp_path).as_posix() for file in one.files]
            for one in found
        }
        return files, {path.relative_to(tmp_path).as_posix(): reason for path, reason in aside}

    make.path = tmp_path
    return make


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("ada/a0_means.ipynb", "ada"),
        ("ada/a0/a0_means.ipynb", "ada"),
        ("ada/final (2).IPYNB", "ada"),
        ("ada_a0_means.ipynb", "ada"),
        ("ada_l_a0_means (1).ipynb", "ada_l"),
        ("ada_l_a0_late.ipynb", "ada_l"),
        ("ada_final version.ipynb", "ada_final-version"),
        ("Ada_Lovelace.ipynb", "Ada_Lovelace"),
        ("group-2.ipynb", "group-2"),
        ("ada-a0_means.ipynb", "ada"),
        ("Ada L a0_means.ipynb", "Ada-L"),
        ("ada_A0_Means.ipynb", "ada"),
        ("a0_means_ada-Copy1.ipynb", "ada"),
        ("ada_a1_other.ipynb", "ada"),
        ("ada.ipynb", "ada"),
        ("張偉_a0_means.ipynb", "張偉"),
        ("Zoë Müller/x.ipynb", "Zoë-Müller"),
        ("Ada B_12_assignsubmission_file/x.ipynb", "Ada-B_12"),
        ("Ada B_12_assignsubmission_file_/x.ipynb", "Ada-B_12"),
        ("Ada B_12_assignsubmission_file_a0_means.ipynb", "Ada-B_12"),
        ("bada_12_345_a0_means.ipynb", "bada_12"),
        ("bada_LATE_12_345_a0_means-1.ipynb", "bada_12"),
    ],
)
def test_a_name_tells_the_student(folder, path, student):
    assert folder(path) == ({student: [path]}, {})


def test_numbers_of_the_platforms_are_kept(folder):
    folder("Ada B_12_assignsubmission_file/x.ipynb", "bada_LATE_34_345_a0_means.ipynb", "c.ipynb")
    found, _ = collect(folder.path, NAME)
    assert [(one.shown, one.moodle, one.canvas) for one in found] == [
        ("Ada B", "12", ""),
        ("bada", "", "34"),
        ("c", "", ""),
    ]


def test_all_files_of_a_student_are_hers_in_the_order_of_their_numbers(folder):
    paths = [f"ada/try {n}.ipynb" for n in (1, 2, 10)]
    files, _ = folder(*paths[::-1])
    assert files == {"ada": paths}


def test_what_is_no_submission_is_told(folder):
    (folder.path / "empty").mkdir()
    (folder.path / "ada").mkdir()
    (folder.path / "eve.ipynb").symlink_to("/etc/passwd")
    (folder.path / "ada" / "x.ipynb").symlink_to("/etc/passwd")
    files, aside = folder(
        "ada/a.ipynb",
        "ada/helper.py",
        "ada/.ipynb_checkpoints/a-checkpoint.ipynb",
        "a0_means.ipynb",
        "a0_means (2).ipynb",
        "a0_means-Copy1.ipynb",
        "_a0_means.ipynb",
        "._ada_a0_means.ipynb",
        "grades.csv",
        "all.zip",
    )
    assert files == {"ada": ["ada/a.ipynb"]}
    assert aside == {
        "ada/helper.py": "not used: one notebook is handed in",
        "ada/x.ipynb": "a link is not followed",
        "eve.ipynb": "a link is not followed",
        "empty": "no notebook in it",
        "a0_means.ipynb": "its name tells no student",
        "a0_means (2).ipynb": "its name tells no student",
        "a0_means-Copy1.ipynb": "its name tells no student",
        "_a0_means.ipynb": "its name tells no student",
        "._ada_a0_means.ipynb": "no hand-in: a program has put it there",
        "grades.csv": "no notebook",
        "all.zip": "an archive: unpack it first",
    }


def test_two_students_never_share_a_path(folder):
    files, aside = folder("Ada L/x.ipynb", "ada-l/x.ipynb", "Ada:L/x.ipynb", "ada?l/x.ipynb")
    assert len(files) == len({name.casefold() for name in files}) == 3
    assert list(aside.values()) == ["its student 'ada-l' is not told from 'Ada L': rename one"]


def test_two_of_the_same_first_name_are_two_students(folder):
    files, _ = folder("Lisa_Mueller.ipynb", "Lisa_Schmidt.ipynb", "Lisa_Mueller (1).ipynb")
    assert len(files) == 3


@pytest.mark.parametrize("mark", ["(1)", " (1)", "-Copy1", "-1", "_v2"])
def test_a_numbered_copy_comes_after_what_it_is_a_copy_of(folder, mark):
    paths = ["ada/a0_means.ipynb", f"ada/a0_means{mark}.ipynb"]
    assert folder(*paths[::-1])[0] == {"ada": paths}


def test_a_name_is_the_same_however_its_accents_are_stored(folder):
    names = [unicodedata.normalize(form, "Jürgen_a0_means") for form in ("NFC", "NFD")]
    files, aside = folder(*(f"{name}{n}.ipynb" for n, name in enumerate(names)), "Jürgen/x.ipynb")
    assert (list(files), aside) == (["Jürgen"], {})
    assert len(files["Jürgen"]) == 3


HOSTILE = ["..", "../ada", "/etc/passwd", "..\\..\\ada", "", " ", ".", "~", "-rf", "@x", "=1+1"]
ODD = ["a\0b", "a" * 400, "😀" * 300, "a\nb", "CON:", "\udce4"]


@pytest.mark.parametrize("name", [*HOSTILE, *ODD])
def test_a_hostile_name_is_safe_in_paths(name):
    safe = safe_name(name)
    assert safe
    assert not set(safe) & set('/\\\0:*?"<>| \n')
    assert safe[0] not in ".-@=+~"
    assert len(safe.encode()) <= 250


def test_without_submissions_it_says_so(folder, tmp_path):
    with pytest.raises(CourseError, match="there is no submission in"):
        folder("readme.txt")
    with pytest.raises(CourseError, match="is no folder"):
        collect(tmp_path / "none", NAME)
