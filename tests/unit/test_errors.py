"""errors: a tree whose branches answer who can put it right."""

from __future__ import annotations

import inspect
import re

import pytest

from bucketsum import errors
from bucketsum.errors import (
    BadSettings,
    BadSweep,
    BucketsumError,
    NotHashed,
    NotRetryable,
    Retryable,
)

CLASSES = [one for _, one in inspect.getmembers(errors, inspect.isclass)]
BRANCHES = {Retryable, NotRetryable, NotHashed, BadSettings, BadSweep}


@pytest.mark.parametrize("error", CLASSES)
def test_every_error_has_one_answer(error: type[BucketsumError]) -> None:
    """An error is of one branch, so that nobody has to decide twice."""
    branches = BRANCHES & set(error.__mro__)
    assert len(branches) == 1 or error is BucketsumError
    assert issubclass(error, BucketsumError)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    """What a person reads on top of the module is what the code does."""
    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"([ │├└─]*)([A-Z]\w+(?:Error|\b))(?:  |$)", line):
            depth = len(found[1]) // 4
            path[depth - 1 :] = [found[2]]
            drawn[found[2]] = path[depth - 2] if depth > 1 else "Exception"
    assert drawn == {one.__name__: one.__base__.__name__ for one in CLASSES if one.__base__}
