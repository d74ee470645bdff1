"""The checks say what an attempt returned, printed or changed."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from minitransformer import exercises
from minitransformer.exercises import CheckResult, _check, check, names, solution
from minitransformer.exercises._diagnosis import shown, where_different


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


# --- not attempted -------------------------------------------------------------------------------


def stub_raises(scores):
    raise NotImplementedError


def stub_explains(scores):
    raise NotImplementedError("your turn")


def stub_dots(scores): ...


# fmt: off
def stub_on_one_line(scores): raise NotImplementedError
# fmt: on


def stub_returns_dots(scores):
    return ...


def stub_returns_none(scores):
    return None


@pytest.mark.parametrize(
    "stub",
    [
        stub_raises,
        stub_explains,
        stub_on_one_line,
        stub_dots,
        stub_returns_dots,
        stub_returns_none,
    ],
)
def test_a_stub_is_open_not_wrong(stub):
    result = check("softmax", stub)
    assert result.status == "open"
    assert not result
    assert "softmax(scores) is to return the weights" in result.message
    assert result.details == ()


def test_an_unsupported_operation_is_no_stub():
    def attempt(scores):
        return torch.softmax(torch.tensor(scores).long(), dim=-1)

    result = check("softmax", attempt)
    assert result.status == "wrong"
    assert "not implemented for 'Long'" in repr(result)


def test_none_for_one_input_only_is_a_missing_return():
    def attempt(scores):
        if abs(scores).max() < 100:
            return softmax(scores)

    result = check("softmax", attempt)
    assert result.status == "wrong"
    assert "a return is missing" in result.message


# --- what comes back -----------------------------------------------------------------------------


def generator(scores):
    yield from softmax(scores)


async def coroutine(scores):
    return softmax(scores)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("attempt", "told"),
    [
        (generator, "returned a generator"),
        (lambda scores: (n for n in iter(int, 1)), "returned a generator"),
        (coroutine, "returned a coroutine"),
        (lambda scores: iter(scores), "returned a iterator"),
        (lambda scores: softmax, "a function that NumPy reads as dtype object"),
        (lambda scores: "weights", "a str that NumPy reads as dtype <U7"),
        (lambda scores: {"weights": scores}, "a dict that NumPy reads as dtype object"),
        (lambda scores: softmax(scores).astype(object), "dtype object"),
        (lambda scores: softmax(scores) + 0j, "dtype complex128"),
        (lambda scores: [[1.0], [1.0, 2.0]], "NumPy cannot make an array"),
        (lambda scores: (softmax(scores), scores), "Number 1 of yours is right"),
        (lambda scores: (scores, scores), "a tuple of 2; one array is expected."),
        (lambda scores: torch.zeros(2, 3, dtype=torch.bfloat16), "NumPy cannot make an array"),
        (lambda scores: 1.0, "The shape is wrong: () came, (2, 3) is expected"),
        (lambda scores: [], "The shape is wrong: (0,) came"),
        (lambda scores: softmax(scores)[0], "The shape is wrong: (3,) came"),
        (lambda scores: softmax(scores)[None], "your shape is (1, 2, 3), not (2, 3)"),
        (lambda scores: softmax(scores).ravel(), "your shape is (6,), not (2, 3)"),
        (lambda scores: softmax(scores).T, "rows and columns are exchanged"),
        (lambda scores: scores > 9, "only True and False"),
        (lambda scores: np.full(scores.shape, np.nan), "NaN in 6 of 6 places"),
        (lambda scores: np.full(scores.shape, np.inf), "infinity in 6 of 6 places"),
        (lambda scores: 2.5 * softmax(scores), "All your numbers are 2.5 times"),
        (lambda scores: -softmax(scores), "All your numbers are -1 times"),
        (lambda scores: softmax(scores) - 0.3, "Weights are never negative"),
        (lambda scores: softmax(scores) ** 2, "those of the first row sum to 0.4662"),
        (lambda scores: softmax(scores)[..., ::-1], "of 6 numbers are wrong"),
        (lambda scores: softmax(scores).round(2), "Almost right, but digits were lost"),
        (lambda scores: softmax(scores).astype("f2"), "calculates in float16"),
        (lambda scores: softmax(scores) + 2e-6, "Almost right"),
    ],
)
def test_other_results_are_called_what_they_are(attempt, told):
    result = check("softmax", attempt)
    assert result.status == "wrong"
    assert told in result.message


@pytest.mark.parametrize(("wrong", "told"), [(1, "1 of 30 numbers is"), (2, "2 of 30 numbers are")])
def test_wrong_numbers_are_counted(wrong, told):
    def attempt(z):
        merged = np.swapaxes(z, -2, -3).reshape(*z.shape[:-3], z.shape[-2], -1)
        merged.flat[:wrong] += [3, 1][:wrong]
        return merged

    assert f"{told} wrong." in check("merge_heads", attempt).message


@pytest.mark.parametrize(
    "attempt",
    [
        lambda scores: softmax(scores).tolist(),
        lambda scores: list(softmax(scores)),
        lambda scores: np.ma.array(softmax(scores)),
        lambda scores: np.asfortranarray(softmax(scores)),
        lambda scores: softmax(scores.astype(np.longdouble)),
        lambda scores: torch.from_numpy(softmax(scores)).requires_grad_(),
        lambda scores: softmax(scores) + 5e-7,
        SimpleNamespace(__call__=softmax).__call__,
    ],
)
def test_right_numbers_pass_in_any_dress(attempt):
    assert check("softmax", attempt), repr(check("softmax", attempt))


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (1,), (1, 1)])
def test_a_shape_that_would_broadcast_does_not_pass(shape):
    """On zeros every row is alike, so that only the shape tells the two apart."""
    result = check("softmax", lambda scores: np.resize(softmax(scores), shape))
    assert result.message == f"The shape is wrong: {shape} came, (2, 3) is expected."


# --- inputs and print ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", names())
def test_a_whole_number_comes_as_one(name):
    """An array without axes looks like a number where it is shown, and much of torch refuses it."""
    exercise = _check.find(name)
    for case in (*exercise.cases, *(case for case, _ in exercise.refused)):
        for one in case.arguments():
            assert not (isinstance(one, np.ndarray) and one.ndim == 0 and one.dtype.kind in "iu")


def test_some_inputs_are_whole_numbers():
    *_, n_heads = _check.find("split_heads").cases[0].arguments()
    assert type(n_heads) is int


def test_a_changed_input_is_named():
    def attempt(query, key):
        key *= 2
        return query

    result = check("attention_weights", attempt)
    assert "Your function also changes its input key." in result.message

    def right(query, key):
        weights = softmax(query @ np.swapaxes(key, -1, -2) / key.shape[-1] ** 0.5)
        query[:] = key[:] = 0
        return weights

    assert "changes its input query and key" in check("attention_weights", right).message


def test_a_reshaped_input_is_a_changed_one():
    def attempt(scores):
        weights = softmax(scores)
        scores.shape = (-1,)
        return weights

    assert "changes its input scores" in check("softmax", attempt).message


def test_changing_the_inputs_does_not_spoil_the_next_check():
    def attempt(scores):
        scores[:] = 7
        return scores

    first = check("softmax", attempt)
    assert repr(check("softmax", attempt)) == repr(first)
    assert check("softmax", softmax)


def test_the_result_may_be_a_buffer_that_is_used_again():
    buffers = {}

    def attempt(scores):
        buffer = buffers.setdefault(scores.shape, np.empty(scores.shape))
        buffer[:] = softmax(scores)
        return buffer

    assert check("softmax", attempt)


def test_what_is_printed_is_kept_short_and_shown(capfd):
    def attempt(scores):
        print("sum:", scores.sum())
        for _ in range(10_000):
            print("x" * 1000)
            print("y" * 1000, file=sys.stderr)
        return scores

    result = check("softmax", attempt)
    printed = dict(result.details)["Your function printed"]
    assert printed.startswith("sum: 1.6\nxxx")
    assert printed.endswith("... (and more)")
    assert len(printed) < 1100
    assert capfd.readouterr() == ("", "")
    print("after")
    assert capfd.readouterr().out == "after\n"


def test_only_infinity_is_close_to_infinity():
    """A misconception that overflows would otherwise explain every answer."""
    came = np.array([1.0, np.inf, -np.inf, np.nan])
    assert where_different(came, np.full(4, np.inf)).tolist() == [True, False, True, True]
    assert where_different(2.5, np.inf)


def test_a_function_among_the_inputs_is_shown_as_its_name():
    assert shown(softmax) == "softmax"


# --- the call and the answer ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("sofmax", "'softmax'"),
        ("attention_weight", "'attention_weights'"),
        ("xyz", None),
        (3, None),
    ],
)
def test_an_unknown_name_lists_the_near_ones(name, near):
    for function in (lambda: check(name, softmax), lambda: solution(name)):
        with pytest.raises(ValueError, match=f"there is no exercise {name!r}") as raised:
            function()
        assert (f"did you mean {near}" in str(raised.value)) is (near is not None)
        assert f"All of them: {', '.join(names())}" in str(raised.value)


@pytest.mark.parametrize("attempt", [None, np.eye(2), "softmax", ...])
def test_a_result_in_place_of_the_function_is_named(attempt):
    result = check("softmax", attempt)
    assert result.status == "wrong"
    assert "without brackets: check('softmax', softmax)" in result.message


def test_the_answer_shows_input_result_and_expectation():
    result = check("softmax", lambda scores: scores)
    assert repr(result) == (
        "✗ softmax: not right yet. These are the scores as they are: softmax is missing.\n\n"
        "Tried on two rows of three scores\n"
        "scores =\n[[ 0.2000 -0.5000  1.1000]\n [ 0.9000  0.3000 -0.4000]]\n\n"
        "Yours, shape (2, 3)\n[[ 0.2000 -0.5000  1.1000]\n [ 0.9000  0.3000 -0.4000]]\n\n"
        "Expected, shape (2, 3)\n[[0.2528 0.1255 0.6217]\n [0.5490 0.3013 0.1496]]\n\n"
        "First difference\n0.2 came at [0, 0], 0.2527685 was expected"
    )


def test_of_a_mask_the_first_difference_is_true_or_false():
    def rows_and_columns_exchanged(n_asking, n_answering):
        mask = np.zeros((n_asking + n_answering,) * 2, dtype=bool)
        mask[n_asking:] = True
        return mask

    told = dict(check("two_in_one_mask", rows_and_columns_exchanged).details)["First difference"]
    assert told == "False came at [0, 2], True was expected"


def test_print_options_of_the_reader_change_no_answer():
    plain = repr(check("softmax", np.exp))
    with np.printoptions(precision=1, threshold=2, formatter={"float": lambda x: "?"}):
        assert repr(check("softmax", np.exp)) == plain


@pytest.mark.filterwarnings("error")
def test_error_settings_of_the_reader_change_no_answer():
    with np.errstate(all="raise"):
        assert (
            "exp overflows"
            in check("softmax", lambda s: np.exp(s) / np.exp(s).sum(-1)[..., None]).message
        )


def test_the_answer_as_a_page_is_escaped_and_needs_no_colour():
    def attempt(scores):
        print("<script>alert(1)</script>")
        raise ValueError('<b onclick="x">')

    for result, words in [
        (check("softmax", attempt), "Not right yet:"),
        (check("softmax", softmax), "Right:"),
        (check("softmax", stub_raises), "Still open:"),
    ]:
        page = result._repr_html_()
        assert f"<strong>{words}</strong>" in page
        assert set(re.findall(r"<(\w+)", page)) <= {"div", "p", "span", "strong", "code", "pre"}
        assert not re.search(r"#[0-9a-f]{3}|rgb|onclick=\"", page)
    named = check("softmax", lambda scores: type("<b>", (), {})())
    assert "returned a <b> that" in named.message
    assert "returned a &lt;b&gt; that" in named._repr_html_()
    page = check("softmax", attempt)._repr_html_()
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;b onclick=&quot;x&quot;&gt;" in page


def test_the_answer_is_the_same_each_time():
    assert repr(check("softmax", generator)) == repr(check("softmax", generator))
    assert isinstance(check("softmax", softmax), CheckResult)


def stub_of_any(*arguments): ...


def modules(kind):
    files = sorted(Path(exercises.__file__).parent.glob(f"{kind}_*.py"))
    assert len(files) >= 2
    return [import_module(f"minitransformer.exercises.{path.stem}") for path in files]


def test_names_are_unique_and_in_the_order_of_the_chapters():
    chapters = [exercise.name for module in modules("chapter") for exercise in module.EXERCISES]
    assignments = [
        f"a{module.__name__.rpartition('_')[2]}.{exercise.name}"
        for module in modules("assignment")
        for exercise in module.EXERCISES
    ]
    assert names() == chapters + assignments
    assert len(set(names())) == len(names())


@pytest.mark.parametrize("name", ["softmax", "a1.softmax_along"])
def test_a_module_that_cannot_be_imported_breaks_no_other(name, monkeypatch):
    working = _check._modules()
    modules = "chapter_00", "assignment_0", *working
    monkeypatch.setattr(_check, "_modules", lambda: modules)
    assert check(name, stub_of_any).status == "open"
    with pytest.raises(ValueError, match="chapter_00 cannot be imported") as raised:
        check("a0.lost", stub_of_any)
    assert "assignment_0 cannot be imported (ModuleNotFoundError" in str(raised.value)
    assert "softmax, " in str(raised.value)


def test_a_question_of_an_assignment_is_called_by_both_names():
    result = check("a1.softmax_along", stub_of_any)
    assert result.name == "a1.softmax_along"
    assert "softmax_along(scores, axis, temperature) is to return" in result.message
    wrong = check("a1.softmax_along", lambda scores, axis, temperature: scores)
    assert repr(wrong).startswith("✗ a1.softmax_along: not right yet.")
    assert "check('a1.softmax_along', softmax_along)" in check("a1.softmax_along", 1).message
    with pytest.raises(ValueError, match="is graded"):
        solution("a1.softmax_along")


def test_only_numpy_is_needed():
    code = (
        "import sys, minitransformer.exercises as e\n"
        "e.check('softmax', lambda s: s)\n"
        "print(*sorted({'torch', 'matplotlib', 'ipywidgets', 'IPython'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
    assert done.stderr == ""
