"""Builder of the program ``java-transfer-manager``, from Java's transfer manager for S3."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from bench.maven import CACHE, ProgramUnavailableError, fetched
from bucketsum_cli.terminal import output
from bucketsum_cli.tune.workloads.transfer.transfer_manager import PROGRAM

COORDINATES: Final = "software.amazon.awssdk:s3-transfer-manager:2.57.8"
"""Without AWS CRT, which is another artifact: the client is the one in Java."""

_SOURCE: Final = Path(__file__).with_name("TransferManager.java")


def built() -> Path:
    """Folder with the program, to be put on PATH.

    Raises:
        ProgramUnavailableError: A tool of Java is missing, or Maven could not fetch the SDK.
    """
    libraries = fetched(PROGRAM, COORDINATES)
    folder = CACHE / PROGRAM / "bin"
    folder.mkdir(exist_ok=True)
    if not (compiler := shutil.which("javac")):
        raise ProgramUnavailableError(f"{PROGRAM} needs javac, which is not on PATH")
    quick = ("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none")
    command = [compiler, *quick, "-classpath", f"{libraries}/*", "-d", str(folder), str(_SOURCE)]
    subprocess.run(command, check=True)  # noqa: S603 - the project's own source
    program = folder / PROGRAM
    path = f"{folder}:{libraries}/*"
    program.write_text(f'#!/bin/sh\nexec java -classpath "{path}" {_SOURCE.stem} "$@"\n')
    program.chmod(0o755)
    return folder


if __name__ == "__main__":
    output.print_text(str(built()))
