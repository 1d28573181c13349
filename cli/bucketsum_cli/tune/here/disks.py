"""Disks of a sweep on this machine: an axis of the settings that write temporary files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from bucketsum_cli.machine import hardware
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.setting_fields import limit_combinations
from bucketsum_lab.workloads import WORKLOADS


def disk_folders(folders: Iterable[Path]) -> tuple[str, ...]:
    """The absolute paths of *folders*, each once.

    Raises:
        CannotDoError: One of them is not a folder, or cannot be written.
    """
    return tuple(dict.fromkeys(map(_written, folders)))


def _written(folder: Path) -> str:
    if not folder.is_dir():
        raise CannotDoError(f"--disk {folder}: there is no such folder; make it on the disk")
    try:
        with tempfile.TemporaryFile(dir=folder):
            path = str(folder.resolve())
        path.encode()
    except OSError as error:
        raise CannotDoError(
            f"--disk {folder} cannot be written: {error.strerror or error}"
        ) from error
    except UnicodeEncodeError as error:
        raise CannotDoError("--disk must be Unicode text, as the run records it") from error
    return path


def on_disks(sweep: SweepInput, disks: Sequence[str]) -> SweepInput:
    """*sweep* with each setting that uses a disk on each of *disks*, and the others once.

    Raises:
        BadSweep: No setting uses a disk, or there are too many combinations.
    """
    if not disks:
        return sweep
    workload = WORKLOADS[sweep.workload]
    if not any(map(workload.uses_disk, sweep.settings)):
        raise BadSweep(
            f"no setting of the workload {sweep.workload} uses a disk, so --disk has no effect: "
            "leave it out, or measure settings that write temporary files"
        )
    limit_combinations(
        sweep.settings,
        disks,
        sweep.concurrency,
        sweep.object_bytes or sweep.keys,
        repetitions=sweep.repetitions,
    )
    settings = (
        replace(setting, disk=disk)
        for setting in sweep.settings
        for disk in (disks if workload.uses_disk(setting) else (None,))
    )
    return replace(sweep, settings=tuple(settings))


def disks_text(disks: Sequence[str]) -> str:
    """The disks of temporary files, each with its folder if the sweep names it."""
    named = (f"{disk}: {hardware.disk_text(disk)}" for disk in disks)
    return "; ".join(named) or hardware.disk_text()
