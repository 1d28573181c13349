"""All samples of an experiment: its data sets, and a sandbox for each memory size.

The data sets stand in the folder that the sandbox's S3 serves.
"""

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bench.sandbox.objects import BUCKET, written
from bench.sandbox.profiles import Profile
from bench.sandbox.server import FOLDER, serving
from bench.workloads.experiments import Experiment
from bucketsum_cli.machine.proxy import LINK_MBIT_PER_S
from bucketsum_cli.tune.here.process import Configuration, Processes
from bucketsum_cli.tune.workloads import add_programs, view_of
from bucketsum_lab.plan.generated_objects import SHA1_METADATA, known_object
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import Plan, plan_of
from bucketsum_lab.protocol.objects import DataFile, PlannedObject, file_key
from bucketsum_lab.protocol.probe import KnownObject
from bucketsum_lab.protocol.samples import Sample
from bucketsum_lab.protocol.workload import DataSetWorkload, Workload
from bucketsum_lab.workloads import WORKLOADS

STORAGE_MB: Final = 10_240
"""Of the cells' plan; the sandbox does not limit the disk."""


def plan(experiment: Experiment) -> Plan:
    """The cells and rounds of the experiment's sweep.

    Raises:
        BadSweep: Its input is wrong.
    """
    sweep = SweepInput.from_json(experiment.sweep)
    add_programs(sweep.workload)
    return plan_of(sweep, storage_mb=STORAGE_MB)


def samples_of(experiment: Experiment, planned: Plan) -> Iterator[Sample]:
    """Measure the plan's rounds in order."""
    objects, workload = FOLDER / "objects", WORKLOADS[planned.sweep.workload]
    programs = view_of(planned.sweep.workload).programs
    known = [ensured(objects, objects_of_size, workload) for objects_of_size in planned.objects]
    for memory_mb, rounds in planned.rounds.items():
        profile = Profile(
            experiment.name,
            memory_mb,
            LINK_MBIT_PER_S,
            known[0]["size_bytes"],
            experiment.burst_bytes,
        )
        refill_seconds = profile.burst_bytes / profile.link_bytes_per_s
        with serving(profile, objects) as (sandbox, server, folder):
            configuration = Configuration(
                memory_mb,
                folder / "prober",
                server.client_environment(folder),
                sandbox.roots,
                experiment.limits_cpu,
                programs,
                sandbox.inside([]),
            )
            with Processes(configuration) as processes:
                for index, repetition in rounds:
                    cell = planned.cells[index]
                    time.sleep(refill_seconds)
                    place = {"bucket": BUCKET, "workload": planned.sweep.workload}
                    event = {**cell.event, **known[cell.number], **place}
                    yield from processes.samples(event, repetition)


def ensured(root: Path, planned: PlannedObject, workload: Workload) -> KnownObject:
    """The planned object below *root*, a folder of buckets; made now unless it was made before.

    As in the sweep's bucket, a data set has the files of the planned parts.
    """
    bucket = root / BUCKET
    files: Iterable[DataFile] = ()
    if isinstance(workload, DataSetWorkload):
        files = workload.files_of(planned.size_bytes, planned.parts)
    for file in files:
        path = bucket / file_key(planned.key, file.name)
        if not (path.exists() and path.stat().st_size == file.size_bytes):
            written(path, file.chunks())
    facts = root / "data-sets" / f"{planned.key.replace('/', '-')}.json"
    if facts.exists():
        known: KnownObject = json.loads(facts.read_text())
        return known
    generated = workload.generate(planned.size_bytes)
    sha1 = written(bucket / planned.key, generated.chunks())
    metadata = {SHA1_METADATA: sha1, **generated.metadata}
    known = known_object(planned.key, planned.size_bytes, metadata, workload)
    facts.parent.mkdir(parents=True, exist_ok=True)
    facts.write_text(json.dumps(known))
    return known
