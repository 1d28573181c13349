"""The upper bound of one stream: libcurl and the hash, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import pycurl

if TYPE_CHECKING:
    from bench.readers.harness import ReadTarget

_BUFFER_BYTES: Final = 512 * 1024


def easy(target: ReadTarget) -> Callable[[], tuple[int, str]]:
    """One unsigned, unverified GET: an upper bound, not a usable reader."""
    handle = pycurl.Curl()
    handle.setopt(pycurl.URL, f"{target.endpoint}/{target.bucket}/{target.key}")
    handle.setopt(pycurl.CAINFO, target.certificates)
    handle.setopt(pycurl.BUFFERSIZE, _BUFFER_BYTES)

    def read() -> tuple[int, str]:
        sha1 = hashlib.sha1(usedforsecurity=False)
        handle.setopt(pycurl.WRITEFUNCTION, sha1.update)
        handle.perform()
        return int(handle.getinfo(pycurl.SIZE_DOWNLOAD_T)), sha1.hexdigest()

    return read
