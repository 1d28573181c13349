"""Plan a sweep on this machine."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from bucketsum.clock import now
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.machine import hardware
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.tune.here.place import Place
from bucketsum_cli.tune.here.sweep import HereSweep
from bucketsum_cli.tune.machine import Confinement, Machine
from bucketsum_cli.tune.workloads import add_programs
from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import check_estimate, unlimited_plan
from bucketsum_lab.plan.setting_fields import limit_combinations
from bucketsum_lab.protocol.measuring import MachinePrice
from bucketsum_lab.workloads import WORKLOADS

_METADATA_SECONDS: Final = 0.5
_ADDRESS: Final = "http://169.254.169.254"
_LIFETIME: Final = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}


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


@dataclass(frozen=True, slots=True)
class HereOptions:
    """The options of the command that only `--here` has.

    Attributes:
        bucket: The bucket; None is the stack's bucket for sweeps.
        usd_per_hour: Price of the machine; None if it is not known.
        confine: Limits of the processes; None is the memory's, if the machine allows it.
        disks: Folders for temporary files to compare; none is the system's.
    """

    bucket: str | None = None
    usd_per_hour: float | None = None
    confine: Confinement | None = None
    disks: tuple[Path, ...] = ()


def planned_sweep(
    fields: Mapping[str, Any],
    place: Place,
    machine: Machine,
    disks: Sequence[str],
    roots: Mapping[str, str] | None,
) -> HereSweep:
    """The sweep of *fields* on *machine*, whose estimates are within its limits."""
    sweep = on_disks(SweepInput.from_json(fields), disks)
    sweep = _on_this_machine(sweep, machine.confinement)
    add_programs(sweep.workload)
    sizes = place.bucket.objects.sizes_of(sweep.keys, WORKLOADS[sweep.workload])
    usd = machine.usd_per_hour
    disks_mb: dict[str | None, int] = {disk: hardware.free_mb(disk) for disk in disks}
    planned = HereSweep(
        run_id=new_execution_name(),
        fields=fields,
        plan=unlimited_plan(sweep, sizes, hardware.free_mb(), disks_mb),
        machine=machine,
        price=MachinePrice(usd, now()[:10]) if usd else MachinePrice(),
        place=place,
        roots=roots,
    )
    check_estimate(sweep.limits, planned.estimated_usd, planned.estimated_seconds)
    return planned


def machine_of_sweep(
    place: Place, options: HereOptions, confinement: Confinement, disks: Sequence[str]
) -> Machine:
    """This machine, as the run records it."""
    named = (f"{disk}: {hardware.disk_text(disk)}" for disk in disks)
    return Machine(
        cpu=hardware.cpu_model(),
        cores=os.cpu_count() or 1,
        ram_mb=hardware.memory_mb(),
        kernel=f"{platform.system()} {platform.release()}",
        disk="; ".join(named) or hardware.disk_text(),
        confinement=confinement,
        instance_type=_instance_type(),
        endpoint=place.bucket.endpoint(),
        usd_per_hour=options.usd_per_hour,
    )


def _on_this_machine(sweep: SweepInput, confinement: Confinement) -> SweepInput:
    """*sweep* with the machine's memory as its only size, unless memory can be limited here."""
    memory_mb = hardware.memory_mb()
    if confinement is Confinement.NONE:
        settings = (replace(setting, memory_mb=memory_mb) for setting in sweep.settings)
        return replace(sweep, settings=tuple(dict.fromkeys(settings)))
    for wanted_mb in sweep.memory_mb:
        if wanted_mb > memory_mb:
            raise BadSweep(
                FieldPlace("memory_mb"),
                f" is {wanted_mb}, more than the {memory_mb} MB of this machine: lower it, or "
                "measure without limits with --confine none",
            )
    return sweep


def _instance_type() -> str | None:
    """The type of this EC2 instance, for example ``c7g.large``.

    None if the metadata service (IMDSv2) does not answer.
    """
    if os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        return None
    address = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", _ADDRESS).rstrip("/")
    if not address.startswith("http://"):
        return None
    try:
        token = _answer(f"{address}/latest/api/token", "PUT", _LIFETIME)
        return _answer(
            f"{address}/latest/meta-data/instance-type", "GET", {"X-aws-ec2-metadata-token": token}
        )
    except (OSError, ValueError):  # HTTP errors are OSErrors
        return None


def _answer(url: str, method: str, headers: dict[str, str]) -> str:
    import urllib.request  # noqa: PLC0415 - takes 30 ms

    request = urllib.request.Request(url, method=method, headers=headers)  # noqa: S310 - http, as checked
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the link-local address
    with opener.open(request, timeout=_METADATA_SECONDS) as response:
        text: str = response.read(200).decode("ascii")
    if not text.isprintable():
        raise ValueError("not the answer of the metadata service")
    return text
