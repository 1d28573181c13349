"""The control groups of one box: Lambda's share of processor and memory, for each process anew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from bench.box.network import PREFIX
from bench.box.requirements import CONTROL_GROUPS, refusal
from bucketsum_cli.local.cgroups import cgroup_roots, remove_roots
from bucketsum_cli.local.worker import Cgroup as Group

_OURS: Final = re.compile(rf"{PREFIX}-(\d+)-\d+$")


class Confinement:
    """Where groups are made, under one name for the whole box."""

    def __init__(self, roots: dict[str, str]) -> None:
        self.roots = roots

    @classmethod
    def make(cls, name: str) -> Confinement:
        """Make the groups' folders, proving that they work.

        Raises:
            CannotMakeBoxError: This machine does not let us.
        """
        roots = cgroup_roots(name)
        if roots is None:
            raise refusal([CONTROL_GROUPS])
        _remove_abandoned({Path(root).parent for root in roots.values()})
        return cls(roots)

    def group(self, name: str, memory_mb: int) -> Group:
        """A group with the limits of a function of *memory_mb*."""
        return Group(self.roots, name, memory_mb)

    def out_of_memory_kills(self, name: str) -> int:
        """How many processes of group *name* the kernel has killed for want of memory."""
        folder = Path(self.roots["memory"], name)
        return sum(
            kills_in((folder / file).read_text())
            for file in ("memory.oom_control", "memory.events")
            if (folder / file).exists()
        )

    def forbid_swap(self, name: str) -> None:
        """Let group *name* run out of memory, as on Lambda, where the machine has swap space."""
        folder = Path(self.roots["memory"], name)
        for file in ("memory.swap.max", "memory.swappiness"):
            if (folder / file).exists():
                (folder / file).write_text("0")

    def empty(self, name: str) -> None:
        """End what still runs in group *name*, and remove the group."""
        remove_roots({kind: str(Path(root, name)) for kind, root in self.roots.items()})

    def remove(self) -> None:
        """End what still runs in the groups, and remove them."""
        remove_roots(self.roots)


def kills_in(text: str) -> int:
    """The count after ``oom_kill``, as in version 1's and version 2's files alike."""
    words = text.split()
    return int(words[words.index("oom_kill") + 1]) if "oom_kill" in words else 0


def abandoned(folders: list[Path], processes: Path = Path("/proc")) -> list[Path]:
    """Those of *folders* that a box made whose process no longer lives."""
    return [
        folder
        for folder in folders
        if (match := _OURS.match(folder.name)) and not (processes / match[1]).exists()
    ]


def _remove_abandoned(parents: set[Path]) -> None:
    for parent in parents:
        for folder in abandoned(list(parent.glob(f"{PREFIX}-*"))):
            remove_roots({"abandoned": str(folder)})
