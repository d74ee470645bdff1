"""The sentences with "it" are such that weights can be read off them in both models."""

import pytest

from minitransformer.inspection.texts import PRONOUN_PAIRS
from minitransformer.pretrained import load_pretrained


@pytest.fixture(scope="module", params=["minilm", "smollm2"])
def tokenizer(request):
    if request.param == "minilm":
        return load_pretrained("minilm")[1]
    return load_pretrained("smollm2")[1]


@pytest.mark.parametrize("pair", PRONOUN_PAIRS, ids=lambda pair: pair[1])
def test_words_are_one_token_and_stand_once(tokenizer, pair):
    sentence, *words = pair
    nouns = words[:2]
    for last in words[2:]:
        ids = tokenizer.encode(f"{sentence} {last}.").ids
        found = [tokenizer.decode([token]).strip().lower() for token in ids]
        for word in (*nouns, "it", last):
            assert found.count(word) == 1, (word, found)


def test_no_pair_stands_twice_and_nouns_stand_in_their_order():
    assert len({pair[1:3] for pair in PRONOUN_PAIRS}) == len(PRONOUN_PAIRS) >= 20
    for sentence, first, second, *last in PRONOUN_PAIRS:
        assert sentence.index(f" {first} ") < sentence.index(f" {second} ")
        assert sentence.count(" it was") == 1
        assert last[0] != last[1]
