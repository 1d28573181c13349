"""Folders of the person's in which commands keep files, and the name of a stack by default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

HOME_VARIABLE: Final = "BUCKETSUM_HOME"
"""Environment variable with the folder of another local emulator, for example the demo's."""

DEFAULT_STACK: Final = "bucketsum"
"""Name of a stack, here and on AWS, unless another is named."""

_DATA_VARIABLE: Final = "XDG_DATA_HOME"


def kept_files(name: str) -> Path:
    """Folder *name* of the files that stay: snapshots, and runs on this machine.

    It is in `HOME_VARIABLE`, else in the person's folder for data, as freedesktop.org has it,
    whatever the current folder is.
    """
    if home := os.environ.get(HOME_VARIABLE):
        return Path(home).absolute() / name
    data = Path(os.environ.get(_DATA_VARIABLE, ""))
    if not data.is_absolute():  # a relative one is to be ignored
        data = Path.home() / ".local" / "share"
    return data / "bucketsum" / name
