"""The parts that the lab, where it is installed, adds to the product's commands."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bucketsum.errors import DamagedItem
    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.emulator.emulator_state import LocalProject
    from bucketsum_cli.selftest.check import SelftestCheck

_PACKAGE: Final = "bucketsum_cli.commands.tune"
_REGISTRATION: Final = f"{_PACKAGE}.registration:LAB"


@dataclass(frozen=True, slots=True)
class Lab:
    """The parts of `status`, `selftest` and `local demo` that measure.

    Attributes:
        running_sweeps: Returns the identifiers of a stack's running sweeps, and damaged ones.
        demonstrate: Runs the quick sweep on a stack and writes its report into the project's
            folder; returns whether it is complete. With True, stdout has another document.
    """

    running_sweeps: Callable[[Stack], Iterable[str | DamagedItem]]
    checks: Sequence[SelftestCheck]
    demonstrate: Callable[[LocalProject, Stack, bool], bool]


def is_installed() -> bool:
    """Whether this installation has the lab."""
    return find_spec(_PACKAGE) is not None


def lab() -> Lab | None:
    """Import the lab's registration; None without the lab."""
    if not is_installed():
        return None
    registered: Lab = pkgutil.resolve_name(_REGISTRATION)
    return registered
