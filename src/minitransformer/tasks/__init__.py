"""Small data sets, made on the spot.

Every function takes a ``torch.Generator`` and draws all its randomness from it: the same seed gives
the same data. Each returns a named tuple of plain tensors and says what they mean; tokens are whole
numbers, and where they stand for words or letters a :class:`Vocabulary` turns them back.

- :func:`associative_recall`: pairs of key and value, then one key: which value belongs to it?
- :func:`repeated_sequences`: random tokens that begin again after a random period
- :func:`copy_or_reverse`, :func:`date_translation`: translation whose true alignment is known
- :func:`sentences`: English sentences with agreement and pronouns
- :func:`gapped_sentences`: the same with gaps, each of which depends on another word
- :func:`bank_sentences`: German sentences in which "Bank" is a bench or a house for money
- :func:`digit_images`, :func:`digit_captions`: handwritten digits, and their names
"""

from ._common import IGNORE, PAD, Translation, Vocabulary
from .dates import DATE_LETTERS, date_translation
from .digits import NAME_LETTERS, Digits, digit_captions, digit_images
from .gaps import GAP_WORDS, GappedSentences, gapped_sentences
from .sentences import BANK_WORDS, WORDS, BankSentences, Sentences, bank_sentences, sentences
from .symbols import Recall, Repeated, associative_recall, copy_or_reverse, repeated_sequences

__all__ = [
    "BANK_WORDS",
    "DATE_LETTERS",
    "GAP_WORDS",
    "IGNORE",
    "NAME_LETTERS",
    "PAD",
    "WORDS",
    "BankSentences",
    "Digits",
    "GappedSentences",
    "Recall",
    "Repeated",
    "Sentences",
    "Translation",
    "Vocabulary",
    "associative_recall",
    "bank_sentences",
    "copy_or_reverse",
    "date_translation",
    "digit_captions",
    "digit_images",
    "gapped_sentences",
    "repeated_sequences",
    "sentences",
]
