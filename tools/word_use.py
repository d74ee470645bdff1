"""Words that blur what the glossary keeps apart, found in prose.

A score comes before the softmax, a weight after it, an output after the values are mixed; keys find
and values are handed over. Each rule is a pattern for one way to mix them up, and what to say
instead. What stands in quotation marks is somebody else's wording and passes, and so does the table
in which a chapter lists what the articles claim.
"""

import re

from prose import PARSER, blocks

# Up to a few words that end no clause and name no weight: "scores, and after the softmax" and
# "turns scores into weights that sum to 1" mix nothing up.
_NEAR = r"\b(?:(?!weights?\b|scores?\b)[^.,;:?!()|–—]){0,40}?\b"
_ATTENTION = r"\battention[ -]"
_SUM_TO_1 = r"(?:sums?|adds? up)(?: up)? to (?:1|one)\b"

RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), advice)
    for pattern, advice in (
        (
            _ATTENTION + r"scores?\b",
            "*score* before the softmax, *weight* after it; say which",
        ),
        (
            _ATTENTION + r"(?:logits?|energ(?:y|ies))\b",
            "before the softmax it is a *score*",
        ),
        (
            _ATTENTION + r"(?:probabilit(?:y|ies)|coefficients?|distributions?|values?)\b",
            "after the softmax it is a *weight*; a *value* is the vector that is mixed",
        ),
        (
            _ATTENTION + r"matri(?:x|ces)\b",
            "the matrix of *scores* or of *weights*; say which",
        ),
        (
            r"\b(?:softmax(?:ed)?|normali[sz]ed) scores?\b",
            "after the softmax it is a *weight*",
        ),
        (
            rf"\bscores?{_NEAR}after (?:the )?softmax|\bafter (?:the )?softmax{_NEAR}scores?\b",
            "after the softmax it is a *weight*",
        ),
        (
            rf"\bscores?{_NEAR}{_SUM_TO_1}",
            "the *weights* of a query sum to 1; its scores need not",
        ),
        (
            rf"\bweights?{_NEAR}before (?:the )?softmax|\bbefore (?:the )?softmax{_NEAR}weights?\b",
            "before the softmax it is a *score*",
        ),
        (
            r"\bsoftmax of (?:the |its |these |all )?weights?\b",
            "the softmax takes *scores* and gives *weights*",
        ),
        (
            r"\bweights? (?:is|are) (?:the |a )?(?:scaled )?(?:dot )?products?\b"
            r"|\bweights?\b[^.,;:()|]{0,20}\bdivided by (?:the root|√|\$\\sqrt)",
            "the dot product, divided by the root, is a *score*",
        ),
        (
            rf"{_ATTENTION}outputs?{_NEAR}{_SUM_TO_1}|\boutputs? of (?:the )?softmax\b"
            r"|\boutput weights?\b",
            "what the softmax gives are *weights*; the *output* comes after the values",
        ),
        (
            r"\bweighted (?:sum|average|mean|mixture) of (?:the |all )?(?:keys|queries|scores)\b"
            r"|\bmix(?:es|ed|ing)? (?:the |all )?(?:keys|queries|scores)\b",
            "keys are compared; it is the *values* that are mixed",
        ),
        (
            r"\bweight matri(?:x|ces)\b"
            r"|\b(?:first|initial) weights\b|\bweights of (?:the )?(?:projection|\$?W_)",
            "a *weight* is a share of a value; the numbers of a projection are its *parameters*",
        ),
        (
            r"\bcach(?:e|es|ed|ing) (?:of )?(?:the |its )?(?:scores|weights|queries)\b",
            "a *cache* keeps keys and values",
        ),
        (
            r"\bdivid(?:e|es|ed|ing) by (?:the |a )?sharpness\b"
            r"|\bmultipl(?:y|ies|ied|ying) (?:by|with) (?:the |a )?temperature\b",
            "scores are multiplied by a *sharpness* and divided by a *temperature*",
        ),
        (
            r"\bself-attention is (?:permutation[ -])?invariant\b|\bpermutation[- ]invariant\b",
            "shuffled tokens take their outputs along: *equivariant*",
        ),
    )
)

_QUOTED = re.compile(r"“[^”]*”|„[^“”]*[“”]|\"[^\"]*\"")


def confusions(text):
    """What ``text`` mixes up: pairs of the words found and what to say instead.

    >>> confusions("The attention scores sum to 1.")[0][0]
    'attention scores'
    >>> confusions("A score comes before the softmax, a weight after it.")
    []
    """
    text = _QUOTED.sub(" ", " ".join(text.split()))
    return [(hit[0], advice) for rule, advice in RULES for hit in rule.finditer(text)]


def prose_confusions(source):
    """The confusions in a Markdown source, tables of other people's claims excepted."""
    return [
        found
        for block in blocks(_without_glossary_fence(source))
        if not (block.kind == "table" and block.text.lower().startswith("claim"))
        for found in confusions(block.text)
    ]


def _without_glossary_fence(source):
    """A page's source with the body of its glossary directive as plain Markdown."""
    for token in PARSER.parse(source):
        if token.type == "fence" and token.info.strip() == "{glossary}":
            body = re.sub(r"^ +", "", token.content, flags=re.MULTILINE)
            source = f"{source}\n\n{body}"
    return source
