"""Values that are made at their first use, and only once by several threads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar, cast

T = TypeVar("T")


def made_once(make: Callable[[], T]) -> Callable[[], T]:
    """The value of *make*, which is called at the first use, and only once by several threads."""
    lock, value = Lock(), functools.cache(make)

    def get() -> T:
        with lock:
            return value()

    return get


class _StandIn:
    """Has the attributes of the value that *make* returns."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.value = made_once(make)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of any value
        return getattr(self.value(), name)


def at_first_use(make: Callable[[], T]) -> T:
    """A stand-in for the value of *make*, which is called when an attribute is first needed."""
    return cast("T", _StandIn(make))


def made_now(stand_in: T) -> T:
    """The value for which `at_first_use` returned *stand_in*, made now if it was not before."""
    return cast("T", cast("_StandIn", stand_in).value())
