"""What counts as a decimal number in prose, as printed, as a source, and as portable Markdown."""

import nbformat.v4 as v4
import pytest
from check_content import has_source, is_printed, numbers_have_sources, printed_numbers
from check_content import prose_numbers as numbers
from check_notebooks import _shows, check_page
from prose import blocks, uneven_rows, unportable, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the weight 0.333 and -1.5", ["0.333", "-1.5"]),
        ("it falls to −0.25.", ["-0.25"]),
        ("between 0.2–0.4 or 0.2-0.4", ["0.2", "0.4", "0.2", "0.4"]),
        ("about 1.5e-07 s", ["1.5e-07"]),
        ("12.5% or (0.5)", ["12.5", "0.5"]),
        ("torch 2.13.0 in Section 3.2, Table 4.1 and Python 3.10", []),
        ("5 tokens, 2x, v1.2, a.5", []),
    ],
)
def test_decimals_in_prose_are_found(text, expected):
    assert numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "printed", "expected"),
    [
        ("0.844", "0.8438", True),
        ("0.84", "0.8438", True),
        ("0.85", "0.8438", False),
        ("0.8438", "0.844", False),  # more digits than were printed
        ("0.12", "0.125", True),  # a half may go to the even digit, as Python's round does
        ("0.13", "0.125", True),  # or up
        ("0.30", "0.3", False),
        ("0.3", "-0.3", True),  # "falls by 0.3"
        ("-0.3", "0.3", False),
        ("0.1", ".125", True),
        ("2.0", "2", False),
        ("1.5e-07", "1.5e-07", True),
    ],
)
def test_a_number_is_printed_or_rounds_from_a_printed_one(text, printed, expected):
    assert is_printed(text, {printed}) is expected


def test_only_what_a_cell_computed_counts_as_printed():
    """Alternative text is prose: it can claim a number, not prove it."""
    figure = v4.new_output(
        "display_data",
        data={"image/svg+xml": "<svg>0.25</svg>", "text/plain": "weight 0.5"},
        metadata={"image/svg+xml": {"alt": "weight 0.5"}},
    )
    table = v4.new_output("display_data", data={"text/html": "<td>0.75</td>"})
    stream = v4.new_output("stream", text="[0.1  -0.2]")
    notebook = v4.new_notebook(cells=[v4.new_code_cell("", outputs=[figure, table, stream])])
    assert printed_numbers(notebook) == {"0.75", "0.1", "-0.2"}


@pytest.mark.parametrize(("written", "count"), [("0.5", 1), ("{w:.1f}", 0)])
def test_a_number_written_into_alternative_text_needs_a_source(written, count):
    figure = v4.new_output(
        "display_data",
        data={"image/svg+xml": "<svg/>"},
        metadata={"image/svg+xml": {"alt": "The weight 0.5 is darkest."}},
    )
    cell = v4.new_code_cell(f'show(f"The weight {written} is darkest.")', outputs=[figure])
    notebook = v4.new_notebook(cells=[cell])
    assert len(list(numbers_have_sources(notebook, None))) == count


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("BLEU rose to 28.4 (Vaswani et al. 2017, Table 2).", True),
        ("Vaswani et al. (2017) reach 28.4.", True),
        ("[The paper](https://arxiv.org/abs/1706.03762) reaches 28.4.", True),
        ("In 2017 it was 28.4.", False),
        ("It was 28.4 [here](#results).", False),
    ],
)
def test_a_source_is_a_link_or_a_publication(source, expected):
    assert has_source(blocks(source)[0]) is expected


def test_a_source_serves_its_own_paragraph_and_the_table_after_it():
    sourced = "From the paper (Vaswani et al. 2017):"
    table = "| a |\n|---|\n| 28.4 |"

    def findings(source):
        notebook = v4.new_notebook(cells=[v4.new_markdown_cell(source)])
        return [message.split()[0] for _, message in numbers_have_sources(notebook, None)]

    assert findings(f"{sourced}\n\n{table}") == []
    assert findings(f"{sourced}\n\nThere it was 28.4.") == ["28.4"]
    assert findings(f"{sourced}\n\n{table}\n\nThere it was 41.8.") == ["41.8"]
    assert findings(f"- {sourced} 28.4\n- 41.8") == ["41.8"]


def test_fenced_code_is_no_prose():
    found = blocks("A word.\n\n```python\nx = 0.5  # five more words here\n```\n")
    assert [words(block) for block in found] == [2]


PORTABLE = """\
## A heading

A [link](https://example.org), `code`, $x_{1}$, **bold** and a line.<br>Next.

> [!TIP]
> A callout with `{curly}` code.

| a | b |
|---|---|
| $\\frac{1}{2}$ | {not a role} |

$$
\\operatorname{softmax}(QK^\\top)
$$

![Five tokens in a row](attachment:five.png)

<details>
<summary>Solution</summary>

```python
def f(x):
    return {"x": x}  # % and +++ and ::: are code here
```

</details>
"""


def test_portable_markdown_has_no_finding():
    assert unportable(PORTABLE, {"five.png": {}}) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("```{note}\nx\n```", "MyST fence"),
        ("~~~{code-cell} python\nx\n~~~", "MyST fence"),
        ("> text\n>\n> ```{math}\n> x\n> ```", "MyST fence"),
        (":::{tip}\nx\n:::", "MyST directive"),
        ("see {ref}`there`", "MyST role"),
        ("(label)=\n# Title", "MyST target"),
        ("% a comment", "MyST comment"),
        ("+++", "MyST block break"),
        ("{{ name }}", "MyST substitution"),
        ("$$\nx\n$$ (eq1)", "labelled formula"),
        ("text[^1]", "footnote"),
        ("[next](04_scaling.ipynb)", "relative link"),
        ("[next](/04_scaling.html)", "relative link"),
        ("[x]\n\n[x]: ../README.md", "relative link"),
        ("![Five tokens](five.png)", "picture"),
        ("![Five tokens](attachment:six.png)", "picture"),
        ('a <span style="color:red">b</span>', "HTML"),
        ("<script>alert(1)</script>", "HTML"),
        ('<details onclick="x()"><summary>a</summary></details>', "HTML"),
        ("<!-- hidden -->", "HTML"),
        ("> [!HINT]\n> x", "callout"),
    ],
)
def test_what_only_one_reader_shows_is_found(source, expected):
    assert any(expected in message for message in unportable(source, {"five.png": {}}))


@pytest.mark.parametrize(
    ("row", "count"),
    [
        ("| 1 | 2 |", 0),
        ("1 | 2", 0),
        ("| | 2 |", 0),
        ("|| 2 |", 0),
        ("| 1 | |", 0),
        (r"| `a \| b` | 2 |", 0),
        ("| 1 |", 1),
        ("| 1 | 2 | 3 |", 1),
        ("| 1 | | 2 |", 1),
        ("a line that was to follow the table", 1),
    ],
)
def test_a_row_with_another_number_of_cells_is_found(row, count, tmp_path):
    table = f"| a | b |\n|---|---|\n| 1 | 2 |\n{row}"
    page = tmp_path / "page.md"
    for source in table, "> " + table.replace("\n", "\n> "), f"Text.\n\n{table}\n\nText | more.":
        assert len(uneven_rows(source)) == count
        page.write_text(source)
        assert [finding.check for finding in check_page(page)] == ["tables_are_even"] * count


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("print(1)", True),
        ("x = 1\nx", True),
        ("for i in range(3):\n    print(i)", True),
        ("x[0] + 1", True),
        ("x = 1", False),
        ("x;", False),
        ("f(x)", False),  # may return None
        ("if colab:\n    print(1)", False),
        ("def f():\n    print(1)", False),
        ("...", False),
        ("%matplotlib inline\nx = 1", False),
        ("", False),
    ],
)
def test_a_cell_that_plainly_shows_something_is_known(source, expected):
    assert _shows(source) is expected
