"""The layer's compiled files load on Amazon Linux 2023, whatever machine they were built on."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from tests.build.artifacts import Built

GLIBC: Final = (2, 34)
"""Of Amazon Linux 2023."""

SYSTEM: Final = re.compile(
    r"(libc|libm|libdl|libpthread|libresolv|librt|libz|ld-linux-(aarch64|x86-64))\.so\.\d"
)
"""Libraries that it has in each of its images."""


def dynamic(file: Path) -> str:
    """The needs of the file, where it looks for it, and the versions of its symbols."""
    if not shutil.which("readelf"):
        pytest.skip("readelf (binutils) is not installed")
    command = ["readelf", "--wide", "--dynamic", "--version-info", str(file)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def faults_of(file: Path, text: str) -> list[str]:
    """The reasons that keep the file from loading."""
    versions = [
        (int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", text)
    ]
    needed = re.findall(r"\(NEEDED\).*\[(.*)]", text)
    folders = [
        file.parent / folder.replace("$ORIGIN", ".")
        for folders in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)]", text)
        for folder in folders.split(":")
    ]
    faults = [f"GLIBC_{major}.{minor}" for major, minor in versions if (major, minor) > GLIBC]
    faults += [f"looks in {folder}" for folder in folders if not folder.is_dir()]
    return faults + [
        f"needs {name}"
        for name in needed
        if not SYSTEM.fullmatch(name) and not any((folder / name).is_file() for folder in folders)
    ]


def test_compiled_files_need_nothing_that_the_runtime_lacks(built: Built) -> None:
    """No newer glibc, no library of the machine that built them, no folder outside the layer."""
    files = [file for file in built.layer.rglob("*") if ".so" in file.suffixes]
    assert len(files) > 20
    faults = {str(file.relative_to(built.layer)): faults_of(file, dynamic(file)) for file in files}
    assert {file: fault for file, fault in faults.items() if fault} == {}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("  0x0010:   Name: GLIBC_2.38  Flags: none  Version: 3", "GLIBC_2.38"),
        (" 0x1 (NEEDED)  Shared library: [libssl.so.3]", "needs libssl.so.3"),
        (" 0x1d (RUNPATH)  Library runpath: [/opt/build/lib]", "looks in /opt/build/lib"),
    ],
)
def test_a_planted_fault_is_found(line: str, fault: str, tmp_path: Path) -> None:
    """The check above would notice each kind."""
    assert faults_of(tmp_path / "some.so", line) == [fault]
