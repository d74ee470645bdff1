"""Known-wrong answers to the six assignments lose points, and right ones do not."""

import pytest
from course import mutation
from course.sources import find


@pytest.mark.parametrize("assignment", find(), ids=lambda one: one.key)
def test_tests_tell_wrong_answers_from_right_ones(assignment, record_property):
    found, chained = mutation.judged(assignment)
    record_property("table", mutation.report(assignment, found, chained))
    assert mutation.complaints(found, chained) == []
