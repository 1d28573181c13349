"""Real files for the demonstration: the installed packages, and files with odd names."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import tarfile
from pathlib import Path
from typing import Final

from bucketsum_cli.errors import CannotDoError

ENOUGH_FILES: Final = 30
ENOUGH_BYTES: Final = 500_000_000

_MOST_TURNS: Final = 100  # an environment of 5 MB would do
ODD_NAMES: Final = (
    "a name with spaces.txt",
    "1+1=2.txt",
    "100%25 sure.txt",
    "naïve café.txt",
    "日本語/ファイル.txt",
)


def gather(folder: Path, environment: Path | None = None) -> None:
    """Fill *folder* once with at least `ENOUGH_FILES` files of `ENOUGH_BYTES` in all.

    They are the wheels of *environment* (by default the running one), one archive of its files
    (a multipart upload), an empty file, and texts with names that need care.

    Raises:
        CannotDoError: There are no wheels: the environment was not made by ``make setup``.
    """
    environment = environment or Path(sys.prefix)
    wheels = sorted(environment.glob("wheels/*.whl"))
    if not wheels:
        raise CannotDoError(
            f"{environment} has no wheels for the demonstration; run the demonstration through "
            "`make demo` in a clone of bucketsum"
        )
    ready = folder.with_suffix(".ready")
    if ready.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    for wheel in wheels:
        _link(wheel, folder / "wheels" / wheel.name)
    for name in ODD_NAMES:
        _text(folder / "odd names" / name)
    (folder / "empty").touch()
    wheel_bytes = sum(wheel.stat().st_size for wheel in wheels)
    _archive(environment, folder / "environment.tar", ENOUGH_BYTES - wheel_bytes)
    ready.touch()


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copyfile(source, target)


def _text(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"The name of this file is {path.name}\n", encoding="utf-8")


def _archive(environment: Path, target: Path, wanted_bytes: int) -> None:
    """Archive the installed files repeatedly until the file has *wanted_bytes*."""
    files = [path for path in sorted(environment.glob("lib/**/*")) if path.is_file()]
    with tarfile.open(target, "w") as archive:
        for turn, path in itertools.product(range(_MOST_TURNS), files):
            if archive.offset >= wanted_bytes:
                return
            archive.add(path, arcname=f"{turn}/{path.relative_to(environment)}")
