"""Programs in Java that others made: Maven fetches their libraries once."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

CACHE: Final = Path(__file__).parents[1] / ".bucketsum"
COPY_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
FETCH_SECONDS: Final = 300
_STARTS_FAST: Final = {"MAVEN_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""For a program of seconds, as Maven is here: optimizing its code would take half of them."""

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


class ProgramUnavailableError(Exception):
    """This machine cannot run the program; the text says why."""


def fetched(name: str, coordinates: str) -> Path:
    """The folder with the libraries of `group:artifact:version`, of the program *name*.

    Raises:
        ProgramUnavailableError: There is no Java or no Maven, or Maven could not fetch it.
    """
    for program in ("java", "mvn"):
        if not shutil.which(program):
            raise ProgramUnavailableError(f"{name} needs {program}, which is not on PATH")
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
        subprocess.run(  # noqa: S603 - a fixed list
            command, cwd=folder, check=True, capture_output=True, text=True,
            timeout=FETCH_SECONDS, env=_STARTS_FAST | os.environ,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        output = (error.stdout + error.stderr).strip().splitlines()[:1]
        raise ProgramUnavailableError(f"Maven could not fetch {name}: {output}") from error
    except subprocess.TimeoutExpired as error:
        raise ProgramUnavailableError(f"Maven took over {FETCH_SECONDS} s to fetch it") from error


def _keep(folder: Path, libraries: Path) -> None:
    """Rename in one step: a process beside this one sees all of it or nothing."""
    try:
        folder.rename(libraries)
    except OSError:
        if not libraries.is_dir():  # else the other one was faster
            raise
