"""Control groups of a sandbox: Lambda's CPU share and memory limit for each program."""

from __future__ import annotations

from pathlib import Path

from bench.sandbox.network import is_abandoned
from bench.sandbox.requirements import CONTROL_GROUPS, refusal
from bucketsum_cli.machine.cgroups import cgroup_roots, kills_of, remove_roots


def parent_groups(name: str) -> dict[str, str]:
    """Create the folders of a sandbox's groups, which proves that they work.

    Raises:
        CannotMakeSandboxError: Control groups are not writable here.
    """
    roots = cgroup_roots(name)
    if roots is None:
        raise refusal([CONTROL_GROUPS])
    for parent in {Path(root).parent for root in roots.values()}:
        for folder in [folder for folder in parent.iterdir() if is_abandoned(folder.name)]:
            remove_roots({"abandoned": str(folder)})
    return roots


def remove_group(roots: dict[str, str], name: str) -> int:
    """End all processes in group *name*, and remove it; returns how often memory ran out."""
    kills = kills_of(Path(roots["memory"], name))
    remove_roots({kind: str(Path(root, name)) for kind, root in roots.items()})
    return kills
