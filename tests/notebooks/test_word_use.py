"""The check of word use: what it finds, and what it lets pass."""

import pytest
from check_notebooks import check_page, main
from notebooks import ROOT
from word_use import RULES, confusions, prose_confusions

WRONG = (
    "The attention scores of a row are 0.2 and 0.8.",
    "These attention-logits are large.",
    "Attention probabilities are not explanations.",
    "High attention values mark the noun.",
    "The attention matrix has ten rows.",
    "The softmax scores of the heads differ.",
    "Normalised scores are between 0 and 1.",
    "The scores are small after the softmax.",
    "After softmax, all is well; after the softmax each score is positive.",
    "The scores of each query sum to 1.",
    "The weights are masked before the softmax.",
    "Before the softmax a weight may be negative.",
    "Take the softmax of the weights.",
    "A weight is the dot product of query and key.",
    "Weights are divided by the root of the width.",
    "The attention output of a query adds up to one.",
    "The output of the softmax is mixed.",
    "The output weights are even.",
    "The result is a weighted sum of the keys.",
    "The head mixes the keys.",
    "Each weight matrix is square.",
    "The initial weights are small.",
    "It caches the scores of the prompt.",
    "Divide by the sharpness.",
    "Scores are multiplied by the temperature.",
    "Self-attention is invariant.",
)
RIGHT = (
    "A score comes before the softmax, a weight after it.",
    "Why before the softmax? One could also compute all weights first.",
    "Softmax turns scores into weights that are positive and sum to 1.",
    "The weights of a query sum to 1; its scores need not.",
    "The softmax of the scores gives the weights of each row.",
    "The attention output changes when the value does.",
    "The output is a weighted sum of the values.",
    "A cache keeps keys and values; queries are not needed again.",
    "The dot products are divided by the root of the width.",
    "Scores are divided by the temperature.",
    "Self-attention is equivariant; a mean over the tokens is invariant.",
    "Pretrained weights are loaded; weight decay is off.",
    "The mean of the keys of a group stands for all of them.",
    "The article calls them “attention scores”.",
    'Some say "softmax scores".',
    "| claim, in our words | verdict |\n|---|---|\n| the attention matrix explains | no |",
    "```python\nattention_scores = 1  # the attention scores\n```",
)


@pytest.mark.parametrize("text", WRONG)
def test_a_confusion_is_found(text):
    assert prose_confusions(text)


@pytest.mark.parametrize("text", RIGHT)
def test_what_the_glossary_says_passes(text):
    assert prose_confusions(text) == []


def test_every_rule_has_a_sentence_that_breaks_it():
    untried = [rule.pattern for rule, _ in RULES if not any(rule.search(text) for text in WRONG)]
    assert untried == []


def test_cells_of_a_table_are_read_one_by_one():
    """Neighbours in a row mix nothing up, and a confusion inside one cell is found."""
    assert prose_confusions("| a | b |\n|---|---|\n| before the softmax | weights |") == []
    assert prose_confusions("| a | b |\n|---|---|\n| x | weights before the softmax |")


def test_a_line_break_hides_nothing():
    assert confusions("the attention\nscores")


def test_pages_are_read_too(tmp_path, capsys):
    page = tmp_path / "glossary.md"
    page.write_text(
        "# Glossary\n\n```{glossary}\nscore\n  One entry of the attention matrix.\n```\n"
    )
    assert [finding.check for finding in check_page(page)] == ["words_as_defined"]
    assert main([str(page)]) == 1
    assert "glossary.md: 'attention matrix'" in capsys.readouterr().out


def test_the_pages_of_the_book_have_no_confusion():
    pages = [*ROOT.glob("book/*.md"), ROOT / "README.md"]
    assert len(pages) > 5
    assert [finding for page in pages for finding in check_page(page)] == []
