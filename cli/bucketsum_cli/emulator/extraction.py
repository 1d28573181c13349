"""Extraction of the archives with functions and layers; each is extracted once.

ministack extracts a function's code and its layers again for every worker. The layer has more than
a thousand files, so that would take most of the emulator's CPU time in a sweep.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from threading import Lock
from zipfile import ZipFile


def extract_once(folder: Path) -> None:
    """Let `ZipFile.extractall` extract each archive once, into *folder*, and create links to it.

    The links are to the top-level entries. Workers only read there, as they do on Lambda. After an
    extraction that failed, nothing is kept.
    """
    extract_all, lock = ZipFile.extractall, Lock()

    def extracted(archive: ZipFile) -> Path:
        with Path(archive.filename or "").open("rb") as file:
            target = folder / hashlib.file_digest(file, "sha256").hexdigest()
        if not target.exists():
            incomplete = target.with_suffix(".incomplete")
            shutil.rmtree(incomplete, ignore_errors=True)
            extract_all(archive, incomplete)
            incomplete.rename(target)
        return target

    def link_all(archive: ZipFile, path: str) -> None:
        with lock:
            source = extracted(archive)
        for entry in source.iterdir():
            Path(path, entry.name).symlink_to(entry)

    ZipFile.extractall = link_all  # type: ignore[method-assign,assignment] # with fewer parameters
