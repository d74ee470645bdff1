"""A statement to judge: right, wrong or "only if", with the answer after the choice."""

import traitlets

from ._base import Widget, _brief

__all__ = ["VERDICTS", "Statement"]

VERDICTS = ("right", "wrong", "only if")


class _Words(traitlets.TraitType):
    """A string that is not blank."""

    def validate(self, obj, value):
        if not isinstance(value, str) or not value.strip():
            raise traitlets.TraitError(
                f"{self.name} must be a string that is not blank, got {_brief(value)}"
            )
        return value


class Statement(Widget):
    """One statement and three answers to choose from; a choice shows the verdict and the reason.

    Parameters
    ----------
    text : str
        The statement, as people say it.
    verdict : "right", "wrong" or "only if"
        What holds. "only if" stands for every statement that needs a condition.
    why : str
        The reason, in a sentence or two; after "only if" it goes on with the condition, "the keys
        have one length."

    Raises
    ------
    traitlets.TraitError
        If a part is blank or the verdict is none of the three.

    Examples
    --------
    >>> Statement("Weights of a row sum to 1.", "right", "The softmax divides by their sum.")
    Statement('Weights of a row sum to 1.')
    """

    _module = "statement"
    _parts = ("widget_kit",)

    text = _Words().tag(sync=True)
    verdict = traitlets.Enum(VERDICTS).tag(sync=True)
    why = _Words().tag(sync=True)

    def __init__(self, text, verdict, why, **kwargs):
        super().__init__(text=text, verdict=verdict, why=why, **kwargs)

    def _stored_table(self):
        return "Where no script runs", ["statement", "verdict", "why"], [
            [self.text, self.verdict, self.why]
        ]  # fmt: skip

    def __repr__(self):
        return f"Statement({self.text!r})"
