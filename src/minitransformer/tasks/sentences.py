"""Sentences from templates: English with agreement and pronouns, German with an ambiguous word."""

from typing import NamedTuple

import torch

from ._common import START, Vocabulary, check_at_least, check_split, choose, draw, pad

# singular, plural, the pronoun of one
_NOUNS = (
    ("girl", "girls", "she"),
    ("boy", "boys", "he"),
    ("cat", "cats", "it"),
    ("queen", "queens", "she"),
    ("king", "kings", "he"),
    ("owl", "owls", "it"),
    ("woman", "women", "she"),
    ("man", "men", "he"),
    ("dog", "dogs", "it"),
)
# of one, of several, whether an object follows
_VERBS = (
    ("sees", "see", True),
    ("sleeps", "sleep", False),
    ("hears", "hear", True),
    ("waits", "wait", False),
    ("likes", "like", True),
    ("sings", "sing", False),
    ("follows", "follow", True),
    ("smiles", "smile", False),
)
_ADJECTIVES = ("old", "young", "angry", "small", "elegant", "quiet", "idle", "brave")
_PLACES = ("near", "behind", "beside")
_STATES = ("tired", "happy", "hungry", "late")

WORDS = Vocabulary(
    [
        *(word for noun in _NOUNS for word in noun[:2]),
        *(word for verb in _VERBS for word in verb[:2]),
        *_ADJECTIVES,
        *_PLACES,
        *_STATES,
        *["a", "an", "the", "some", "because", "she", "he", "it", "they", "was", "were", "."],
    ]
)


class Sentences(NamedTuple):
    """Sentences and the places of the words that depend on one another; -1 = not in this sentence.

    tokens : (batch, time) numbers of ``WORDS``: start, the sentence, then padding with 0
    plural : (batch,) boolean, True = the subject is several
    subject : (batch,) place of the noun that the verb agrees with
    verb : (batch,) place of the verb
    attractor : (batch,) place of the noun between the two, which the verb must not agree with
    pronoun : (batch,) place of the pronoun; it stands for the subject, always
    article : (batch,) place of the subject's article; "a" or "an" depends on the next word
    """

    tokens: torch.Tensor
    plural: torch.Tensor
    subject: torch.Tensor
    verb: torch.Tensor
    attractor: torch.Tensor
    pronoun: torch.Tensor
    article: torch.Tensor


def _noun_phrase(generator, noun, plural):
    """Article, perhaps an adjective, noun."""
    words = [_NOUNS[noun][plural]]
    if draw(generator, 0, 1):
        words.insert(0, choose(generator, _ADJECTIVES))
    article = "some" if plural else "an" if words[0][0] in "aeiou" else "a"
    return ["the" if draw(generator, 0, 1) else article, *words]


def _sentence(generator, split):
    while True:
        noun, verb = draw(generator, 0, len(_NOUNS) - 1), draw(generator, 0, len(_VERBS) - 1)
        if ((noun + verb) % 4 == 0) == (split == "test"):
            break
    plural = draw(generator, 0, 1)
    words = ["<start>", *_noun_phrase(generator, noun, plural)]
    places = {"article": 1, "subject": len(words) - 1, "attractor": -1, "pronoun": -1}
    if draw(generator, 0, 1):
        words.append(choose(generator, _PLACES))
        words += _noun_phrase(generator, draw(generator, 0, len(_NOUNS) - 1), draw(generator, 0, 1))
        places["attractor"] = len(words) - 1
    places["verb"] = len(words)
    words.append(_VERBS[verb][plural])
    if _VERBS[verb][2]:
        words += _noun_phrase(generator, draw(generator, 0, len(_NOUNS) - 1), draw(generator, 0, 1))
    if draw(generator, 0, 1):
        places["pronoun"] = len(words) + 1
        pronoun = "they" if plural else _NOUNS[noun][2]
        words += ["because", pronoun, "were" if plural else "was", choose(generator, _STATES)]
    return [*words, "."], {"plural": bool(plural)} | places


def sentences(generator, batch, split="train"):
    """Draw English sentences such as ``the girls near an old king wait because they were tired .``

    The verb agrees with the subject, not with the noun between; the pronoun stands for the subject
    (she, he, it or they) and "was" or "were" agrees with it; "an" stands before a vowel.

    Parameters
    ----------
    generator : torch.Generator
    batch : int
    split : "train" or "test"
        No pair of subject and verb (in any number) of one is in the other; every word is in both.

    Returns
    -------
    Sentences

    Raises
    ------
    ValueError
        If batch is not a whole number of at least 1, or the split is unknown.

    Examples
    --------
    >>> drawn = sentences(torch.Generator().manual_seed(0), batch=2)
    >>> for row in drawn.tokens:
    ...     print(" ".join(WORDS.decode(row)))
    the dogs behind some quiet boys smile .
    a queen follows a brave queen .

    Source: the agreement task of Linzen et al. 2016, "Assessing the ability of LSTMs to learn
    syntax-sensitive dependencies"; the templates are our own.
    """
    check_at_least(1, batch=batch)
    check_split(split)
    drawn = [_sentence(generator, split) for _ in range(batch)]
    tokens = pad([WORDS.encode(words) for words, _ in drawn])
    places = {name: torch.tensor([row[name] for _, row in drawn]) for name in drawn[0][1]}
    return Sentences(tokens, **places)


# A bench first, then a house for money. Both prepositions go with both meanings, so that the noun
# alone decides.
_AM = (("See", "Fluss", "Ufer", "Teich"), ("Schalter", "Automaten", "Tresor", "Safe"))
_MIT_DEM = (("Kissen", "Moos", "Holz", "Brett"), ("Geld", "Konto", "Kredit", "Gold"))
_STATES_DE = ("alt", "neu", "klein", "leer", "gut", "schön")
_DAYS = ("Gestern", "Heute", "Damals")

BANK_WORDS = Vocabulary(
    [
        *(noun for nouns in (*_AM, *_MIT_DEM) for noun in nouns),
        *["Die", "die", "Bank", "war", "Am", "am", "Mit", "mit", "dem", "."],
        *_STATES_DE,
        *_DAYS,
    ]
)


class BankSentences(NamedTuple):
    """German sentences with the word "Bank".

    tokens : (batch, time) numbers of ``BANK_WORDS``: start, the sentence, then padding with 0
    bank : (batch,) place of "Bank"
    clue : (batch,) place of the one noun that decides what it means
    sense : (batch,) 0 = a bench, 1 = a house for money
    """

    tokens: torch.Tensor
    bank: torch.Tensor
    clue: torch.Tensor
    sense: torch.Tensor


def _bank_sentence(generator, split):
    sense = draw(generator, 0, 1)
    while True:
        number = draw(generator, 0, 7)
        state = draw(generator, 0, len(_STATES_DE) - 1)
        if ((number + state) % 3 == 0) == (split == "test"):
            break
    clue = (*_AM[sense], *_MIT_DEM[sense])[number]
    phrase = ["am", clue] if clue in _AM[sense] else ["mit", "dem", clue]
    end = [_STATES_DE[state], "."]
    order = draw(generator, 0, 2)
    if order == 0:
        words = ["Die", "Bank", *phrase, "war", *end]
    elif order == 1:
        words = [phrase[0].capitalize(), *phrase[1:], "war", "die", "Bank", *end]
    else:
        words = [choose(generator, _DAYS), "war", "die", "Bank", *phrase, *end]
    return words, 1 + words.index("Bank"), 1 + words.index(clue), sense


def bank_sentences(generator, batch, split="train"):
    """Draw German sentences such as ``Die Bank am Fluss war alt .``, in three orders of words.

    One noun decides whether "Bank" is a bench or a house for money. It stands before or after, and
    neither the preposition nor any other word helps: each goes with both meanings.

    Parameters
    ----------
    generator : torch.Generator
    batch : int
    split : "train" or "test"
        No pair of that noun and the adjective of one is in the other; every word is in both.

    Returns
    -------
    BankSentences

    Raises
    ------
    ValueError
        If batch is not a whole number of at least 1, or the split is unknown.

    Examples
    --------
    >>> drawn = bank_sentences(torch.Generator().manual_seed(0), batch=3)
    >>> for row, sense in zip(drawn.tokens, drawn.sense):
    ...     print(sense.item(), *BANK_WORDS.decode(row))
    0 Die Bank am See war neu .
    1 Die Bank mit dem Gold war neu .
    1 Die Bank am Tresor war alt .
    """
    check_at_least(1, batch=batch)
    check_split(split)
    drawn = [_bank_sentence(generator, split) for _ in range(batch)]
    tokens = pad([[START, *BANK_WORDS.encode(words)] for words, *_ in drawn])
    _, *places_and_sense = zip(*drawn, strict=True)
    return BankSentences(tokens, *(torch.tensor(column) for column in places_and_sense))
