"""The transfer manager of AWS SDK for Java 2 as a client: a process for all files."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import IO, Final

from bucketsum.errors import SourceUnavailable
from bucketsum_lab.workloads.transfer.clients import Access, Fetch, endpoint
from bucketsum_lab.workloads.transfer.sinks import FileSink, Sink

PROGRAM: Final = "java-transfer-manager"
"""Built by `bench.workloads.languages.transfer_manager`, from Java."""

_SHOWN_CHARACTERS: Final = 300


@contextmanager
def transfer_manager(access: Access) -> Iterator[Fetch]:
    """Write a line to the program for each file, and wait for the line that answers it.

    A file that the program could not copy, or that is left when it ends, is a SourceUnavailable.
    """
    address = [endpoint()] if endpoint() else []
    command = [PROGRAM, access.bucket, str(access.threads), *address]
    answers: dict[str, Future[str]] = {}
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(  # noqa: S603 - a fixed list
            command,
            bufsize=0,  # each line is one write
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
        ThreadPoolExecutor(1) as reader,
    ):
        assert process.stdin and process.stdout  # noqa: S101, PT018 - pipes
        lines = process.stdin
        ended = reader.submit(_read, process.stdout, answers, log)

        def fetch(key: str, _size_bytes: int, sink: Sink) -> None:
            if not isinstance(sink, FileSink):
                raise TypeError("a program copies to files")
            answer = answers[str(sink.path)] = Future()
            with suppress(BrokenPipeError):  # it has ended: its log says why
                lines.write(f"{key}\t{sink.path}\n".encode())
            wait([answer, ended], return_when=FIRST_COMPLETED)
            error = answer.result() if answer.done() else f"it ended: {ended.result()}"
            if error:
                shown = error[-_SHOWN_CHARACTERS:]
                raise SourceUnavailable(f"{PROGRAM} could not copy {key}: {shown}")

        with lines:  # its end is that of the program
            yield fetch


def _read(printed: IO[bytes], answers: dict[str, Future[str]], log: IO[bytes]) -> str:
    """Pass each answer on until the program ends; returns what it logged."""
    for line in printed:
        path, _, error = line.decode(errors="replace").strip("\n").partition("\t")
        answers.pop(path).set_result(error)
    log.seek(0)
    return log.read().decode(errors="replace").strip()
