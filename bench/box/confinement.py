"""Control groups of a sandbox: Lambda's CPU share and memory limit for each program."""

from __future__ import annotations

from pathlib import Path

from bench.box.network import is_abandoned
from bench.box.requirements import CONTROL_GROUPS, refusal
from bucketsum_cli.local.cgroups import cgroup_roots, remove_roots
from bucketsum_cli.local.worker import Cgroup as Group


class Confinement:
    """Parent groups of one sandbox."""

    def __init__(self, roots: dict[str, str]) -> None:
        self.roots = roots

    @classmethod
    def make(cls, name: str) -> Confinement:
        """Create the groups' folders, which proves that they work.

        Raises:
            CannotMakeBoxError: Control groups are not writable here.
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
        folder = Path(self.roots["memory"], name)
        for file in ("memory.swap.max", "memory.swappiness"):
            if (folder / file).exists():
                (folder / file).write_text("0")

    def empty(self, name: str) -> int:
        """End all processes in group *name*, and remove it; returns how often memory ran out."""
        kills = kills_of(Path(self.roots["memory"], name))
        remove_roots({kind: str(Path(root, name)) for kind, root in self.roots.items()})
        return kills

    def remove(self) -> None:
        """End all processes in the groups, and remove the groups."""
        remove_roots(self.roots)


def kills_of(group: Path) -> int:
    """Processes of *group* that the kernel killed because memory ran out."""
    files = (group / name for name in ("memory.oom_control", "memory.events"))
    return sum(kills_in(file.read_text()) for file in files if file.exists())


def kills_in(text: str) -> int:
    """The count after ``oom_kill``, in cgroup version 1 and 2."""
    words = text.split()
    return int(words[words.index("oom_kill") + 1]) if "oom_kill" in words else 0


def _remove_abandoned(parents: set[Path]) -> None:
    for parent in parents:
        for folder in [folder for folder in parent.iterdir() if is_abandoned(folder.name)]:
            remove_roots({"abandoned": str(folder)})
