"""The local emulator alone, without a stack: S3, Glue, and an Athena that runs on DuckDB."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.session import new_session
from bucketsum_cli.snapshots import athena

URL: Final = "s3://lists/athena"
_SECONDS: Final = 30
_ACCOUNT: Final = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
}


@contextmanager
def athena_server(folder: Path) -> Iterator[Connection]:
    """Run it, with a bucket for `URL`, during the block; clients of the environment reach it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "IOT_MTLS_ENABLED": "0",
        "TMPDIR": str(folder),
    }  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("wb") as log, pytest.MonkeyPatch.context() as patch:
        server = subprocess.Popen(
            [sys.executable, "-m", "ministack"], env={**os.environ, **settings}, cwd=folder,
            stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _wait_for(f"{address}/_ministack/ready")
            for name, value in (*_ACCOUNT.items(), ("AWS_ENDPOINT_URL", address)):
                patch.setenv(name, value)
            patch.setattr(athena, "_POLL_SECONDS", 0.02)
            connection = Connection(new_session())
            connection.client("s3").create_bucket(Bucket="lists")
            yield connection
        finally:
            server.terminate()
            server.wait()


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        with suppress(urllib.error.URLError), urllib.request.urlopen(address):  # noqa: S310 - http
            return
        time.sleep(0.05)
    raise TimeoutError(address)
