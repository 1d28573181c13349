"""Control groups of the processes that measure, if the machine allows them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.local.cgroups import cgroup_roots, remove_roots
from bucketsum_cli.tune.machine import Confinement

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def confined(wanted: Confinement | None) -> Iterator[tuple[Confinement, Mapping[str, str] | None]]:
    """The limits, and the folders for control groups that enforce them; removed at the end.

    If None is *wanted*, memory is limited if the machine allows it.

    Raises:
        CannotDoError: The machine does not allow it.
    """
    roots = None
    if wanted is not Confinement.NONE:
        roots = cgroup_roots(f"bucketsum-here-{os.getpid()}")
    if roots is None and wanted not in (None, Confinement.NONE):
        raise CannotDoError(
            f"--confine {wanted} needs control groups for cpu and memory that this user may write: "
            "run as root, or use --confine none"
        )
    try:
        yield (wanted or Confinement.MEMORY) if roots else Confinement.NONE, roots
    finally:
        if roots:
            remove_roots(roots)
