"""Items that another program changed: errors that name them, and lists that go on after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from bucketsum.errors import DamagedItem
from bucketsum.events.message_fields import shown

S = TypeVar("S")
T = TypeVar("T")


@contextmanager
def intact(kind: str, name: str) -> Iterator[None]:
    """Raise `DamagedItem`, with *kind* and *name*, if the item cannot be decoded."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise DamagedItem(
            f"the item of the {kind} {shown(name)} is damaged: {reason}; correct it in the table, "
            "or delete it",
            name,
        ) from error


def each_read(read: Callable[[S], T], items: Iterable[S]) -> Iterator[T | DamagedItem]:
    """Yield the result of *read* for each of *items*; for a damaged item, its error."""
    for item in items:
        try:
            yield read(item)
        except DamagedItem as error:
            yield error
