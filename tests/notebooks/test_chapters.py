"""The stored chapters pass every check that needs no running. (nbval runs them.)"""

import pytest
from check_content import markdown_cells, prose_numbers
from check_notebooks import check
from notebooks import chapter_files, read


@pytest.mark.parametrize("chapter", chapter_files(), ids=lambda path: path.stem)
def test_a_stored_chapter_has_no_finding(chapter, checked):
    prose = (cell.source for _, cell in markdown_cells(read(chapter)))
    checked(chapter, "prose numbers", sum(len(prose_numbers(text)) for text in prose))
    findings = check(chapter)
    assert not findings, "\n".join(map(str, findings))


def test_the_book_has_chapters():
    assert chapter_files()
