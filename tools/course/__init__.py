"""The course: from instructor notebooks to student versions, grades and feedback.

``python -m course`` (with ``tools`` on the path) runs its commands; the make targets do that.
"""
