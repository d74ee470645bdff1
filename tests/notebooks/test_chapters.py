"""The stored chapters pass every check that needs no running. (nbval runs them.)"""

import pytest
from check_notebooks import check
from notebooks import chapter_files


@pytest.mark.parametrize("chapter", chapter_files(), ids=lambda path: path.stem)
def test_a_stored_chapter_has_no_finding(chapter):
    findings = check(chapter)
    assert not findings, "\n".join(map(str, findings))


def test_the_book_has_chapters():
    assert chapter_files()
