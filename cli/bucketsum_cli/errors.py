"""What the command says when it cannot do what it was asked.

Exit statuses: 0, done and the answer is yes; 1, done and the answer is no (a file differs, a key
is not recorded); 2, it could not be done, and the text says what to do.
"""

from __future__ import annotations

from typing import Final

import click

ANSWER_IS_NO: Final = 1


class CannotDoError(click.ClickException):
    """It could not be done; the text says what was got, what is allowed and what to do."""

    exit_code = 2
