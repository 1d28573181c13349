"""Exit statuses, and the error that the command shows.

0: success. 1: the command ran, but the result is negative (a file differs, a key is not recorded,
a question was answered with no). 2: the command could not run or failed; the message says why.
130: Ctrl-C; 143: SIGTERM (see `main`).
"""

from __future__ import annotations

from typing import Final

import click

ANSWER_IS_NO: Final = 1
CANNOT_DO: Final = 2
INTERRUPTED: Final = 130
"""Exit status after Ctrl-C, as in shells."""


class CannotDoError(click.ClickException):
    """The command cannot run; the message has the value, what is allowed and what to do."""

    exit_code = CANNOT_DO


def end_if(is_no: object) -> None:
    """End the command with 1 if the answer *is_no*: true, or a collection that is not empty."""
    if is_no:
        raise SystemExit(ANSWER_IS_NO)
