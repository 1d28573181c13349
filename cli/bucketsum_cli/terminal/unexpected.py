"""Errors that no command expected, and items that another program damaged."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from typing import Final

from bucketsum.errors import BadBackfill, DamagedItem, Retryable
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, CannotDoError

_SHOWN_CHARACTERS: Final = 80

_OUTPUT_ERRORS: Final = frozenset({errno.ENOSPC, errno.EPIPE, errno.EIO, errno.EDQUOT})


class DamagedError(CannotDoError):
    """Another program changed the item that the command is about; the message says how."""

    exit_code = ANSWER_IS_NO


def end_if_damaged(items: Iterable[object]) -> None:
    """Name each `DamagedItem` among *items*, which were shown; if there are any, exit with 1."""
    if damaged := [str(item) for item in items if isinstance(item, DamagedItem)]:
        raise DamagedError("\n".join(damaged))


def unexpected(error: Exception) -> CannotDoError:
    """Explain an *error* that no command expected, and that is not AWS's."""
    return (DamagedError if isinstance(error, DamagedItem) else CannotDoError)(sentence_of(error))


def sentence_of(error: Exception) -> str:
    """Describe an *error* that no command expected."""
    if isinstance(error, BadBackfill | DamagedItem | Retryable):
        return str(error)
    if isinstance(error, UnicodeEncodeError):
        return f"{error.object[:_SHOWN_CHARACTERS]} is not valid UTF-8, as keys and names must be"
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        if error.filename is not None:
            return f"{error.filename}: {reason}"
        return (
            f"the output cannot be written: {reason}" if error.errno in _OUTPUT_ERRORS else reason
        )
    return (
        f"unexpected {type(error).__name__}: {error}; this is a defect of bucketsum, please report "
        "it with the output of the same command with BUCKETSUM_TRACEBACK=1"
    )
