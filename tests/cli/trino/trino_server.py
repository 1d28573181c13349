"""A real Trino, the engine that Athena is, over files of a folder."""

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

SERVER: Final = "BUCKETSUM_TRINO"
"""The variable with the folder of Trino's release, whose `plugin` has `hive` alone."""
_JAVA_LEAST: Final = 24
_START_SECONDS: Final = 300
_HEAP: Final = "2G"
METASTORE: Final = "metastore"
CATALOGS: Final = {
    "hive": {"hive.metastore": "file", "hive.non-managed-table-writes-enabled": "true"},
    "s3tablescatalog/aws-s3": {"iceberg.catalog.type": "TESTING_FILE_METASTORE"},
}
"""Besides the settings of all: Athena's own, and that of S3 Metadata's tables, of Iceberg."""


class TrinoError(Exception):
    """Trino refuses a statement."""


def java() -> Path | None:
    """A Java that runs Trino: JAVA_HOME's, the one on PATH, or one of the usual folder."""
    homes = [Path(os.environ.get("JAVA_HOME", "/nowhere")), *Path("/usr/lib/jvm").glob("*")]
    programs = [home / "bin" / "java" for home in homes]
    programs += [Path(path)] if (path := shutil.which("java")) else []
    there = (path for path in programs if path.exists())
    return next((path for path in there if _version(path) >= _JAVA_LEAST), None)


def _version(path: Path) -> int:
    ended = subprocess.run([path, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(\d+)', ended.stderr)
    return int(match[1]) if match else 0


class Trino:
    """A server; its catalog has the schema ``snapshot`` over the files below *folder*."""

    def __init__(self, port: int, folder: Path) -> None:
        self.folder = folder
        self._url = f"http://127.0.0.1:{port}/v1/statement"

    def run(self, sql: str) -> tuple[list[tuple[str, str]], list[list[str | None]]]:
        """Run a statement; returns names and types of its columns, and its rows as texts.

        Raises:
            TrinoError: It is refused, or the server does not answer.
        """
        headers = {
            "X-Trino-User": "test", "X-Trino-Catalog": "hive", "X-Trino-Schema": "snapshot",
            "X-Trino-Time-Zone": "UTC",
        }  # fmt: skip
        columns: list[tuple[str, str]] = []
        rows: list[list[str | None]] = []
        request = urllib.request.Request(self._url, sql.encode(), headers)  # noqa: S310 - http
        while True:
            with urllib.request.urlopen(request) as body:  # noqa: S310 - http
                answer = json.load(body)
            if "error" in answer:
                raise TrinoError(f"{answer['error']['message']} in {sql}")
            if "columns" in answer:
                columns = [(column["name"], column["type"]) for column in answer["columns"]]
            rows += ([*map(_text, row)] for row in answer.get("data", ()))
            if "nextUri" not in answer:
                return columns, rows
            request = urllib.request.Request(answer["nextUri"], headers=headers)  # noqa: S310 - http


def _text(value: Any) -> str | None:  # noqa: ANN401 - JSON
    """A *value* of Trino's answer, as Athena writes it."""
    return str(value).lower() if isinstance(value, bool) else None if value is None else str(value)


@contextmanager
def trino_server(java: Path, release: Path, folder: Path) -> Iterator[Trino]:
    """Run the *release* with files in *folder* during the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    lake = folder / "lake"
    settings = {
        "node.environment": "test", "node.id": "test", "node.internal-address": "127.0.0.1",
        "node.bind-ip": "127.0.0.1", "coordinator": "true",
        "node-scheduler.include-coordinator": "true", "http-server.http.port": port,
        "discovery.uri": f"http://127.0.0.1:{port}", "plugin.dir": release / "plugin",
        "query.max-memory-per-node": "1GB", "catalog.management": "dynamic",
        "catalog.store": "memory",
    }  # fmt: skip
    file = folder / "etc" / "config.properties"
    file.parent.mkdir()
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    lake.mkdir()
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                java, f"-Xmx{_HEAP}", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError",
                "-Duser.timezone=UTC", "-Dconfig=etc/config.properties", "-cp",
                f"{release}/lib/*", "io.trino.server.TrinoServer",
            ],
            cwd=folder, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            trino = Trino(port, lake)
            _wait_for(trino, server)
            for name, own in CATALOGS.items():
                values = own | {
                    "hive.metastore.catalog.dir": f"local:///{METASTORE}",
                    "fs.native-local.enabled": "true", "local.location": str(lake),
                }  # fmt: skip
                options = ", ".join(f"\"{key}\" = '{value}'" for key, value in values.items())
                kind = "hive" if name == "hive" else "iceberg"
                trino.run(f'CREATE CATALOG "{name}" USING {kind} WITH ({options})')
            trino.run("CREATE SCHEMA snapshot")
            yield trino
        finally:
            server.terminate()
            server.wait()


def _wait_for(trino: Trino, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            trino.run("SELECT 1")
        except (OSError, TrinoError):
            time.sleep(1)
        else:
            return
    raise TimeoutError(f"Trino does not answer; see {trino.folder.parent / 'log'}")
