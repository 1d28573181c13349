"""Reader of a block file in Python, like `block_reader.cpp`: ``block_reader FILE IDS``."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

from bucketsum_lab.workloads.records.block_file import BlockFile
from bucketsum_lab.workloads.records.data_set import verify
from bucketsum_lab.workloads.records.measurement import Phase


def main(path: Path, ids: Path) -> None:
    """Read and verify the records of *ids*, one per line; print the times as JSON."""
    record_ids = [*map(int, ids.read_text().split())]
    load, fetch = Phase(), Phase()
    with load.timed():
        file = BlockFile(path)
    with closing(file), fetch.timed():
        for record_id in record_ids:
            verify(file.record(record_id), record_id)
    times = {
        "records": len(record_ids),
        "load_seconds": load.seconds,
        "load_cpu_seconds": load.cpu_seconds,
        "fetch_seconds": fetch.seconds,
        "fetch_cpu_seconds": fetch.cpu_seconds,
    }
    sys.stdout.write(json.dumps(times) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
