"""DynamoDB Local, an oracle made by AWS: fetched once, started for a session."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from tests.support.servers import reserved_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERSION: Final = "2.6.1"
CACHE: Final = Path(__file__).parents[3] / ".bucketsum" / "dynamodb-local"
LOOPBACK_SERVER: Final = Path(__file__).with_name("LoopbackServer.java")
COPY_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
FETCH_SECONDS: Final = 300
START_SECONDS: Final = 200

_SHORT_LIVED: Final = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of a JVM that lives for seconds: compiling its code further would take longer."""

_POM: Final = f"""\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>bucketsum</groupId>
  <artifactId>dynamodb-local</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.amazonaws</groupId>
      <artifactId>DynamoDBLocal</artifactId>
      <version>{VERSION}</version>
    </dependency>
  </dependencies>
</project>
"""


class OracleUnavailableError(Exception):
    """This machine cannot run DynamoDB Local; the text says why."""


def fetched() -> Path:
    """The folder with DynamoDB Local's libraries.

    Raises:
        OracleUnavailableError: There is no Java or no Maven, or Maven could not fetch it.
    """
    for program in ("java", "mvn"):
        if not shutil.which(program):
            raise OracleUnavailableError(f"DynamoDB Local needs {program}, which is not on PATH")
    libraries = CACHE / VERSION
    if not libraries.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            _fetch(Path(folder))
            _keep(Path(folder, "lib"), libraries)
    return libraries


def _fetch(folder: Path) -> None:
    (folder / "pom.xml").write_text(_POM)
    command = ["mvn", "--batch-mode", "--quiet", COPY_GOAL, "-DoutputDirectory=lib"]
    try:
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True, timeout=FETCH_SECONDS
        )
    except subprocess.CalledProcessError as error:
        output = (error.stdout + error.stderr).strip().splitlines()[:1]
        raise OracleUnavailableError(f"Maven could not fetch DynamoDB Local: {output}") from error
    except subprocess.TimeoutExpired as error:
        raise OracleUnavailableError(f"Maven took over {FETCH_SECONDS} s to fetch it") from error


def _keep(folder: Path, libraries: Path) -> None:
    """Rename in one step: a test run beside this one sees all of it or nothing."""
    try:
        folder.rename(libraries)
    except OSError:
        if not libraries.is_dir():  # else the other one was faster
            raise


@contextmanager
def started(libraries: Path, log: Path) -> Iterator[str]:
    """Run it in memory; yields its endpoint.

    Raises:
        OracleUnavailableError: It did not start; the text ends with what it wrote.
    """
    command = ["java", *_SHORT_LIVED, f"-Dsqlite4java.library.path={libraries}"]
    command += ["-cp", f"{libraries}/*", str(LOOPBACK_SERVER)]
    command += ["-inMemory", "-disableTelemetry", "-port"]
    with reserved_port() as port:
        yield from _serving(command, port, log)


def _serving(command: Sequence[str], port: int, log: Path) -> Iterator[str]:
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*command, str(port)],
            cwd=log.parent,
            env=os.environ | {"DDB_LOCAL_TELEMETRY": "0"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    endpoint = f"http://127.0.0.1:{port}"
    try:
        _wait_for(endpoint, server, log)
        yield endpoint
    finally:
        server.kill()
        server.wait()


def _wait_for(endpoint: str, server: subprocess.Popen[bytes], log: Path) -> None:
    client = boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        config=Config(connect_timeout=2, read_timeout=10, retries={"total_max_attempts": 1}),
    )
    give_up = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < give_up:
        try:
            client.list_tables()
        except BotoCoreError:
            time.sleep(0.1)
        else:
            return
    raise OracleUnavailableError(f"DynamoDB Local did not start: {log.read_text()[-500:]}")
