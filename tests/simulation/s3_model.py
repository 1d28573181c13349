"""S3: buckets with and without versions, notifications, and GetObject with its refusals."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import IncompleteReadError, ReadTimeoutError
from tests.simulation.network import Network, refusal

from bucketsum.notifications import ObjectCreated

if TYPE_CHECKING:
    from tests.simulation.schedule import Schedule

BUCKET: Final = "inbox"
NULL: Final = "null"
STALL_SECONDS: Final = 20.0
"""A read of a silent connection takes this long: the product's read time-out."""


class Versioning(StrEnum):
    """State of the bucket."""

    UNVERSIONED = "unversioned"
    ENABLED = "enabled"
    SUSPENDED = "suspended"


@dataclass(slots=True, eq=False)
class Version:
    """One version of one object, or a delete marker.

    Attributes:
        key: The object's key.
        version_id: ``null`` if it was put without versions.
        content: Its bytes; None of a delete marker.
        number: Orders all writes of the bucket.
        event_bytes: The size in its event: that of the large object that *content* stands for.
        archived: Whether it is in Glacier.
    """

    key: str
    version_id: str
    content: bytes | None
    number: int
    event_bytes: int = 0
    archived: bool = False

    @property
    def etag(self) -> str:
        """Entity tag, without quotes; equal contents have equal tags."""
        return hashlib.md5(self.content or b"", usedforsecurity=False).hexdigest()

    @property
    def sha1(self) -> str:
        """The digest that its row must hold."""
        return hashlib.sha1(self.content or b"", usedforsecurity=False).hexdigest()

    @property
    def sequencer(self) -> str:
        """Hexadecimal and without trailing zeros, so that lengths differ."""
        return f"00{0x55AED6D00 + self.number * 8:X}".rstrip("0")

    @property
    def created(self) -> ObjectCreated:
        """Its event."""
        return ObjectCreated(
            bucket=BUCKET,
            key=self.key,
            version_id=None if self.version_id == NULL else self.version_id,
            etag=self.etag,
            size_bytes=self.event_bytes,
            sequencer=self.sequencer,
            event_time="2026-11-20T10:00:00.000Z",
        )


class Body:
    """The bytes of a response, which come in pieces."""

    def __init__(self, s3: S3, content: bytes) -> None:
        self._s3, self._content = s3, content

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


@dataclass(slots=True)
class S3:
    """One bucket, and the S3 client of the product.

    Attributes:
        schedule: Decides.
        versioning: State of the bucket.
        network: Carries the requests.
        versions: Key → its versions and delete markers, the current one last.
        history: Key, version id and sequencer → each version ever put.
        denies: Whether the role may not read the bucket now.
    """

    schedule: Schedule
    versioning: Versioning
    network: Network = field(init=False)
    versions: dict[str, list[Version]] = field(default_factory=dict)
    history: dict[tuple[str, str, str], Version] = field(default_factory=dict)
    denies: bool = False
    _number: int = 0

    def __post_init__(self) -> None:
        self.network = Network(self.schedule, ("SlowDown", 503))

    def put(self, key: str, content: bytes | None, size_bytes: int, *, archived: bool) -> Version:
        """Put an object; a *content* of None is a delete marker."""
        self._number += self.schedule.random.randint(1, 40)
        enabled = self.versioning is Versioning.ENABLED
        version_id = f"v{self._number}" if enabled else NULL
        version = Version(key, version_id, content, self._number, size_bytes, archived)
        self.remove(key, NULL if not enabled else "")
        self.versions.setdefault(key, []).append(version)
        self.history[key, version_id, version.sequencer] = version
        self.schedule.log("S3 has %s %s: %r", key, version_id, content)
        return version

    def delete(self, key: str) -> None:
        """Delete the object, with a delete marker if the bucket has or had versions."""
        self.schedule.log("S3 deletes %s", key)
        if self.versioning is Versioning.UNVERSIONED:
            self.remove(key, NULL)
        else:
            self.put(key, None, 0, archived=False)

    def remove(self, key: str, version_id: str) -> None:
        """Remove a version for good, if it exists."""
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

    def get_object(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - as botocore's
        """See S3's GetObject."""
        key, version_id = request["Key"], request.get("VersionId")
        self.network.request("GetObject", f"{key} {version_id} {request.get('Range', '')}")
        version = self._readable(key, version_id)
        if request.get("IfMatch") not in (None, f'"{version.etag}"'):
            raise self._refusal("PreconditionFailed", 412)
        if version.archived:
            raise self._refusal("InvalidObjectState", 403)
        content = version.content or b""
        response: dict[str, Any] = {"ETag": f'"{version.etag}"'}
        if "Range" in request:
            start = int(request["Range"].removeprefix("bytes=").removesuffix("-"))
            response["ContentRange"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            content = content[start:]
        return response | {"ContentLength": len(content), "Body": Body(self, content)}

    def _readable(self, key: str, version_id: str | None) -> Version:
        if self.denies:
            raise self._refusal("AccessDenied", 403)
        versions = self.versions.get(key, [])
        if version_id:
            version = next((each for each in versions if each.version_id == version_id), None)
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
