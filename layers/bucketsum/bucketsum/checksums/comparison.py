"""S3's checksum of an object, compared with the bytes that are read, part by part."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final, TypeAlias

from bucketsum.checksums.running import Crc, is_crc, is_known, running
from bucketsum.checksums.stored import NotComparedError, StoredChecksum, StoredPart
from bucketsum.table.checksum_values import ChecksumResult, Compared

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class NotCompared:
    """A witness that cannot compare anything, for a *reason*."""

    def __init__(self, reason: str, checksum: StoredChecksum | None = None) -> None:
        name = str(checksum) if checksum else None
        self._result = Compared(ChecksumResult.NOT_COMPARED, name, reason)

    def update(self, chunk: ReadableBuffer) -> None:
        """See `ChecksumComparison.update` for the contract."""

    def compared(self, digests: Mapping[str, str]) -> Compared:  # noqa: ARG002 - as the other's
        """See `ChecksumComparison.compared` for the contract."""
        return self._result

    def saved(self) -> str:
        """See `ChecksumComparison.saved`; `NotCompared.continued` is the inverse."""
        return f"{_REASON}{self._result.reason}"

    @staticmethod
    def continued(state: str | None) -> NotCompared | None:
        """The witness that saved *state*; None if a comparison can be resumed from it."""
        if state is None:
            return NotCompared("it is read in slices, between which its comparison does not go on")
        return NotCompared(state.removeprefix(_REASON)) if state.startswith(_REASON) else None


_NOTHING: Final = "[]"
"""State of a comparison whose value another digest has."""
_REASON: Final = "not compared: "


class ChecksumComparison:
    """Chunks of an object, compared with S3's checksum of all of them or of each part."""

    def __init__(
        self,
        checksum: StoredChecksum,
        size_bytes: int,
        parts: Sequence[StoredPart] = (),
        computed: Collection[str] = (),
    ) -> None:
        """Begin with an object of *size_bytes*; a composite *checksum* has *parts*.

        Of the whole object, digests that are *computed* in the same pass are not computed again.

        Raises:
            NotComparedError: Its algorithm is not computed here.
        """
        if not is_known(checksum.algorithm):
            raise NotComparedError(f"{checksum.algorithm} is not computed")
        self.checksum = checksum
        self._is_computed = not parts and checksum.algorithm in computed
        self._parts = parts or [StoredPart(1, size_bytes, checksum.value)]
        self._composite = running(checksum.algorithm)
        self._ended_parts = 0
        self._differing = ""
        self._start_part()
        if not size_bytes:
            self._end_part()

    def _start_part(self) -> None:
        self._running = running(self.checksum.algorithm)
        number = self._ended_parts
        self._left_bytes = self._parts[number].size_bytes if number < len(self._parts) else 0

    def _end_part(self) -> None:
        part, value = self._parts[self._ended_parts], self._running.digest()
        if value != part.value and not self._differing:
            subject = f"part {part.number} has " if self.checksum.parts else ""
            self._differing = f"{subject}{self._text(value)}"
        self._composite.update(value)
        self._ended_parts += 1
        self._start_part()

    def _text(self, value: bytes) -> str:
        return f"{self.checksum.algorithm}:{b64encode(value).decode()} as read"

    def update(self, chunk: ReadableBuffer) -> None:
        """Look at the next chunk."""
        if self._is_computed:
            return
        rest = memoryview(chunk)
        while len(rest) >= self._left_bytes > 0:
            self._running.update(rest[: self._left_bytes])
            rest = rest[self._left_bytes :]
            self._end_part()
        if rest:
            self._running.update(rest)
            self._left_bytes -= len(rest)

    def passing(self, chunks: Generator[bytes]) -> Generator[bytes]:
        """Look at each chunk and pass it on; ends *chunks* when it is closed."""
        with closing(chunks):
            for chunk in chunks:
                self.update(chunk)
                yield chunk

    def compared(self, digests: Mapping[str, str]) -> Compared:
        """The result, after all chunks; *digests* has those in hexadecimal that were computed."""
        name = str(self.checksum)
        if self._is_computed:
            value = bytes.fromhex(digests.get(self.checksum.algorithm, ""))
            if not value:
                return Compared(ChecksumResult.NOT_COMPARED, name, "its digest is not computed now")
            self._differing = "" if value == self.checksum.value else self._text(value)
        elif self._ended_parts < len(self._parts) or self._left_bytes:
            return Compared(ChecksumResult.NOT_COMPARED, name, "other bytes came than the object's")
        if self.checksum.parts and not self._differing:
            value = self._composite.digest()
            if value != self.checksum.value:
                self._differing = f"its parts have {self._text(value)}"
        if self._differing:
            return Compared(ChecksumResult.DIFFERS, name, self._differing)
        return Compared(ChecksumResult.EQUAL, name)

    def saved(self) -> str | None:
        """The state, with which `resume` continues in another process; None if none can."""
        if self._is_computed:
            return _NOTHING
        if not is_crc(self.checksum.algorithm):
            return None
        values = [checksum.digest().hex() for checksum in (self._running, self._composite)]
        return json.dumps([self._ended_parts, self._left_bytes, *values, self._differing])

    def resume(self, state: str) -> None:
        """Continue from *state*, which `saved` returned for the same checksum and parts.

        Raises:
            NotComparedError: It did not.
        """
        algorithm = self.checksum.algorithm
        self._is_computed = state == _NOTHING and not self.checksum.parts
        if self._is_computed:  # or was, before the stack's algorithms changed
            return
        try:
            ended, left, value, composite, differing = json.loads(state)
            self._ended_parts, self._differing = int(ended), str(differing)
            self._start_part()
            is_possible = 0 <= int(left) <= self._left_bytes and 0 <= int(ended) <= len(self._parts)
            self._left_bytes = int(left)
            self._running = Crc(algorithm, bytes.fromhex(value))
            self._composite = Crc(algorithm, bytes.fromhex(composite))
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            raise NotComparedError("the saved state of S3's checksum is damaged") from error
        if not is_possible:
            raise NotComparedError("the saved state of S3's checksum is that of other parts")


Witness: TypeAlias = ChecksumComparison | NotCompared
"""S3's checksum beside the bytes of an object, in the same pass."""
