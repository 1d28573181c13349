"""The views of a snapshot and their columns, for docs/how-to/ask-questions.md."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, get_type_hints

from bench.tables.document import rows_of

from bucketsum.algorithms import ALGORITHMS
from bucketsum.table.state import ObjectState
from bucketsum_cli.objects.recorded_row import RecordedRow
from bucketsum_cli.snapshots.folder import Snapshot
from bucketsum_cli.snapshots.tables import VIEWS, open_snapshot
from bucketsum_cli.terminal.documents import Moment

_TYPES: Final = {"VARCHAR": "text", "BIGINT": "integer", "DOUBLE": "number", "BOOLEAN": "boolean"}
_MEANINGS: Final = {
    **{
        name: f"{algorithm.label}, in lower-case hexadecimal."
        for name, algorithm in ALGORITHMS.items()
    },
    "crc32": "CRC-32, 8 hexadecimal digits; of a member, the archive's own.",
    "status": "`hashed`, `unreadable`, `damaged`; of current objects also `not recorded`; of "
    "deletions also `not_hashed`; of samples `ok` or `failed`.",
    "deleted_at": "When S3 deleted this version; 1970 if another program changed the time.",
    "remarks": "Oddities of a member's name, or of an archive, in one text.",
    "state": ", ".join(f"`{state}`" for state in ObjectState if state != ObjectState.HIDDEN)
    + ": all that is known of the version.",
    "is_current": "Whether a GET of the key returns it, as far as is known.",
    "present": "Whether the version exists: by the listing, else by its deletion.",
    "latest": "Whether a GET of the key returns this version; null if not listed.",
    "storage_class": "Its storage class; null if not listed.",
    "run_id": "Name of a sweep.",
    "cell_id": "Name of a cell in it.",
    "repetition": "Number of the repetition.",
    "invocation": "Number of the invocation in it.",
    "measured_at": "When it was measured.",
    "error": "Error of a failed sample.",
    "cause": "Why a cell has no samples.",
    "seconds": "Time of the work.",
    "cpu_seconds": "CPU time of it.",
    "max_rss_bytes": "Peak memory.",
    "cold": "Whether the invocation was a cold start.",
    "billed_ms": "Billed time.",
    "init_ms": "Time of the initialization.",
    "attributes": "All values of the item, as JSON.",
    "concurrency": "Invocations at the same time.",
    "object_bytes": "Size of the cell's object.",
    "failed": "Failed invocations.",
    "warm_samples": "Warm samples.",
    "cold_samples": "Cold samples.",
    "mean_seconds": "Mean time of warm samples.",
    "usd_per_gb": "Price of 10⁹ bytes.",
    "best": "Whether it is the fastest of its object.",
}


def views() -> str:
    """Return a table for each view: its columns, their types and meanings."""
    hints = get_type_hints(RecordedRow, localns={"Moment": Moment}, include_extras=True)
    shared = {n: h.__metadata__[0] for n, h in hints.items() if hasattr(h, "__metadata__")}
    meanings = shared | _MEANINGS
    with TemporaryDirectory() as folder:
        database = open_snapshot(Snapshot(Path(folder), "", "", "", "", "", "", "scan"))
        parts = []
        for view in VIEWS:
            columns = database.engine.run(f"DESCRIBE {view}").records()
            rows = [(f"`{c['column_name']}`", _TYPES.get(c["column_type"], "time"),
                     meanings[c["column_name"]]) for c in columns]  # fmt: skip
            parts.append(f"### {view}\n\n{rows_of(('column', 'type', 'meaning'), rows)}")
        database.local.close()
    return "\n".join(parts)
