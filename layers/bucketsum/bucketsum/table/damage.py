"""Items that another program changed: errors that name them, and lists that go on after them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from bucketsum.errors import DamagedItem
from bucketsum.events.message_fields import shown

S = TypeVar("S")
T = TypeVar("T")


class intact:  # noqa: N801 - a function, but that a generator takes twice as long
    """Raise `DamagedItem`, with *kind* and *name*, if the item cannot be decoded."""

    def __init__(self, kind: str, name: str) -> None:
        self._kind, self._name = kind, name

    def __enter__(self) -> None:
        """Nothing is decoded yet."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, AttributeError | KeyError | TypeError | ValueError | RecursionError):
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise DamagedItem(
                f"the item of the {self._kind} {shown(self._name)} is damaged: {reason}; correct "
                "it in the table, or delete it",
                self._name,
            ) from error


def each_read(read: Callable[[S], T], items: Iterable[S]) -> Iterator[T | DamagedItem]:
    """Yield the result of *read* for each of *items*; for a damaged item, its error."""
    for item in items:
        try:
            yield read(item)
        except DamagedItem as error:
            yield error
