"""Clients of transfers that are programs, most of them a process for each file."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Final

from bucketsum.errors import SourceUnavailable
from bucketsum_cli.tune.workloads.transfer import transfer_manager
from bucketsum_lab.workloads.transfer.clients import CLIENTS, Access, Fetch, endpoint
from bucketsum_lab.workloads.transfer.model import ClientName
from bucketsum_lab.workloads.transfer.sinks import FileSink, Sink

_SECONDS_MAX: Final = 800
_SHOWN_CHARACTERS: Final = 300
_PROGRAMS: Final = {
    ClientName.AWS_CLI: "aws",
    ClientName.S5CMD: "s5cmd",
    ClientName.RCLONE: "rclone",
}


def add() -> None:
    """Add the programs that are installed here to the clients of transfers."""
    for name, program in _PROGRAMS.items():
        if shutil.which(program):
            CLIENTS[name] = partial(_client, name)
    if shutil.which(transfer_manager.PROGRAM):
        CLIENTS[ClientName.JAVA_TRANSFER_MANAGER] = transfer_manager.transfer_manager


def _client(name: ClientName, access: Access) -> AbstractContextManager[Fetch]:
    """A program for each file: no connection stays open."""
    return nullcontext(partial(_copy, name, access))


def _copy(name: ClientName, access: Access, key: str, _size_bytes: int, sink: Sink) -> None:
    """Copy the object at *key* to the file of *sink*.

    Raises:
        SourceUnavailable: The program failed.
    """
    if not isinstance(sink, FileSink):
        raise TypeError("a program copies to files")
    done = subprocess.run(  # noqa: S603 - a fixed list; S3 keys stand behind s3://
        _command(name, access, key, str(sink.path)), env=_variables(name), timeout=_SECONDS_MAX,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    if done.returncode:
        text = done.stderr.decode(errors="replace").strip()[-_SHOWN_CHARACTERS:]
        raise SourceUnavailable(f"{name} ended with {done.returncode} for {key}: {text}")


def _variables(name: ClientName) -> dict[str, str]:
    """The environment of this process; for rclone, RCLONE_CA_CERT replaces AWS_CA_BUNDLE.

    Its SDK fails if AWS_CA_BUNDLE is set.
    """
    variables = dict(os.environ)
    if name == ClientName.RCLONE and "AWS_CA_BUNDLE" in variables:
        variables["RCLONE_CA_CERT"] = variables.pop("AWS_CA_BUNDLE")
    return variables


def _command(name: ClientName, access: Access, key: str, path: str) -> list[str]:
    source = f"s3://{access.bucket}/{key}"
    if name == ClientName.AWS_CLI:  # it reads the variables itself
        return ["aws", "s3", "cp", source, path, "--only-show-errors"]
    if name == ClientName.S5CMD:
        address = ["--endpoint-url", endpoint()] if endpoint() else []
        return ["s5cmd", *address, "cp", source, path]
    options = f"env_auth=true,region={access.region}"
    if endpoint():  # the provider AWS would put the bucket into the host's name
        options += f",provider=Other,force_path_style=true,endpoint='{endpoint()}'"
    else:
        options += ",provider=AWS"
    return ["rclone", "copyto", f":s3,{options}:{access.bucket}/{key}", path]
