"""The commands of the course: python -m course assignments, and the like."""

import argparse
import sys
from importlib import import_module

from .sources import CourseError

# Command: the module that has ``add_arguments(parser)`` and ``run(options)``, the exit status.
COMMANDS = {
    "assignments": "release",
    "grade": "grade",
    "mutation": "mutation",
}


def main(arguments=None):
    """Run one command; what a teacher can mend is told without a traceback."""
    parser = argparse.ArgumentParser(prog="course", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, module in COMMANDS.items():
        module = import_module(f"{__package__}.{module}")
        command = commands.add_parser(name, help=module.run.__doc__.splitlines()[0])
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
