"""The hierarchy of errors, by who can fix the problem."""

import inspect
import re

import pytest

from bucketsum import errors
from bucketsum.errors import (
    BadBackfill,
    BadSettings,
    BucketsumError,
    NotHashed,
    NotRetryable,
    Retryable,
)

CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass)]
BRANCHES = {Retryable, NotRetryable, NotHashed, BadSettings, BadBackfill}


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_has_one_answer(error: type[BucketsumError]) -> None:
    """An error is of one branch, so that nobody has to decide twice."""
    branches = BRANCHES & set(error.__mro__)
    assert len(branches) == 1 or error is BucketsumError
    assert issubclass(error, BucketsumError)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    """The hierarchy in the docstring is the hierarchy of the code."""
    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"([ │├└─]*)([A-Z]\w+(?:Error|\b))(?:  |$)", line):
            depth = len(match[1]) // 4
            path[depth - 1 :] = [match[2]]
            drawn[match[2]] = path[depth - 2] if depth > 1 else "Exception"
    assert drawn == {kind.__name__: kind.__base__.__name__ for kind in CLASSES if kind.__base__}
