"""A trial: the files to transfer, and the preparations that are not measured."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bucketsum_lab.protocol.objects import file_key
from bucketsum_lab.protocol.probe import ProbeContext, ProbeEvent, object_at
from bucketsum_lab.workloads.transfer.clients import Access, Fetch, new_client
from bucketsum_lab.workloads.transfer.data_set import WARM_UP_CONTENT, WARM_UP_NAME, SetFile
from bucketsum_lab.workloads.transfer.model import (
    DRAIN_BYTES,
    PROGRAMS,
    ClientName,
    NetworkState,
    Pattern,
    Start,
)
from bucketsum_lab.workloads.transfer.schedule import threads_of, vcpus_of
from bucketsum_lab.workloads.transfer.sinks import FileSink

UNMEASURED_THREADS: Final = 4
"""Threads of the reads that are not measured."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A cell's event and its probe context, with the files to transfer."""

    event: ProbeEvent
    context: ProbeContext
    files: tuple[SetFile, ...]
    folder: Path

    @property
    def pattern(self) -> Pattern:
        """The pattern in which files start."""
        return Pattern.of(str(self.event["variant"]["pattern"]))

    @property
    def threads(self) -> int:
        """Maximum number of files at a time."""
        return threads_of(self.pattern, len(self.files), vcpus_of(self.context.policy.memory_mb))

    @property
    def runs_programs(self) -> bool:
        """Whether the client is a program."""
        return self.event["variant"]["client"] in PROGRAMS

    def new_client(self) -> AbstractContextManager[Fetch]:
        """See `clients.new_client` for the contract."""
        event = self.event
        region = self.context.s3.meta.region_name
        name = ClientName(str(event["variant"]["client"]))
        return new_client(name, Access(event["bucket"], region, self.context.policy, self.threads))

    def key_of(self, name: str) -> str:
        """The key of a file of the data set."""
        return file_key(self.event["key"], name)

    def chunks(self, file: SetFile) -> Iterable[bytes]:
        """The bytes of a file by the hasher's reader, outside the measured time."""
        created = object_at(self.event["bucket"], self.key_of(file.name), file.size_bytes)
        return self.context.source.open(created).chunks

    def warmed_client(self, clients: ExitStack) -> Fetch | None:
        """A client of *clients* that has read the warm-up object; None if clients start cold."""
        if self.event["variant"]["warm"] == Start.COLD:
            return None
        fetch = clients.enter_context(self.new_client())
        with closing(FileSink(self.folder / WARM_UP_NAME)) as sink:
            fetch(self.key_of(WARM_UP_NAME), len(WARM_UP_CONTENT), sink)
        return fetch

    def drained_bytes(self) -> int:
        """Use up the network burst, unless it is measured; returns the number of bytes read."""
        if self.event["variant"]["network"] == NetworkState.BURST:
            return 0
        drained = 0
        with ThreadPoolExecutor(UNMEASURED_THREADS) as pool:
            while drained < DRAIN_BYTES:
                drained += sum(pool.map(lambda file: sum(map(len, self.chunks(file))), self.files))
        return drained
