"""S3: buckets with and without versions, notifications, and GetObject with its refusals."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError, IncompleteReadError, ReadTimeoutError
from tests.simulation.network import Network, refusal
from tests.simulation.schedule import Schedule
from tests.support.checksums import Kept

from bucketsum.events.object_events import DeletedBy, ObjectCreated, ObjectDeleted, ObjectRestored

BUCKET: Final = "inbox"
NULL: Final = "null"
EPOCH: Final = 1_795_000_000
"""The models' time 0, in seconds since 1970."""
STALL_SECONDS: Final = 20.0
"""A read of a silent connection takes this long: the product's read time-out."""

_WRONG_ANSWERS: Final = 0.3


class Versioning(StrEnum):
    """State of the bucket."""

    UNVERSIONED = "unversioned"
    ENABLED = "enabled"
    SUSPENDED = "suspended"


class Wrong(StrEnum):
    """Answers to a GET that cannot be right."""

    LENGTH = "another length"
    OBJECT = "another entity tag"
    GONE = "404"
    CONDITION = "412"


@dataclass(slots=True, eq=False)
class Version:
    """One version of one object, or a delete marker.

    Attributes:
        key: The object's key.
        version_id: ``null`` if it was put without versions.
        content: Its bytes; None of a delete marker.
        number: Orders all writes of the bucket.
        put_at: When it was put.
        archived: Whether it is in Glacier.
        is_due: Whether an event announced it, or a backfill that is done listed it.
        is_announced: Whether an event announced it.
        rotten: What S3 sends instead of its content, whose entity tag it keeps.
        uploaded: The bytes of S3's own checksum, if they are not its content.
        unanswered: Whether S3 did not answer a request for its checksum.
        served: Bytes that were read of it since the verification began.
        refused: Whether S3 refused to send it, as it was in Glacier.
    """

    key: str
    version_id: str
    content: bytes | None
    number: int
    put_at: float = 0
    archived: bool = False
    is_due: bool = False
    is_announced: bool = False
    rotten: bytes | None = None
    uploaded: bytes | None = None
    unanswered: bool = False
    served: int = 0
    refused: bool = False

    @property
    def etag(self) -> str:
        """Entity tag, without quotes; equal contents have equal tags."""
        return _md5_of(self.content or b"")

    @property
    def kept(self) -> Kept | None:
        """S3's own checksum, of the object or of its parts; some objects are older than those."""
        uploaded = self.uploaded or self.content or b""
        inner = {len(uploaded) // 4, len(uploaded) // 2} if self.number % 3 > 1 else ()
        places = sorted({0, len(uploaded), *inner})
        pieces = [uploaded[start:end] for start, end in pairwise(places)]
        return Kept(pieces) if self.number % 3 else None

    @property
    def last_modified(self) -> datetime:
        """As S3 lists it: an upload in parts has the time at which it was begun."""
        seconds_of_upload = 10 ** (self.number % 5) if self.number % 3 == 0 else 0
        return datetime.fromtimestamp(EPOCH + self.put_at - seconds_of_upload, UTC)

    @property
    def sha1(self) -> str:
        """The digest that its row must hold."""
        return hashlib.sha1(self.content or b"", usedforsecurity=False).hexdigest()

    @property
    def created(self) -> ObjectCreated:
        """The event of its creation."""
        return ObjectCreated(
            bucket=BUCKET,
            key=self.key,
            version_id=None if self.version_id == NULL else self.version_id,
            etag=self.etag,
            size_bytes=len(self.content or b""),
            sequencer=sequencer_of(self.number),
            event_time=_iso_text(self.put_at),
        )

    @property
    def restored(self) -> ObjectRestored:
        """The event of its restoration from Glacier."""
        created = self.created
        return ObjectRestored(
            bucket=created.bucket,
            key=self.key,
            version_id=created.version_id,
            etag=self.etag,
            size_bytes=created.size_bytes,
            event_time=created.event_time,
        )


@cache
def _md5_of(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


@cache
def sequencer_of(number: int) -> str:
    """Hexadecimal and without trailing zeros, so that lengths differ."""
    return f"00{0x55AED6D00 + number * 8:X}".rstrip("0")


def _iso_text(at: float) -> str:
    moment = datetime.fromtimestamp(EPOCH + at, UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


class Body:
    """The bytes of a response, which come in pieces."""

    def __init__(self, s3: S3, content: bytes, version: Version) -> None:
        self._s3, self._content, self._version = s3, content, version

    def read(self, size: int) -> bytes:
        """The next *size* bytes at most, unless the connection breaks or falls silent.

        Raises:
            IncompleteReadError: It breaks.
            ReadTimeoutError: It is silent.
        """
        schedule, network = self._s3.schedule, self._s3.network
        schedule.pause()
        if self._content and schedule.happens(network.faults):
            self._break()
            return b""
        piece, self._content = self._content[:size], self._content[size:]
        self._version.served += len(piece)
        return piece

    def _break(self) -> None:
        schedule = self._s3.schedule
        kind = schedule.random.randrange(3)
        schedule.log("the body %s", ("breaks", "falls silent", "ends early")[kind])
        if kind == 0:
            raise IncompleteReadError(actual_bytes=0, expected_bytes=len(self._content))
        if kind == 1:
            schedule.pause(STALL_SECONDS)
            raise ReadTimeoutError(endpoint_url="https://model")

    def close(self) -> None:
        """Nothing is held."""


def _response(status: int, headers: dict[str, str]) -> dict[str, Any]:
    metadata = {"HTTPStatusCode": status, "HTTPHeaders": headers}
    return {"ETag": headers["etag"], "ResponseMetadata": metadata}


def _after(versions: list[Version], key: str, version_id: str | None) -> Iterator[Version]:
    """*versions* of a key, the newest first, after the markers *key* and *version_id*."""
    newest_first = versions[::-1]
    if not versions or versions[0].key != key:
        yield from newest_first
    elif version_id is not None:
        yield from (entry for entry in newest_first if entry.number < int(version_id))


@dataclass(slots=True)
class S3:
    """One bucket, and the S3 client of the product.

    Attributes:
        schedule: Decides.
        versioning: State of the bucket.
        random_of_wrong_answers: Decides in some schedules that an answer is wrong.
        network: Carries the requests.
        versions: Key → its versions and delete markers, the current one last.
        history: Key and version id → entry version ever put.
        deletions: Key and version id → number of entry permanent deletion.
        due: Sequencers of the deletions that events announced.
        denies: Whether the role may not read the bucket now.
        keeps_checksums: Whether it has checksums of its own, which the product compares.
        flips: Probability that a response with one of `flippable` has a wrong byte.
        number: Of the last version or deletion.
    """

    schedule: Schedule
    versioning: Versioning
    random_of_wrong_answers: Random
    network: Network = field(init=False)
    versions: dict[str, list[Version]] = field(default_factory=dict)
    history: dict[tuple[str, str], list[Version]] = field(default_factory=lambda: defaultdict(list))
    deletions: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    due: set[str] = field(default_factory=set)
    denies: bool = False
    keeps_checksums: bool = False
    flips: float = 0
    flippable: Sequence[Version] = ()
    _has_wrong_answers: bool = False
    number: int = 0

    def __post_init__(self) -> None:
        self.network = Network(self.schedule, ("SlowDown", 503))
        self._has_wrong_answers = self.random_of_wrong_answers.random() < _WRONG_ANSWERS

    def put(self, key: str, content: bytes | None, *, archived: bool = False) -> Version:
        """Put an object; a *content* of None is a delete marker."""
        enabled = self.versioning is Versioning.ENABLED
        number = self._next_number()
        version_id = f"v{number}" if enabled else NULL
        version = Version(key, version_id, content, number, self.schedule.now, archived)
        if not enabled:
            self._remove(key, NULL)
        self.versions.setdefault(key, []).append(version)
        if content is not None:
            self.history[key, version_id].append(version)
        size = "a delete marker" if content is None else f"{len(content)} bytes"
        self.schedule.log("S3 has %s %s: %s", key, version_id, size)
        return version

    def delete(self, key: str, by: DeletedBy) -> ObjectDeleted:
        """Delete the object, with a delete marker if the bucket has or had versions."""
        if self.versioning is Versioning.UNVERSIONED:
            return self.delete_version(key, None, by)
        marker = self.put(key, None)
        if marker.version_id == NULL:  # it replaces the version
            self.deletions[key, NULL].append(marker.number)
        return self._deleted(key, marker.version_id, marker.number, by, is_marker=True)

    def delete_version(self, key: str, version_id: str | None, by: DeletedBy) -> ObjectDeleted:
        """Delete a version, or a marker, for ever, if it exists."""
        number = self._next_number()
        entry = version_id or NULL
        self.schedule.log("S3 deletes %s %s for ever", key, entry)
        self._remove(key, entry)
        self.deletions[key, entry].append(number)
        return self._deleted(key, version_id, number, by, is_marker=False)

    def _deleted(
        self, key: str, version_id: str | None, number: int, by: DeletedBy, *, is_marker: bool
    ) -> ObjectDeleted:
        return ObjectDeleted(
            bucket=BUCKET,
            key=key,
            version_id=version_id,
            is_marker=is_marker,
            deleted_by=by,
            sequencer=sequencer_of(number),
            event_time=_iso_text(self.schedule.now),
        )

    def _next_number(self) -> int:
        self.number += self.schedule.number(1, 40)
        return self.number

    def _remove(self, key: str, version_id: str) -> None:
        versions = self.versions.get(key, [])
        versions[:] = [version for version in versions if version.version_id != version_id]

    def existing(self) -> list[Version]:
        """Every version with content that can be read now."""
        return [
            version
            for versions in self.versions.values()
            for version in versions
            if version.content is not None
        ]

    def list_object_versions(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See S3's ListObjectVersions, without prefix and delimiter; the newest version first."""
        self.network.request("ListObjectVersions", request.get("KeyMarker", ""))
        if request["Bucket"] != BUCKET:
            raise refusal("NoSuchBucket", 404, "ListObjectVersions")
        after = request.get("KeyMarker", ""), request.get("VersionIdMarker")
        entries = [
            version
            for key, versions in sorted(self.versions.items())
            if key >= after[0]
            for version in _after(versions, *after)
        ]
        page = entries[: request["MaxKeys"]]
        for version in page:
            version.refused |= version.archived  # nobody asks for it
        is_cut = len(page) < len(entries)
        response: dict[str, Any] = {"Versions": self.listed(page), "IsTruncated": is_cut}
        if response["IsTruncated"]:
            last = page[-1]
            response |= {"NextKeyMarker": last.key, "NextVersionIdMarker": str(last.number)}
        return response

    def listed(self, versions: Iterable[Version]) -> list[dict[str, Any]]:
        """*versions* as S3 lists them, without the markers among them."""
        return [
            {
                "Key": version.key,
                "VersionId": version.version_id,
                "ETag": f'"{version.etag}"',
                "Size": len(version.content),
                "LastModified": version.last_modified,
                "StorageClass": "GLACIER" if version.archived else "STANDARD",
                "IsLatest": version is self.versions[version.key][-1],
            }
            for version in versions
            if version.content is not None
        ]

    def get_object(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See S3's GetObject; at times the answer cannot be right."""
        key, version_id = request["Key"], request.get("VersionId")
        self.network.request("GetObject", f"{key} {version_id} {request.get('Range', '')}")
        wrong = self._wrong_answer()
        version = self._readable(key, version_id)
        if request.get("IfMatch") not in (None, f'"{version.etag}"'):
            raise self._refusal("PreconditionFailed", 412)
        if version.archived:
            version.refused = True
            raise self._refusal("InvalidObjectState", 403)
        content = self._sent(version)
        headers = self._headers_of(version)
        if wrong is Wrong.OBJECT:
            headers |= {"etag": '"another"'}
        status = 200
        if "Range" in request:
            start = int(request["Range"].removeprefix("bytes=").removesuffix("-"))
            headers["content-range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            status, content = 206, content[start:]
        if wrong is Wrong.LENGTH:
            content = content[: len(content) // 2] if content else b"an error"
        headers["content-length"] = str(len(content))
        return _response(status, headers) | {"Body": Body(self, content, version)}

    def head_object(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See S3's HeadObject, whose answers are right."""
        version = self._described("HeadObject", request)
        return _response(200, self._headers_of(version))

    def get_object_attributes(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See S3's GetObjectAttributes, with all parts on one page."""
        version = self._described("GetObjectAttributes", request)
        parts = version.kept.parts if version.kept else []
        return {"ETag": version.etag, "ObjectParts": {"Parts": parts}}

    def _described(self, operation: str, request: dict[str, Any]) -> Version:
        """The version whose description is requested."""
        key, version_id = request["Key"], request.get("VersionId")
        try:
            self.network.request(operation, f"{key} {version_id}")
            version = self._readable(key, version_id)
            if request.get("IfMatch") not in (None, f'"{version.etag}"'):
                raise self._refusal("PreconditionFailed", 412)
        except (ClientError, BotoCoreError):
            for version in self.history[key, version_id or NULL]:
                version.unanswered = True
            raise
        return version

    def _wrong_answer(self) -> Wrong | None:
        """Whether the answer to a GET is wrong, and how; a refusal is raised."""
        random = self.random_of_wrong_answers
        if not self._has_wrong_answers or random.random() >= self.network.faults / 2:
            return None
        wrong = random.choice(list(Wrong))
        self.schedule.log("  the answer is wrong: %s", wrong)
        if wrong is Wrong.GONE:
            raise self._refusal("NoSuchKey", 404)
        if wrong is Wrong.CONDITION:
            raise self._refusal("PreconditionFailed", 412)
        return wrong

    def _headers_of(self, version: Version) -> dict[str, str]:
        headers = {
            "etag": f'"{version.etag}"',
            "content-length": str(len(version.content or b"")),
        }
        if self.keeps_checksums and (kept := version.kept):
            headers |= kept.headers
        if self.versioning is not Versioning.UNVERSIONED:
            headers["x-amz-version-id"] = version.version_id
        return headers

    def _sent(self, version: Version) -> bytes:
        content = version.rotten or version.content or b""
        if version in self.flippable and self.schedule.happens(self.flips):
            self.schedule.log("  S3 sends a wrong byte")
            place = self.schedule.random.randrange(len(content))
            wrong = self.schedule.random.randrange(1, 256) ^ content[place]
            sent = content[:place] + bytes([wrong]) + content[place + 1 :]
            return content if sent == version.content else sent  # it does not undo the rot
        return content

    def close(self) -> None:
        """See botocore's client: its idle connections are closed."""

    def _readable(self, key: str, version_id: str | None) -> Version:
        if self.denies:
            raise self._refusal("AccessDenied", 403)
        versions = self.versions.get(key, [])
        if version_id:
            version = next((entry for entry in versions if entry.version_id == version_id), None)
            missing = "NoSuchVersion"
        else:
            version, missing = versions[-1] if versions else None, "NoSuchKey"
        if version is None or (version.content is None and not version_id):
            raise self._refusal(missing, 404)
        if version.content is None:
            raise self._refusal("MethodNotAllowed", 405)
        return version

    def _refusal(self, code: str, status: int) -> Exception:
        self.schedule.log("  S3 refuses: %s", code)
        return refusal(code, status, "GetObject")
