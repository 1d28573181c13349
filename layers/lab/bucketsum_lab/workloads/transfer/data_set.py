"""The data set: files with the sizes of those in fractos (2017), and their list."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from statistics import NormalDist
from typing import Final

from bucketsum.digest import digest_of
from bucketsum_lab.errors import BadSweep, FieldPlace
from bucketsum_lab.protocol.fields import Fields, text, whole
from bucketsum_lab.protocol.objects import DataFile
from bucketsum_lab.workloads.transfer.model import files_in

FILE_BYTES_MIN: Final = 112_336
FILE_BYTES_MAX: Final = 10_924_380
"""As fractos (2017) gives them for 100 files."""

FILES_MAX: Final = 1000
"""The times of so many files fit into one item of the table."""

WARM_UP_NAME: Final = "warm-up"
WARM_UP_CONTENT: Final = b"hello"
"""An object of 5 bytes, as the article's."""

_SEED: Final = 3
_SPREAD: Final = 0.95
"""Standard deviation of the logarithm of a size; the largest of 100 is then near the article's."""

_FIXED_FROM: Final = 20
_STEPS: Final = 100
_NAME_MAX: Final = 900


@dataclass(frozen=True, slots=True)
class SetFile:
    """A file of a data set, as its list describes it."""

    name: str
    size_bytes: int
    sha1: str


def file_sizes(total_bytes: int) -> tuple[int, ...]:
    """Sizes whose sum is *total_bytes*: log-normal, about `FILE_BYTES_MEAN` on average.

    From 20 files on, the smallest and the largest have exactly the article's sizes.
    """
    count = files_in(total_bytes)
    normal = NormalDist(sigma=_SPREAD)
    weights = [math.exp(normal.inv_cdf((rank + 0.5) / count)) for rank in range(count)]
    low, high = 0.0, float(total_bytes)
    for _ in range(_STEPS):  # the sum grows with the scale
        scale = (low + high) / 2
        low, high = (scale, high) if sum(_scaled(weights, scale)) <= total_bytes else (low, scale)
    sizes = _scaled(weights, low)
    sizes[count // 2] += total_bytes - sum(sizes)
    random.Random(_SEED).shuffle(sizes)  # noqa: S311 - not a secret
    return tuple(sizes)


def _scaled(weights: list[float], scale: float) -> list[int]:
    sizes = [min(max(int(weight * scale), FILE_BYTES_MIN), FILE_BYTES_MAX) for weight in weights]
    if len(sizes) >= _FIXED_FROM:
        sizes[0], sizes[-1] = FILE_BYTES_MIN, FILE_BYTES_MAX
    return sizes


def data_files(total_bytes: int) -> Iterator[DataFile]:
    """The files of the data set of *total_bytes*, and the object that warms clients."""
    yield DataFile(WARM_UP_NAME, len(WARM_UP_CONTENT), lambda: [WARM_UP_CONTENT])
    for number, size_bytes in enumerate(file_sizes(total_bytes), start=1):
        yield DataFile(f"{number:04d}.bin", size_bytes, partial(_parts, number, size_bytes))


def _parts(number: int, size_bytes: int) -> list[bytes]:
    """Random bytes, as those of a JPEG 2000 file: no compression makes them smaller."""
    return [random.Random(f"{_SEED}-{number}").randbytes(size_bytes)]  # noqa: S311 - as above


def listed(total_bytes: int) -> tuple[SetFile, ...]:
    """The same files with their SHA-1, without the object that warms clients."""
    return tuple(
        SetFile(file.name, file.size_bytes, digest_of(file.chunks()).sha1)
        for file in data_files(total_bytes)
        if file.name != WARM_UP_NAME
    )


def written(files: Iterable[SetFile]) -> bytes:
    """The list of *files*: an object of JSON in each line."""
    return "".join(f"{json.dumps(asdict(file))}\n" for file in files).encode()


def read(content: bytes, key: str) -> tuple[SetFile, ...]:
    """The inverse of `written`.

    Raises:
        BadSweep: A line is not as `written` writes it, or there are too few or too many; *key* is
            the list's.
    """
    lines = content.splitlines()
    if not 1 <= len(lines) <= FILES_MAX:
        raise BadSweep(f"{key!r} names {len(lines)} files, not 1 to {FILES_MAX}")
    return tuple(
        _set_file(FieldPlace(f"line {number} of {key!r}"), line)
        for number, line in enumerate(lines, start=1)
    )


def _set_file(place: FieldPlace, line: bytes) -> SetFile:
    try:
        fields = Fields(place, json.loads(line), ("name", "size_bytes", "sha1"))
    except ValueError as error:
        raise BadSweep(place, f" is not JSON: {error}") from None
    name = fields.needed("name", text)
    if len(name) > _NAME_MAX:
        raise BadSweep(place, f".name has {len(name)} characters, allowed are {_NAME_MAX}")
    size_bytes = fields.needed("size_bytes", whole(0, 10**15))
    return SetFile(name, size_bytes, fields.needed("sha1", text))
