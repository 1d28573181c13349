"""The result of a bag, and the problems that make it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated


class Verdict(StrEnum):
    """Whether a bag is valid."""

    VALID = "valid"
    INVALID = "invalid"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class BagProblem:
    """A reason why a bag is not valid, or why that cannot be told."""

    path: Annotated[str, "Path in the bag."]
    reason: str
    verdict: Annotated[Verdict, "`invalid`, or `cannot tell`."] = Verdict.INVALID


@dataclass(frozen=True, slots=True)
class BagResult:
    """The result of a bag."""

    bag: Annotated[str, "Its URL."]
    verdict: Annotated[Verdict, "`valid`, `invalid` or `cannot tell`."]
    payload_files: Annotated[int, "Number of objects below data/."]
    payload_bytes: Annotated[int, "Their total size."]
    algorithms: Annotated[Sequence[str], "Of the manifests that were compared with digests."]
    problems: Sequence[BagProblem]
