"""The transfer manager of AWS SDK for Java 2 as a client: a process for all files."""

from __future__ import annotations

import subprocess
import tempfile
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Final

from bucketsum.errors import SourceUnavailable
from bucketsum_lab.workloads.transfer.clients import Access, endpoint
from bucketsum_lab.workloads.transfer.sinks import FileSink

if TYPE_CHECKING:
    from bucketsum_lab.workloads.transfer.sinks import Sink

PROGRAM: Final = "java-transfer-manager"
"""Built by `bench.workloads.languages.transfer_manager`, from Java."""

_SHOWN_CHARACTERS: Final = 300


class TransferManagerClient:
    """Writes a line to the program for each file, and waits for the line that answers it."""

    def __init__(self, access: Access) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        address = [endpoint()] if endpoint() else []
        self._process = subprocess.Popen(  # noqa: S603 - a fixed list
            [PROGRAM, access.bucket, str(access.threads), *address],
            bufsize=0,  # each line is one write
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self._answers: dict[str, Future[str]] = {}
        self._reader = ThreadPoolExecutor(1)
        self._ended = self._reader.submit(self._read)

    def fetch(self, key: str, size_bytes: int, sink: Sink) -> None:  # noqa: ARG002 - as `Client`
        """Copy the object at *key* to the file of *sink*.

        Raises:
            SourceUnavailable: The program could not copy it, or has ended.
        """
        if not isinstance(sink, FileSink):
            raise TypeError("a program copies to files")
        answer = self._answers[str(sink.path)] = Future()
        with suppress(BrokenPipeError):  # it has ended: its log says why
            _pipe(self._process.stdin).write(f"{key}\t{sink.path}\n".encode())
        wait([answer, self._ended], return_when=FIRST_COMPLETED)
        error = answer.result() if answer.done() else f"it ended: {self._ended.result()}"
        if error:
            raise SourceUnavailable(f"{PROGRAM} could not copy {key}: {error[-_SHOWN_CHARACTERS:]}")

    def close(self) -> None:
        """End the program, and wait until it has."""
        _pipe(self._process.stdin).close()
        self._reader.shutdown()
        self._process.wait()
        _pipe(self._process.stdout).close()
        self._log.close()

    def _read(self) -> str:
        """Pass each answer on until the program ends; returns what it logged."""
        for line in _pipe(self._process.stdout):
            path, _, error = line.decode(errors="replace").strip("\n").partition("\t")
            self._answers.pop(path).set_result(error)
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101 - opened above
    return pipe
