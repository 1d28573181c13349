"""Programs that make zip archives, each with what it can make."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_GO: Final = """
package main
import ("archive/zip"; "io"; "os"; "path/filepath")
func main() {
    out, _ := os.Create(os.Args[1]); defer out.Close()
    w := zip.NewWriter(out)
    filepath.Walk(".", func(path string, info os.FileInfo, err error) error {
        if !info.Mode().IsRegular() { return nil }
        f, _ := w.Create(filepath.ToSlash(path)); in, _ := os.Open(path); defer in.Close()
        io.Copy(f, in); return nil
    })
    if w.Close() != nil { os.Exit(1) }
}
"""
_PYTHON: Final = """
import sys, zipfile, pathlib
with zipfile.ZipFile(sys.argv[1], "w", int(sys.argv[2])) as z:
    for p in sorted(pathlib.Path(".").rglob("*")): z.write(p)
"""


@dataclass(frozen=True, slots=True)
class Archiver:
    """One way to make an archive of the current folder.

    Attributes:
        command: With ``OUT`` for the archive; run in the folder.
        encrypted: Whether members need a password.
        pipe: Whether the archive comes from standard output.
    """

    command: tuple[str, ...]
    encrypted: bool = False
    pipe: bool = False

    @property
    def program(self) -> str:
        """The program that must be installed."""
        return self.command[0]

    def make(self, folder: Path, out: Path) -> None:
        """Archive *folder* as *out*."""
        command = [str(out) if part == "OUT" else part for part in self.command]
        if self.program == "go":
            source = out.with_suffix(".go")
            source.write_text(_GO)
            binary = out.with_suffix(".bin")
            build = ["go", "build", "-o", str(binary), str(source)]
            subprocess.run(build, check=True, cwd=out.parent)
            command = [str(binary), str(out)]
        done = subprocess.run(command, check=True, cwd=folder, capture_output=True)
        if self.pipe:
            out.write_bytes(done.stdout)


def _7z(*more: str) -> tuple[str, ...]:
    return ("7z", "a", "-tzip", *more, "OUT", ".")


ARCHIVERS: Final[Mapping[str, Archiver]] = {
    "infozip": Archiver(("zip", "-r", "OUT", ".")),
    "infozip-stored": Archiver(("zip", "-0", "-r", "OUT", ".")),
    "infozip-bzip2": Archiver(("zip", "-Z", "bzip2", "-r", "OUT", ".")),
    "infozip-streamed": Archiver(("zip", "-r", "-", "."), pipe=True),
    "infozip-zip64": Archiver(("zip", "-fz", "-r", "OUT", ".")),
    "infozip-encrypted": Archiver(("zip", "-P", "secret", "-r", "OUT", "."), encrypted=True),
    "infozip-symlinks": Archiver(("zip", "-y", "-r", "OUT", ".")),
    "7z-deflate": Archiver(_7z("-mm=Deflate")),
    "7z-deflate64": Archiver(_7z("-mm=Deflate64")),
    "7z-bzip2": Archiver(_7z("-mm=BZip2")),
    "7z-lzma": Archiver(_7z("-mm=LZMA")),
    "7z-aes": Archiver(_7z("-psecret", "-mem=AES256"), encrypted=True),
    "bsdtar": Archiver(("bsdtar", "--format", "zip", "-cf", "OUT", ".")),
    "bsdtar-streamed": Archiver(("bsdtar", "--format", "zip", "-cf", "-", "."), pipe=True),
    "bsdtar-stored": Archiver(
        ("bsdtar", "--format", "zip", "--options", "zip:compression=store", "-cf", "OUT", ".")
    ),
    "jar": Archiver(("jar", "cf", "OUT", ".")),
    "go": Archiver(("go",)),
    "python": Archiver((sys.executable, "-c", _PYTHON, "OUT", "8")),
    "python-lzma": Archiver((sys.executable, "-c", _PYTHON, "OUT", "14")),
}
