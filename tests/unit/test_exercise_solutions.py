"""The book's own answers: what a reader sees who asks for one."""

import pytest

from minitransformer.exercises import names, solution

FENCED = """\
```python
def my_attention(query, key, value):
    return my_attention_weights(query, key) @ value
```"""


def test_an_answer_is_code_as_text_and_as_markdown():
    shown = solution("attention")
    assert shown._repr_markdown_() == FENCED
    assert repr(shown) == shown.code == "\n".join(FENCED.splitlines()[1:-1])


def test_only_names_of_the_chapter_s_own_exercises_are_the_reader_s():
    assert "softmax(np.where" in solution("causal_weights").code  # chapter 3's, given in chapter 7
    assert "my_softmax" not in solution("causal_weights").code
    assert "my_softmax(scores)" in solution("attention_weights").code


def test_no_answer_breaks_out_of_its_fence():
    for name in names():
        if "." not in name:
            assert "```" not in solution(name).code


@pytest.mark.parametrize("name", [name for name in names() if "." in name])
def test_graded_answers_are_not_shown(name):
    with pytest.raises(ValueError, match=f"'{name}' is graded"):
        solution(name)
