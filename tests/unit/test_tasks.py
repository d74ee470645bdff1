"""The tasks mean what they say: the answers can be worked out, and the parts do not overlap."""

import datetime
import itertools
import re
import sys

import pytest
import torch

from minitransformer import tasks
from minitransformer.tasks import (
    BANK_WORDS,
    DATE_LETTERS,
    IGNORE,
    NAME_LETTERS,
    WORDS,
    Vocabulary,
    associative_recall,
    bank_sentences,
    copy_or_reverse,
    date_translation,
    digit_captions,
    digit_images,
    repeated_sequences,
    sentences,
)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


DRAWS = {
    "recall": lambda generator: associative_recall(generator, 5, 4),
    "repeated": lambda generator: repeated_sequences(generator, 5, 17, 9, 3, 7),
    "reverse": lambda generator: copy_or_reverse(generator, 5, 2, 6),
    "dates": lambda generator: date_translation(generator, 5),
    "sentences": lambda generator: sentences(generator, 5),
    "bank": lambda generator: bank_sentences(generator, 5),
    "digits": digit_images,
}


@pytest.mark.parametrize("name", DRAWS)
def test_the_generator_decides_everything(name):
    torch.manual_seed(1)
    first = DRAWS[name](seeded(3))
    torch.manual_seed(2)
    again, other = DRAWS[name](seeded(3)), DRAWS[name](seeded(4))
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))


# --- recall


def test_recall_can_be_answered_by_looking_it_up():
    recall = associative_recall(seeded(), batch=300, n_pairs=6, n_keys=9, n_values=4)
    for row, target, position, ago in zip(*recall, strict=True):
        keys, values, query = row[0:-1:2].tolist(), row[1:-1:2].tolist(), row[-1].item()
        assert len(set(keys)) == 6
        assert max(keys) < 9 <= min(values)
        assert max(values) < 13
        assert dict(zip(keys, values, strict=True))[query] == target
        assert row[position] == target
        assert row[position - 1] == query
        assert position == len(row) - 1 - (2 * ago - 1)


def test_recall_asks_for_every_pair_and_answers_with_every_value_about_equally_often():
    recall = associative_recall(seeded(), batch=3000, n_pairs=5, n_keys=7, n_values=3)
    assert recall.pairs_ago.bincount(minlength=6)[1:].min() > 500
    assert recall.targets.bincount()[7:].min() > 900


# --- repeated sequences


def test_a_predictable_token_is_what_followed_its_predecessor_before():
    rows = repeated_sequences(seeded(), 200, 23, n_tokens=12, min_period=3, max_period=11)
    for tokens, period, predictable, sources in zip(*rows, strict=True):
        tokens = tokens.tolist()
        assert len(set(tokens[:period])) == period
        for time in range(23):
            earlier = [place for place in range(1, time) if tokens[place - 1] == tokens[time - 1]]
            assert predictable[time] == bool(earlier and time)
            if earlier:
                assert {tokens[place] for place in earlier} == {tokens[time]}
                assert sources[time] == earlier[-1]
            else:
                assert sources[time] == -1


def test_periods_vary_and_reach_both_ends():
    rows = repeated_sequences(seeded(), 400, 23, 12, min_period=3, max_period=6)
    assert rows.periods.unique().tolist() == [3, 4, 5, 6]


# --- copy and reverse


@pytest.mark.parametrize("reverse", [False, True])
def test_strings_come_back_and_the_alignment_says_from_where(reverse):
    task = copy_or_reverse(seeded(), 100, 2, 7, n_symbols=5, reverse=reverse)
    lengths = task.source_mask.sum(1)
    assert sorted(lengths.unique().tolist()) == [2, 3, 4, 5, 6, 7]
    for row in range(100):
        source = task.source[row, : lengths[row]].tolist()
        answer = source[::-1] if reverse else source
        padding = [0] * (7 - len(source))
        assert task.source[row].tolist() == source + padding
        assert set(source) <= {3, 4, 5, 6, 7}
        assert task.target_in[row].tolist() == [1, *answer, *padding]
        assert task.target_out[row].tolist() == [*answer, 2, *[IGNORE] * len(padding)]
        check_alignment(task, row, range(len(answer)))


def check_alignment(task, row, steps):
    """Each of these steps is read off exactly one place, and the same token stands there."""
    for step in range(task.target_out.shape[1]):
        places = task.alignment[row, step].nonzero()[:, 0]
        if step in steps:
            assert len(places) == 1
            assert task.source[row, places[0]] == task.target_out[row, step]
        else:
            assert len(places) == 0


# --- dates

NOTATIONS = {
    r"(?P<d>\d{1,2}) (?P<m>[A-Z][a-z]+) (?P<y>\d{4})": "%d %B %Y",
    r"(?P<m>[A-Z][a-z]+) (?P<d>\d{1,2}), (?P<y>\d{4})": "%B %d, %Y",
    r"(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>\d{4})": "%d.%m.%Y",
    r"(?P<m>\d\d)/(?P<d>\d\d)/(?P<y>\d{4})": "%m/%d/%Y",
}


def letters(row):
    return "".join(DATE_LETTERS.decode(row))


def test_dates_are_read_by_the_standard_library_and_fields_are_where_the_alignment_says():
    task, seen = date_translation(seeded(), 400), set()
    for row in range(400):
        text = letters(task.source[row])
        fits = [pattern for pattern in NOTATIONS if re.fullmatch(pattern, text)]
        assert len(fits) == 1
        seen.add(fits[0])
        date = datetime.datetime.strptime(text, NOTATIONS[fits[0]]).date()
        answer = task.target_out[row].tolist()
        assert letters(answer[:10]) == date.isoformat()
        assert answer[10] == DATE_LETTERS.end
        assert task.target_in[row].tolist() == [DATE_LETTERS.start, *answer[:10]]
        field = re.fullmatch(fits[0], text)
        places = [task.alignment[row, step].nonzero()[:, 0].tolist() for step in range(11)]
        assert places[:4] == [[place] for place in range(*field.span("y"))]
        assert places[5] == places[6] == list(range(*field.span("m")))
        assert places[8] == places[9] == list(range(*field.span("d")))
        assert places[4] == places[7] == places[10] == []
        check = task.source_mask[row].tolist()
        assert check == [place < len(text) for place in range(len(check))]
    assert len(seen) == 4


def test_no_date_of_the_test_is_in_the_training_part():
    train, test = date_translation(seeded(), 3000), date_translation(seeded(), 600, "test")
    dates = [{letters(row[:10]) for row in task.target_out} for task in (train, test)]
    assert len(dates[0]) > 2500
    assert len(dates[1]) > 500
    assert not dates[0] & dates[1]


# --- sentences

PRONOUNS = {
    "she": "girl queen woman",
    "he": "boy king man",
    "it": "cat owl dog",
    "they": "girls boys cats queens kings owls women men dogs",
}
PRONOUN_OF = {noun: pronoun for pronoun, nouns in PRONOUNS.items() for noun in nouns.split()}
SINGULAR_VERBS = {"sees", "sleeps", "hears", "waits", "likes", "sings", "follows", "smiles"}
PLURAL_VERBS = {"see", "sleep", "hear", "wait", "like", "sing", "follow", "smile"}


def words_of(drawn, row):
    return [WORDS.words[number] for number in drawn.tokens[row].tolist() if number]


@pytest.mark.parametrize("split", ["train", "test"])
def test_agreement_and_pronouns_follow_from_the_subject(split):
    drawn = sentences(seeded(), 500, split)
    attractors_differ = 0
    for row in range(500):
        words = words_of(drawn, row)
        assert words[0] == "<start>"
        assert words[-1] == "."
        subject, verb = words[drawn.subject[row]], words[drawn.verb[row]]
        several = PRONOUN_OF[subject] == "they"
        assert drawn.plural[row] == several
        assert verb in (PLURAL_VERBS if several else SINGULAR_VERBS)
        assert sum(word in PLURAL_VERBS | SINGULAR_VERBS for word in words) == 1
        if drawn.attractor[row] >= 0:
            attractor = words[drawn.attractor[row]]
            assert drawn.subject[row] < drawn.attractor[row] < drawn.verb[row]
            attractors_differ += (PRONOUN_OF[attractor] == "they") != several
        else:
            assert drawn.verb[row] == drawn.subject[row] + 1
        if drawn.pronoun[row] >= 0:
            assert words[drawn.pronoun[row]] == PRONOUN_OF[subject]
            assert words[drawn.pronoun[row] + 1] == ("were" if several else "was")
        else:
            assert not {"she", "he", "it", "they", "because"} & set(words)
        assert words[drawn.article[row]] in ("a", "an", "the", "some")
        for word, after in itertools.pairwise(words):
            if word in ("a", "an"):
                assert (word == "an") == (after[0] in "aeiou")
    assert attractors_differ > 50


def test_subject_and_verb_of_the_test_never_meet_in_training_and_all_words_do():
    def pairs(drawn):
        found = set()
        for row in range(len(drawn.tokens)):
            words = words_of(drawn, row)
            noun, verb = words[drawn.subject[row]], words[drawn.verb[row]]
            noun = {"women": "woman", "men": "man"}.get(noun, noun.removesuffix("s"))
            found.add((noun, verb.removesuffix("s")))
        return found

    train, test = sentences(seeded(), 1500), sentences(seeded(), 500, "test")
    assert not pairs(train) & pairs(test)
    assert len(pairs(train)) + len(pairs(test)) == 9 * 8
    for drawn in (train, test):
        assert set(drawn.tokens.unique().tolist()) == set(range(len(WORDS))) - {WORDS.end}


# --- Bank

BENCH = {"See", "Fluss", "Ufer", "Teich", "Kissen", "Moos", "Holz", "Brett"}
MONEY = {"Schalter", "Automaten", "Tresor", "Safe", "Geld", "Konto", "Kredit", "Gold"}


def bank_words(drawn, row):
    return [BANK_WORDS.words[number] for number in drawn.tokens[row].tolist() if number]


def test_one_noun_decides_the_meaning_of_bank_and_nothing_else_helps():
    drawn = bank_sentences(seeded(), 4000)
    senses = {}
    for row in range(4000):
        words, sense = bank_words(drawn, row), drawn.sense[row].item()
        assert words[0] == "<start>"
        assert words[drawn.bank[row]] == "Bank"
        clue = words[drawn.clue[row]]
        assert clue in (MONEY if sense else BENCH)
        assert len(set(words) & (MONEY | BENCH)) == 1
        for word in set(words) - {clue}:
            senses.setdefault(word, []).append(sense)
    for word, found in senses.items():
        share, spread = sum(found) / len(found), 0.5 / len(found) ** 0.5
        assert abs(share - 0.5) < 4 * spread, word


def test_the_clue_stands_before_and_after():
    drawn = bank_sentences(seeded(), 300)
    assert {1, -1} == set((drawn.clue - drawn.bank).sign().tolist())


def test_the_sentence_of_the_chapter_is_in_the_training_part_and_the_parts_do_not_meet():
    def pairs(drawn):
        adjectives = {"alt", "neu", "klein", "leer", "gut", "schön"}
        return {
            (words[drawn.clue[row]], *(adjectives & set(words)))
            for row in range(len(drawn.tokens))
            for words in [bank_words(drawn, row)]
        }

    train, test = bank_sentences(seeded(), 3000), bank_sentences(seeded(), 900, "test")
    assert not pairs(train) & pairs(test)
    assert len(pairs(train)) + len(pairs(test)) == 16 * 6
    written = {" ".join(bank_words(train, row)[1:]) for row in range(3000)}
    assert {"Die Bank am Fluss war alt .", "Die Bank mit dem Geld war alt ."} <= written
    for drawn in (train, test):
        assert set(drawn.tokens.unique().tolist()) == set(range(len(BANK_WORDS))) - {BANK_WORDS.end}


# --- digits


def test_the_images_are_scikit_learns_each_once():
    from sklearn.datasets import load_digits

    digits = digit_images(seeded(), test_share=0.2)
    assert len(digits.test_labels) == 359
    assert len(digits.train_labels) == 1797 - 359
    images = torch.cat([digits.train_images, digits.test_images])
    labels = torch.cat([digits.train_labels, digits.test_labels])
    assert images.shape == (1797, 1, 8, 8)
    assert (images.min(), images.max()) == (0, 1)
    data = load_digits()
    theirs = zip(data.data.astype(int).tolist(), data.target.tolist(), strict=True)
    ours = zip((16 * images).flatten(1).int().tolist(), labels.tolist(), strict=True)
    assert sorted(ours) == sorted(theirs)


def test_names_are_spelled():
    names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    target_in, target_out = digit_captions(torch.arange(10))
    for name, given, wanted in zip(names, target_in, target_out, strict=True):
        assert ["".join(NAME_LETTERS.decode(given))] == [name]
        answer = [number for number in wanted.tolist() if number != IGNORE]
        assert answer[-1] == NAME_LETTERS.end
        assert given[0] == NAME_LETTERS.start
        assert answer[:-1] == [number for number in given[1:].tolist() if number]


def test_without_scikit_learn_the_message_says_what_to_install(monkeypatch):
    for name in ("sklearn", "sklearn.datasets"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match="pip install scikit-learn"):
        digit_images(seeded())


# --- vocabulary and bad input


def test_a_vocabulary_goes_both_ways():
    words = Vocabulary(["dog", "cat"])
    assert words.decode(words.encode(["cat", "dog", "cat"])) == ["cat", "dog", "cat"]
    assert words.words[:3] == ["<pad>", "<start>", "<end>"]
    with pytest.raises(ValueError, match="'cow' is not in the vocabulary of 5 words"):
        words.encode(["dog", "cow"])
    with pytest.raises(ValueError, match="twice"):
        Vocabulary("aba")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: associative_recall(g, 2, 21), "21 pairs need as many different keys.* 20"),
        (lambda g: associative_recall(g, 0, 3), "batch must be .* got 0"),
        (lambda g: associative_recall(g, 2, 3.0), r"n_pairs must be .* got 3\.0"),
        (lambda g: repeated_sequences(g, 2, 9, 5, 3, 6), "period of 6 different tokens.* 5"),
        (lambda g: repeated_sequences(g, 2, 9, 5, 3, 2), "max_period .* at least 3, got 2"),
        (lambda g: copy_or_reverse(g, 2, 5, 4), "max_length .* at least 5, got 4"),
        (lambda g: date_translation(g, 2, "validation"), "got 'validation'"),
        (lambda g: sentences(g, 2, None), "got None"),
        (lambda g: bank_sentences(g, True), "batch must be .* got True"),
        (lambda g: digit_images(g, test_share=0.0), "both parts, got 0.0"),
        (lambda g: digit_captions(torch.tensor([3, 10])), "got 3 to 10"),
        (lambda g: digit_captions(torch.tensor([], dtype=torch.int64)), "at least 1, got 0"),
    ],
)
def test_what_makes_no_sense_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(seeded())


def test_everything_offered_exists():
    assert all(hasattr(tasks, name) for name in tasks.__all__)
