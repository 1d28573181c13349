"""Extraction of the archives with functions and layers; each is extracted once.

ministack extracts a function's code and its layers again for every worker. The layer has more than
a thousand files, so that would take most of the emulator's CPU time in a sweep.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zipfile import ZipFile


@dataclass(frozen=True, slots=True)
class Extraction:
    """Extracted archives, by SHA-256; each archive is a file.

    Attributes:
        folder: Folder for all of them; workers only read there, as they do on Lambda.
        extract_all: `ZipFile.extractall`.
    """

    folder: Path
    extract_all: Callable[[ZipFile, Path], None]
    _lock: Lock = field(default_factory=Lock)

    def link(self, archive: ZipFile, path: Path) -> None:
        """Create symbolic links in the folder *path* to the top-level entries of *archive*.

        Raises:
            OSError, BadZipFile: As `ZipFile.extractall`; nothing is kept.
        """
        with self._lock:
            extracted = self._extracted(archive)
        for entry in extracted.iterdir():
            (path / entry.name).symlink_to(entry)

    def _extracted(self, archive: ZipFile) -> Path:
        with Path(archive.filename or "").open("rb") as file:
            extracted = self.folder / hashlib.file_digest(file, "sha256").hexdigest()
        if not extracted.exists():
            incomplete = extracted.with_suffix(".incomplete")
            shutil.rmtree(incomplete, ignore_errors=True)
            self.extract_all(archive, incomplete)
            incomplete.rename(extracted)
        return extracted
