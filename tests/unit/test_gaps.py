"""The sentences with gaps: every gap can be filled from what is left, and only from there."""

import pytest
import torch

from minitransformer.tasks import GAP_WORDS, IGNORE, WORDS, gapped_sentences, sentences

BATCH = 300


@pytest.fixture(params=["train", "test"])
def drawn(request):
    return gapped_sentences(torch.Generator().manual_seed(7), BATCH, request.param)


def filled(drawn):
    """The whole sentences, as lists of words."""
    tokens = torch.where(drawn.targets == IGNORE, drawn.tokens, drawn.targets)
    return [[GAP_WORDS.words[number] for number in row if number] for row in tokens]


def test_the_same_seed_gives_the_same_sentences():
    one, other = (gapped_sentences(torch.Generator().manual_seed(3), 5) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_filled_in_they_are_the_sentences_of_the_other_task():
    gapped = gapped_sentences(torch.Generator().manual_seed(7), BATCH)
    plain = sentences(torch.Generator().manual_seed(7), BATCH)
    for words, row in zip(filled(gapped), plain.tokens, strict=True):
        assert words[1:-1] == WORDS.decode(row)[:-1]


def test_the_mark_follows_the_opening(drawn):
    marks = {"well": ".", "really": "?"}
    whole = filled(drawn)
    assert {words[0] for words in whole} == set(marks)
    for words, place in zip(whole, drawn.mark, strict=True):
        assert words[-1] == marks[words[0]]
        assert place == len(words) - 1


def test_the_input_does_not_tell_what_belongs_in_a_gap(drawn):
    for row, (tokens, targets) in enumerate(zip(drawn.tokens, drawn.targets, strict=True)):
        for place in (targets != IGNORE).nonzero()[:, 0].tolist():
            shown = GAP_WORDS.words[tokens[place]]
            if place == drawn.verb[row]:  # its base form, whatever the subject
                belongs = GAP_WORDS.words[targets[place]]
                assert belongs in (shown, f"{shown}s")
            else:
                assert shown == "_"


def test_places_and_agreement(drawn):
    singular = {"girl", "boy", "cat", "queen", "king", "owl", "woman", "man", "dog"}
    for row, words in enumerate(filled(drawn)):
        one = words[drawn.subject[row]] in singular
        assert words[drawn.verb[row]].endswith("s") == one
        if drawn.pronoun[row] >= 0:
            assert (words[drawn.pronoun[row]] != "they") == one
            assert (words[drawn.pronoun[row] + 1] == "was") == one
        for place in drawn.articles[row].nonzero()[:, 0].tolist():
            expected = "an" if words[place + 1][0] in "aeiou" else "a"
            assert words[place] in ("some", expected)


def test_wrong_requests_raise():
    generator = torch.Generator().manual_seed(0)
    with pytest.raises(ValueError, match="batch must be a whole number"):
        gapped_sentences(generator, 0)
    with pytest.raises(ValueError, match='"train" or "test"'):
        gapped_sentences(generator, 2, "dev")
