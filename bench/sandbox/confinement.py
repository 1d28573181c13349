"""Control groups of a sandbox: Lambda's CPU share and memory limit for each program."""

from __future__ import annotations

from pathlib import Path

from bench.sandbox.network import is_abandoned
from bench.sandbox.requirements import CONTROL_GROUPS, refusal
from bucketsum_cli.local.cgroups import cgroup_roots, forbid_swap, kills_of, remove_roots
from bucketsum_cli.local.worker import Cgroup as Group


class Confinement:
    """Parent groups of one sandbox."""

    def __init__(self, roots: dict[str, str]) -> None:
        self.roots = roots

    @classmethod
    def make(cls, name: str) -> Confinement:
        """Create the groups' folders, which proves that they work.

        Raises:
            CannotMakeSandboxError: Control groups are not writable here.
        """
        roots = cgroup_roots(name)
        if roots is None:
            raise refusal([CONTROL_GROUPS])
        _remove_abandoned({Path(root).parent for root in roots.values()})
        return cls(roots)

    def group(self, name: str, memory_mb: int) -> Group:
        """A group with the limits of a function of *memory_mb*."""
        return Group(self.roots, name, memory_mb)

    def forbid_swap(self, name: str) -> None:
        """Let group *name* run out of memory as on Lambda, even if the machine has swap space."""
        forbid_swap(Path(self.roots["memory"], name))

    def empty(self, name: str) -> int:
        """End all processes in group *name*, and remove it; returns how often memory ran out."""
        kills = kills_of(Path(self.roots["memory"], name))
        remove_roots({kind: str(Path(root, name)) for kind, root in self.roots.items()})
        return kills

    def remove(self) -> None:
        """End all processes in the groups, and remove the groups."""
        remove_roots(self.roots)


def _remove_abandoned(parents: set[Path]) -> None:
    for parent in parents:
        for folder in [folder for folder in parent.iterdir() if is_abandoned(folder.name)]:
            remove_roots({"abandoned": str(folder)})
