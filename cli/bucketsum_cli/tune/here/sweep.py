"""A sweep on this machine, in place of the state machine and its functions."""

from __future__ import annotations

import platform
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bucketsum.clock import now
from bucketsum_cli.aws.errors import AWS_ERRORS, explained
from bucketsum_cli.terminal.unexpected import sentence_of
from bucketsum_cli.tune.here.process import Configuration, Processes
from bucketsum_cli.tune.machine import Confinement, Machine
from bucketsum_cli.tune.plan_view import plan_as_json
from bucketsum_cli.tune.workloads import view_of
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.protocol.run_records import RUNTIME, Run, RunLabel, RunStatus
from bucketsum_lab.results.summary import ExecutionEnd, summarize
from bucketsum_lab.workloads import WORKLOADS

if TYPE_CHECKING:
    from bucketsum_cli.tune.here.place import Place
    from bucketsum_lab.plan.plan import Plan
    from bucketsum_lab.protocol.measuring import MachinePrice
    from bucketsum_lab.protocol.samples import Sample

_PREFIX = "bucketsum-here-"


@dataclass(frozen=True, slots=True)
class HereSweep:
    """A planned sweep, and everything that it needs.

    Attributes:
        fields: The input, as its sender wrote it.
        roots: Folders for control groups; None without limits.
    """

    run_id: str
    fields: Mapping[str, Any]
    plan: Plan
    machine: Machine
    price: MachinePrice
    place: Place
    roots: Mapping[str, str] | None

    @property
    def estimated_seconds(self) -> float:
        """Estimated duration, with Lambda's network and CPU share."""
        return self.plan.generating_seconds + self.plan.probing_seconds

    @property
    def estimated_usd(self) -> float | None:
        """Cost of the machine in that time; None if its price is not known."""
        return self.price.invocation_usd(self.estimated_seconds * 1000, 0)

    def to_json(self) -> dict[str, Any]:
        """The plan's numbers, as the command prints them."""
        document = plan_as_json(self.plan, self.estimated_seconds, self.estimated_usd)
        return {**document, "machine": asdict(self.machine)}

    def samples(self) -> Generator[Sample]:
        """Measure; yields each sample as it is recorded, and records the end of the run.

        A sweep that is broken off, by an error or with Ctrl-C, has its end recorded too.
        """
        cells = [cell.row for cell in self.plan.cells]
        samples: list[Sample] = []
        for cell in cells:
            self.place.store.record_cell(self.run_id, cell)
        run = self.plan.recorded_in(self._begun())
        self.place.store.record_run(run)
        end = ExecutionEnd(RunStatus.STOPPED, "stopped")
        try:
            for sample in self._measured():
                self.place.store.record_sample(self.run_id, sample)
                samples.append(sample)
                yield sample
            end = ExecutionEnd()
        except BadSweep as error:
            end = ExecutionEnd(RunStatus.FAILED, str(error))
        except AWS_ERRORS as error:
            end = ExecutionEnd(RunStatus.FAILED, explained(error).message)
        except OSError as error:
            end = ExecutionEnd(RunStatus.FAILED, sentence_of(error))
        finally:
            ended, rows = summarize(run, cells, samples, self.price, end, now())
            for row in rows:
                self.place.store.record_cell(self.run_id, row)
            self.place.store.record_run(ended)

    def _begun(self) -> Run:
        return Run(
            run_id=self.run_id,
            status=RunStatus.RUNNING,
            started_at=now(),
            region=self.place.region,
            architecture={"aarch64": "arm64"}.get(platform.machine(), platform.machine()),
            runtime=RUNTIME,
            label=RunLabel.HERE,
            machine=asdict(self.machine),
            input=self.fields,
            price_date=self.price.date,
        )

    def _measured(self) -> Iterator[Sample]:
        """Make the objects, then measure in the order of the state machine."""
        plan, bucket = self.plan.to_json(), self.place.bucket
        workload = WORKLOADS[self.plan.sweep.workload]
        objects = [
            bucket.objects.known(planned, workload, bucket.prefix) for planned in plan["objects"]
        ]
        with ExitStack() as temporary:
            folders = {
                disk: Path(
                    temporary.enter_context(
                        TemporaryDirectory(prefix=_PREFIX, dir=disk, ignore_cleanup_errors=True)
                    )
                )
                for disk in dict.fromkeys(setting.disk for setting in self.plan.sweep.settings)
            }
            for version in plan["versions"]:
                with ExitStack() as running:
                    processes = {
                        disk: running.enter_context(
                            Processes(self._configuration(version["memory_mb"], folder, number))
                        )
                        for number, (disk, folder) in enumerate(folders.items(), start=1)
                    }
                    for index, repetition in version["rounds"]:
                        cell = version["cells"][index]
                        event = {
                            **cell,
                            **objects[cell["object"]],
                            "bucket": bucket.name,
                            "workload": plan["workload"],
                        }
                        yield from processes[cell.get("disk")].samples(event, repetition)

    def _configuration(self, memory_mb: int, folder: Path, disk_number: int) -> Configuration:
        return Configuration(
            memory_mb=memory_mb,
            folder=folder / f"{memory_mb}-{disk_number}",  # also the name of a control group
            environment=self.place.environment,
            roots=self.roots,
            limits_cpu=self.machine.confinement is Confinement.LAMBDA,
            programs=view_of(self.plan.sweep.workload).programs,
        )
