"""Checksums as S3 keeps and sends them: of a whole object, or of an upload in parts."""

import zlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bucketsum.checksums.running import running


def crc32(data: bytes) -> bytes:
    """CRC-32 in S3's bytes."""
    return zlib.crc32(data).to_bytes(4, "big")


def base64_of(value: bytes) -> str:
    """A value in base64."""
    return b64encode(value).decode()


def in_pieces(body: bytes, count: int) -> list[bytes]:
    """*body* in *count* parts, all but the last of one size."""
    size = -(-len(body) // count)
    return [body[start:end] for start, end in pairwise([*range(0, len(body), size), len(body)])]


@dataclass(frozen=True, slots=True)
class Kept:
    """The checksum that S3 keeps of an object in *pieces*, of which the whole object may be one."""

    pieces: Sequence[bytes]
    algorithm: str = "crc32"

    @property
    def is_composite(self) -> bool:
        """Whether it is that of the parts' values."""
        return len(self.pieces) > 1

    @property
    def text(self) -> str:
        """The value, with ``-N`` if it is that of N parts."""
        if not self.is_composite:
            return base64_of(self._value(b"".join(self.pieces)))
        values = b"".join(map(self._value, self.pieces))
        return f"{base64_of(self._value(values))}-{len(self.pieces)}"

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a response to a request for it."""
        kind = "COMPOSITE" if self.is_composite else "FULL_OBJECT"
        return {f"x-amz-checksum-{self.algorithm}": self.text, "x-amz-checksum-type": kind}

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The list of the parts, as botocore gives it."""
        return [
            {
                "PartNumber": number,
                "Size": len(piece),
                f"Checksum{self.algorithm.upper()}": base64_of(self._value(piece)),
            }
            for number, piece in enumerate(self.pieces if self.is_composite else (), 1)
        ]

    def _value(self, data: bytes) -> bytes:
        checksum = running(self.algorithm)
        checksum.update(data)
        return checksum.digest()

    @property
    def stored(self) -> dict[str, Any]:
        """The arguments with which `HostileS3.put` keeps it."""
        parts = [
            "".join(f"<{name}>{value}</{name}>" for name, value in part.items())
            for part in self.parts
        ]
        return {"checksum": self.headers, "parts": parts}


def whole(body: bytes) -> Kept:
    """The checksum of a whole object."""
    return Kept([body])


def in_parts(body: bytes, count: int) -> Kept:
    """The checksum of an upload in *count* parts."""
    return Kept(in_pieces(body, count))
