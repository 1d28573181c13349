"""Servers of tests that are programs of others: fetched once with Maven, run on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

CACHE: Final = Path(__file__).parents[2] / ".bucketsum"
COPY_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
FETCH_SECONDS: Final = 300
START_SECONDS: Final = 200

SHORT_LIVED: Final = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of a JVM that lives for seconds: compiling its code further would take longer."""

_POM: Final = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>bucketsum</groupId>
  <artifactId>{name}</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
    </dependency>
  </dependencies>
</project>
"""


class ServerUnavailableError(Exception):
    """This machine cannot run the server; the text says why."""


def fetched(name: str, coordinates: str) -> Path:
    """The folder with the libraries of `group:artifact:version`, of the program *name*.

    Raises:
        ServerUnavailableError: There is no Java or no Maven, or Maven could not fetch it.
    """
    for program in ("java", "mvn"):
        if not shutil.which(program):
            raise ServerUnavailableError(f"{name} needs {program}, which is not on PATH")
    group, artifact, version = coordinates.split(":")
    cache = CACHE / name
    libraries = cache / version
    if not libraries.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        pom = _POM.format(name=name, group=group, artifact=artifact, version=version)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            _fetch(name, pom, Path(folder))
            _keep(Path(folder, "lib"), libraries)
    return libraries


def _fetch(name: str, pom: str, folder: Path) -> None:
    (folder / "pom.xml").write_text(pom)
    command = ["mvn", "--batch-mode", "--quiet", COPY_GOAL, "-DoutputDirectory=lib"]
    try:
        subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True, timeout=FETCH_SECONDS
        )
    except subprocess.CalledProcessError as error:
        output = (error.stdout + error.stderr).strip().splitlines()[:1]
        raise ServerUnavailableError(f"Maven could not fetch {name}: {output}") from error
    except subprocess.TimeoutExpired as error:
        raise ServerUnavailableError(f"Maven took over {FETCH_SECONDS} s to fetch it") from error


def _keep(folder: Path, libraries: Path) -> None:
    """Rename in one step: a test run beside this one sees all of it or nothing."""
    try:
        folder.rename(libraries)
    except OSError:
        if not libraries.is_dir():  # else the other one was faster
            raise


@contextmanager
def running(
    command: Sequence[str],
    log: Path,
    answers: Callable[[], bool],
    variables: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Run *command* in the folder of its *log* from when it *answers* until the block ends.

    Raises:
        ServerUnavailableError: It did not start; the text ends with what it wrote.
    """
    with log.open("wb") as output:
        server = subprocess.Popen(
            command,
            cwd=log.parent,
            env={**os.environ, **(variables or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        if not _is_up(answers, server):
            raise ServerUnavailableError(f"{command[0]} did not start: {log.read_text()[-500:]}")
        yield
    finally:
        server.kill()
        server.wait()


def _is_up(answers: Callable[[], bool], server: subprocess.Popen[bytes]) -> bool:
    give_up = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < give_up:
        if answers():
            return True
        time.sleep(0.1)
    return False
