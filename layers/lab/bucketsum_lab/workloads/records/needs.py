"""Reasons why a cell cannot run: too few records, too little disk or memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bucketsum.memory import BASE_MEMORY_BYTES
from bucketsum_lab.protocol.objects import disk_refusal
from bucketsum_lab.protocol.parameters import Value
from bucketsum_lab.workloads.records.data_set import RECORD_BYTES_MAX, DataSet
from bucketsum_lab.workloads.records.index import ENTRY_BYTES
from bucketsum_lab.workloads.records.layouts import (
    IN_FLIGHT_BYTES,
    IN_PARTITIONS,
    MIB,
    ON_DISK,
    WITH_INDEX,
    RecordLayout,
)

_DISK_SHARE: Final = 1.45
"""Size of the largest file on /tmp over that of the records: padding and dictionary."""
_READ_BYTES: Final = 500
"""Memory for each record that is requested: its id, its span, its time."""
_DICTIONARY_BYTES: Final = 250
"""Memory for each record of a block file: the dictionary, and the ids while it is written."""


def refusal(
    own: Mapping[str, Value], size_bytes: int, memory_mb: int, storage_mb: int
) -> str | None:
    """The reason why a cell with the values *own*, by field, cannot run; None if it can."""
    layout, reads = RecordLayout(str(own["layout"])), int(own["reads"])
    records = DataSet(size_bytes).records
    if reads > records:
        return f"reads is {reads}; a data set of {size_bytes} bytes has {records} records"
    if layout in IN_PARTITIONS and int(own["objects"]) > records:
        return (
            f"objects is {own['objects']}; a data set of {size_bytes} bytes has {records} records"
        )
    if layout == RecordLayout.TMP_BLOCK and int(own["block_bytes"]) % RECORD_BYTES_MAX:
        return (
            f"block_bytes is {own['block_bytes']}; the block size of a block file is a multiple "
            f"of {RECORD_BYTES_MAX}"
        )
    if layout in ON_DISK:
        reason = f"layout is {layout}; a data set of {size_bytes} bytes"
        if refused := disk_refusal(reason, round(size_bytes * _DISK_SHARE), storage_mb):
            return refused
    needed_mb = -(-_memory_bytes(layout, own, size_bytes, records) // MIB)
    if needed_mb > memory_mb:
        return f"layout is {layout}; it needs some {needed_mb} MB of memory, there are {memory_mb}"
    return None


def _memory_bytes(
    layout: RecordLayout, own: Mapping[str, Value], size_bytes: int, records: int
) -> int:
    """The estimated peak of memory."""
    held = BASE_MEMORY_BYTES + int(own["reads"]) * _READ_BYTES
    if layout in WITH_INDEX:
        held += 2 * records * ENTRY_BYTES
    match layout:
        case RecordLayout.WHOLE:
            held += size_bytes
        case RecordLayout.PARTITIONED:
            in_flight = min(int(own["connections"]), int(own["objects"]))
            held += 2 * in_flight * size_bytes // int(own["objects"])
        case RecordLayout.TMP_BLOCK:
            held += records * _DICTIONARY_BYTES
        case RecordLayout.RANGE:
            held += 2 * min(int(own["connections"]) * int(own["block_bytes"]), size_bytes)
        case RecordLayout.COALESCED:
            held += 2 * min(IN_FLIGHT_BYTES, size_bytes)
    return held
