"""Objects and data sets of workloads in the folder that the sandbox's S3 serves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench.sandbox.objects import BUCKET
from bucketsum.digest import RunningDigest
from bucketsum_lab.plan.generated_objects import SHA1_METADATA
from bucketsum_lab.protocol.objects import file_key
from bucketsum_lab.protocol.workload import DataSetWorkload

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from bucketsum_lab.protocol.objects import DataFile, PlannedObject
    from bucketsum_lab.protocol.probe import KnownObject
    from bucketsum_lab.protocol.workload import Workload


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
            _write(path, file.chunks())
    facts = root / "data-sets" / f"{planned.key.replace('/', '-')}.json"
    if facts.exists():
        known: KnownObject = json.loads(facts.read_text())
        return known
    generated = workload.generate(planned.size_bytes)
    sha1 = _write(bucket / planned.key, generated.chunks())
    metadata = {SHA1_METADATA: sha1, **generated.metadata}
    known = {
        "key": planned.key,
        "size_bytes": planned.size_bytes,
        "sha1": sha1,
        "contents": workload.contents(planned.key, metadata),
    }
    facts.parent.mkdir(parents=True, exist_ok=True)
    facts.write_text(json.dumps(known))
    return known


def _write(path: Path, parts: Iterable[bytes]) -> str:
    """Write *parts*, and return their SHA-1."""
    path.parent.mkdir(parents=True, exist_ok=True)
    digest = RunningDigest()
    with path.open("wb") as file:
        file.writelines(digest.passing(parts))
    return digest.digest().sha1
