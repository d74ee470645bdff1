"""Known-wrong answers to the exercises, with what their writer must be told.

They are written without the package's own formulas, the way readers write, so that a mistake in
those cannot hide here.
"""

from collections import namedtuple

Mutant = namedtuple("Mutant", "exercise attempt told")


class Mutants(list):
    """A list to which ``@mutants(exercise, told)`` adds the function below it."""

    def __call__(self, exercise, told):
        def add(attempt):
            self.append(Mutant(exercise, attempt, told))
            return attempt

        return add
