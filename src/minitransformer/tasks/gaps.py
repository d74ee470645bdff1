"""English sentences with gaps: each gap depends on another word, near or far."""

from typing import NamedTuple

import torch

from ._common import IGNORE, PAD, Vocabulary, check_at_least, choose
from .sentences import WORDS, sentences

GAP, QUESTION = "_", "?"
_OPENINGS = {"well": ".", "really": QUESTION}
GAP_WORDS = Vocabulary([*WORDS.words[3:], *_OPENINGS, QUESTION, GAP])
_ARTICLES = GAP_WORDS.encode(["a", "an", "some"])


class GappedSentences(NamedTuple):
    """Sentences with gaps, what belongs in each, and the place of the word that decides it.

    tokens : (batch, time) numbers of ``GAP_WORDS``, padded on the right with 0. "_" is a gap; the
        verb stands in its base form.
    targets : (batch, time) the word that belongs there; -100 where there is nothing to fill in
    verb, pronoun, mark : (batch,) places of three gaps; -1 = no pronoun in this sentence
    subject : (batch,) place of the noun that decides verb and pronoun
    articles : (batch, time) boolean, True = a gap for an article; the next word decides a or an
    """

    tokens: torch.Tensor
    targets: torch.Tensor
    verb: torch.Tensor
    pronoun: torch.Tensor
    mark: torch.Tensor
    subject: torch.Tensor
    articles: torch.Tensor


def gapped_sentences(generator, batch, split="train"):
    """Draw sentences such as ``really _ girls near an old king wait because _ _ tired _``.

    Gaps are the articles (a, an, some), the ending of the verb, the pronoun with its was or were,
    and the mark at the end: a full stop after "well", a question mark after "really".

    Parameters
    ----------
    generator : torch.Generator
    batch : int
    split : "train" or "test"
        As in :func:`sentences`, from which they are made.

    Returns
    -------
    GappedSentences

    Raises
    ------
    ValueError
        If batch is not a whole number of at least 1, or the split is unknown.

    Examples
    --------
    >>> drawn = gapped_sentences(torch.Generator().manual_seed(0), batch=2)
    >>> for row in drawn.tokens:
    ...     print(" ".join(GAP_WORDS.decode(row)))
    really the dogs behind _ quiet boys smile _
    really _ queen follow _ brave queen _
    """
    check_at_least(1, batch=batch)
    drawn = sentences(generator, batch, split)
    rows = torch.arange(batch)
    targets = drawn.tokens.clone()
    mark = (targets != PAD).sum(dim=1) - 1
    for row in range(batch):
        opening = choose(generator, list(_OPENINGS))
        [targets[row, 0]] = GAP_WORDS.encode([opening])
        [targets[row, mark[row]]] = GAP_WORDS.encode([_OPENINGS[opening]])
    articles = torch.isin(targets, torch.tensor(_ARTICLES))
    gaps = articles.clone()
    gaps[rows, mark] = True
    with_pronoun = rows[drawn.pronoun >= 0]
    for step in (0, 1):  # the pronoun, and was or were after it
        gaps[with_pronoun, drawn.pronoun[with_pronoun] + step] = True
    [gap] = GAP_WORDS.encode([GAP])
    tokens = targets.masked_fill(gaps, gap)
    # In the vocabulary a verb of several stands right after that of one.
    singular = ~drawn.plural
    tokens[rows[singular], drawn.verb[singular]] += 1
    gaps[rows, drawn.verb] = True
    targets = targets.masked_fill(~gaps, IGNORE)
    return GappedSentences(
        tokens, targets, drawn.verb, drawn.pronoun, mark, drawn.subject, articles
    )
