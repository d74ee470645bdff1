"""Known-wrong answers must lose points, right ones written differently must not.

``tests/assignments/mutants/a1.py`` has ``WRONG`` and ``RIGHT``: for each question a dict of label
and text, which stands in for the whole solution cell. An assignment is played once, in one process;
at each question the process is forked for every answer, so an answer cannot spoil the next one,
and one that loops for ever or ends Python ends its fork alone.
"""

import importlib.util
import inspect
import textwrap
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from notebooks import ROOT
from tqdm import tqdm

from .faults import find_checked
from .play import GONE, Player
from .sources import CourseError

MUTANTS = Path("tests", "assignments", "mutants")
AT_ONCE = 2
HEAD = ("question", "points", "wrong", "by check", "by tests", "caught", "right")
LONGEST = 300.0  # seconds of processor time for a solution and what judges it
SECONDS = 10.0  # for an answer beyond three times what the solution takes


@dataclass
class Score:
    """How the answers to one question fared; ``failed`` has the cells that failed, with reasons."""

    question: str
    points: float
    broken: dict = field(default_factory=dict)  # what the solution failed
    wrong: dict = field(default_factory=dict)  # label of a wrong answer: what it failed
    right: dict = field(default_factory=dict)  # label of a right answer: what it failed

    def row(self):
        """A row of the table that is printed."""
        seen = sum(any(map(_is_check, failed)) for failed in self.wrong.values())
        graded = sum(map(_costs, self.wrong.values()))
        caught = sum(bool(failed) for failed in self.wrong.values())
        share = f"{caught / len(self.wrong):.0%}" if self.wrong else "-"
        passed = sum(not failed for failed in self.right.values())
        numbers = (len(self.wrong), seen, graded, share, f"{passed} of {len(self.right)}")
        return (self.question, f"{self.points:g}", *map(str, numbers))

    def complaints(self):
        """What is not as it should be, as lines of text."""
        for cell, reason in self.broken.items():
            yield f"the solution fails {cell}: {reason}"
        for label, failed in self.wrong.items():
            if not failed:
                yield f"nothing catches {label!r}"
            elif not _costs(failed):
                yield f"{label!r} gets full points: only the check catches it"
        for label, failed in self.right.items():
            for cell, reason in failed.items():
                yield f"{label!r} is right, but fails {cell}: {reason}"
        if not self.wrong:
            yield "there is no known-wrong answer"
        if not self.right:
            yield "there is no known-right answer"


def answers(key, root=ROOT):
    """The wrong and the right answers to the questions of an assignment: two dicts of dicts.

    Raises
    ------
    CourseError
        If there is no file of them.
    """
    path = root / MUTANTS / f"{key}.py"
    if not path.exists():
        raise CourseError(f"{key} has no known-wrong answers: write {path.relative_to(root)}")
    spec = importlib.util.spec_from_file_location(f"mutants_{key}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return tuple(
        {
            question: {label: text_of(answer) for label, answer in given.items()}
            for question, given in table.items()
        }
        for table in (module.WRONG, module.RIGHT)
    )


def scores(assignment, root=ROOT):
    """Play an assignment with every answer known for it; a Score for each question.

    Written questions have none.
    """
    wrong, right = answers(assignment.key, root)
    questions = {one.name: one for one in assignment.questions if not one.manual}
    strange = sorted((set(wrong) | set(right)) - set(questions))
    if strange:
        raise CourseError(f"{assignment.key} has answers to no question of it: {strange}")
    player = Player(assignment.notebook)
    found = []
    for question in questions.values():
        player.play_until(question.place)
        found.append(
            _score(player, question, wrong.get(question.name, {}), right.get(question.name, {}))
        )
    return found


def _score(player, question, wrong, right):
    last = _last(player, question)
    solved = player.try_answer(question.solution.source, last, limit=LONGEST)
    limit = SECONDS + 3 * solved.seconds
    tried = [
        {label: player.try_answer(text, last, limit).failed for label, text in given.items()}
        for given in (wrong, right)
    ]
    return Score(question.name, question.points, solved.failed, *tried)


def _last(player, question):
    """The place of the last cell that judges a question."""
    return max(player.place(cell) for cell in (*question.checks, *question.tests))


def dependent(assignment):
    """Questions that their own solutions fail when earlier ones were left open, and what failed.

    One mistake is to cost once, so what a question needs of an earlier one must be given.
    """
    player = Player(assignment.notebook)
    found = {}
    for question in assignment.questions:
        if question.manual:
            continue
        player.play_until(question.place)
        solved = player.try_answer(question.solution.source, _last(player, question), LONGEST)
        if solved.failed:
            found[question.name] = solved.failed
        player.leave_open(question.place)
    return found


def report(assignment, found, chained):
    """The table of an assignment's scores, and under it what is not as it should be."""
    rows = [HEAD, *(score.row() for score in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [f"{assignment.path.stem}: {assignment.title}"]
    for first, *rest in rows:
        numbers = (text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *numbers]))
    return "\n".join([*lines, *complaints(found, chained)])


def complaints(found, chained):
    """All that is not as it should be with an assignment's scores, as lines of text."""
    lines = [f"{score.question}: {line}" for score in found for line in score.complaints()]
    for question, failed in chained.items():
        told = "; ".join(f"{cell}: {reason}" for cell, reason in failed.items())
        lines.append(f"{question} fails when the earlier ones were left open ({told})")
    return lines


def judged(assignment, root=ROOT):
    """The scores of an assignment and its dependent questions; a process of its own runs this."""
    return scores(assignment, root), dependent(assignment)


def add_arguments(parser):
    """The arguments of ``mutation``."""
    parser.add_argument("keys", nargs="*", metavar="a1", help="which assignments; all without one")


def run(options, root=ROOT):
    """Try known-wrong and known-right answers on the tests, and print what was caught."""
    assignments = find_checked(options.keys, root)
    good = True
    with ProcessPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(judged, one, root) for one in assignments]
        for one, future in tqdm(list(zip(assignments, waiting, strict=True)), unit="assignment"):
            found, chained = future.result()
            tqdm.write(report(one, found, chained) + "\n")
            good = good and not complaints(found, chained)
    return 0 if good else 1


def _is_check(name):
    return "-check" in name


def _costs(failed):
    """Whether an answer fails more than checks, which give no points, or came to no end."""
    return GONE in failed.values() or not all(map(_is_check, failed))


def text_of(answer):
    """The text of an answer, which may be given as a function."""
    return textwrap.dedent(inspect.getsource(answer)) if callable(answer) else answer
