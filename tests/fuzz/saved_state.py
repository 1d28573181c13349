"""Rules of the saved state of long objects: the progress item, and the digests in it."""

import json
import re
from dataclasses import replace
from typing import Any, Final

from tests.fuzz.session import FuzzTarget, check_refusal
from tests.support.events import LANDED

from bucketsum.algorithms import EXTRA_ALGORITHMS, SHA1
from bucketsum.digest import digest_of
from bucketsum.errors import DamagedProgress
from bucketsum.hashing.job import Job
from bucketsum.long_objects.openssl_digest import library_for
from bucketsum.long_objects.portable_digest import BLOCK_BYTES, PortableDigest
from bucketsum.long_objects.progress import Progress, item_of_progress, progress_in, progress_of
from bucketsum.long_objects.slice_bytes import digest_at
from bucketsum.table.archive_settings import Mode

_CONTENT: Final = bytes(range(251)) * 5
_SHA1: Final = SHA1.name
_LIBRARY: Final = library_for(EXTRA_ALGORITHMS)
_NUMBER: Final = re.compile(r"-?\d{1,38}(\.\d{1,6})?", re.ASCII)


def _digest_after(offset: int) -> PortableDigest:
    digest = PortableDigest(_LIBRARY, EXTRA_ALGORITHMS)
    digest.update(_CONTENT[:offset])
    return digest


_TRUE_STATES: Final = {
    offset: _digest_after(offset).states() for offset in range(0, len(_CONTENT), BLOCK_BYTES)
}


def check(data: bytes) -> None:
    """Load saved states; only DamagedProgress may be raised.

    Hashing that is resumed from a saved state must give the same digest as hashlib.
    """
    try:
        item = _dynamodb_item(json.loads(data))
    except (ValueError, RecursionError):
        return
    try:
        progress = progress_in(item)
        _check_round_trip(progress)
        digest = digest_at(progress, EXTRA_ALGORITHMS)
    except DamagedProgress as error:
        check_refusal(error)
        return
    assert digest.length == progress.offset, "the digest is of the bytes before the offset"
    _check_digest(progress, digest)


def _dynamodb_item(raw: object) -> dict[str, Any]:
    """The attributes in *raw* that DynamoDB could have."""
    if not isinstance(raw, dict):
        raise ValueError("no item")  # noqa: TRY004 - as json's
    return {name: value for name, value in raw.items() if _is_attribute(value)}


def _is_attribute(value: object) -> bool:
    match value:
        case {"S": str(text), **others}:
            return not others and text.isprintable()
        case {"N": str(text), **others}:
            return not others and bool(_NUMBER.fullmatch(text))
        case {"BOOL": bool(), **others} | {"NULL": True, **others} | {"L": list(), **others}:
            return not others
    return False


def _check_round_trip(progress: Progress) -> None:
    item = item_of_progress(progress)
    assert item_of_progress(progress_in(item)) == item, "an item survives reading and writing"


def _check_digest(progress: Progress, digest: PortableDigest) -> None:
    """The states are the content's own: a forged one cannot be told from them."""
    truth = _TRUE_STATES.get(progress.offset)
    names = list(progress.states) if progress.offset else [_SHA1, *EXTRA_ALGORITHMS]
    if truth is None or any(progress.states.get(n, truth[n]) != truth[n] for n in names):
        return
    digest.update(_CONTENT[progress.offset :])
    expected = digest_of([_CONTENT], [name for name in names if name != _SHA1])
    assert digest.digest() == expected, "a state that is continued gives the digest of all bytes"


def _seed(offset: int, *names: str) -> bytes:
    progress = replace(
        progress_of(Job(replace(LANDED, size_bytes=len(_CONTENT)), mode=Mode.STREAM)),
        started_at="2026-11-20T10:00:00.000+00:00",
        updated_at="2026-11-20T10:00:00.000+00:00",
        offset=offset,
        hop=offset // BLOCK_BYTES,
        seconds=1.5,
        mb_per_s=75.25,
        states={name: _TRUE_STATES[offset][name] for name in names},
    )
    return json.dumps(item_of_progress(progress)).encode()


TARGET: Final = FuzzTarget(
    "saved-state",
    check,
    (
        _seed(0),
        _seed(256, _SHA1),
        _seed(1152, _SHA1, *EXTRA_ALGORITHMS),
        _seed(128, _SHA1, "crc32"),
    ),
    quick_cases=3000,
)
