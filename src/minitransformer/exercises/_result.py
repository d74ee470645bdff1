"""What a reader is told, as text and as a page."""

from dataclasses import dataclass
from html import escape

__all__ = ["CheckResult"]

_WORDS = {"right": ("✓", "Right"), "wrong": ("✗", "Not right yet"), "open": ("○", "Still open")}

# Borders and letters take the page's own colour, so that light and dark both work, and the sign
# and the words say what a colour could.
_BOX = (
    "border: 1px solid currentColor; border-left-width: 0.4em; border-radius: 0.4em; "
    "padding: 0.5em 0.9em; margin: 0.5em 0; line-height: 1.45"
)
_PRE = "margin: 0.2em 0 0.6em; padding: 0; overflow-x: auto; background: none; color: inherit"


@dataclass(frozen=True)
class CheckResult:
    """The answer to an attempt. It counts as true when the attempt is right.

    Attributes
    ----------
    name : str
        The exercise.
    status : str
        ``"right"``, ``"wrong"`` or ``"open"`` (not attempted yet).
    message : str
        What there is to say, in one or two sentences.
    details : tuple of (str, str)
        Headings with what stands below them: the input, what came, what was expected.
    """

    name: str
    status: str
    message: str
    details: tuple = ()

    def __bool__(self):
        return self.status == "right"

    def __repr__(self):
        sign, words = _WORDS[self.status]
        parts = [f"{sign} {self.name}: {words.lower()}. {self.message}"]
        parts += [f"{heading}\n{text}" for heading, text in self.details]
        return "\n\n".join(parts)

    def _repr_html_(self):
        sign, words = _WORDS[self.status]
        parts = [
            f'<div role="status" style="{_BOX}">',
            f'<p style="margin: 0 0 0.4em"><span aria-hidden="true">{sign}</span> '
            f"<strong>{words}:</strong> <code>{escape(self.name)}</code></p>",
            f'<p style="margin: 0 0 0.6em">{escape(self.message)}</p>',
        ]
        for heading, text in self.details:
            heading, text = escape(heading), escape(text)
            parts += [
                f'<p style="margin: 0"><strong>{heading}</strong></p>',
                f'<pre tabindex="0" role="group" aria-label="{heading}" style="{_PRE}">'
                f"{text}</pre>",
            ]
        return "\n".join([*parts, "</div>"])
