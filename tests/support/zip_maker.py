"""Zip archives as Python writes them, and byte by byte, so that any byte can be wrong."""

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass, field, replace
from functools import lru_cache


def zip_of(members: dict[str, bytes]) -> bytes:
    """An archive as Python writes it."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


@dataclass(frozen=True, slots=True)
class Part:
    """One member as written; what is None follows from *content*.

    Attributes:
        name: Its name's bytes.
        content: What it holds.
        method: 0 stored, 8 deflated; others need *data*.
        flags: General purpose bits.
        data: Its compressed bytes.
        crc32: What both headers say.
        size: As *crc32*.
        compressed_bytes: As *crc32*.
        local: Fields that only the local header has otherwise; see `_header`.
        offset: Where the directory says that it is.
        attributes: External attributes.
        system: What made it.
        before: Bytes in front of its header.
        after: Bytes behind its data, as a data descriptor.
        extra: Extra fields of both headers.
    """

    name: bytes = b"a.txt"
    content: bytes = b"hello"
    method: int = 0
    flags: int = 0
    data: bytes | None = None
    crc32: int | None = None
    size: int | None = None
    compressed_bytes: int | None = None
    local: dict[str, int | bytes] = field(default_factory=dict)
    offset: int | None = None
    attributes: int = 0
    system: int = 3
    before: bytes = b""
    after: bytes = b""
    extra: bytes = b""

    def compressed(self) -> bytes:
        """The bytes between the headers."""
        if self.data is not None:
            return self.data
        return deflated(self.content) if self.method == 8 else self.content


@lru_cache(16)
def deflated(content: bytes) -> bytes:
    """*content* as raw deflate."""
    engine = zlib.compressobj(9, zlib.DEFLATED, -15)
    return engine.compress(content) + engine.flush()


def archive_of(
    *parts: Part,
    prefix: bytes = b"",
    comment: bytes = b"",
    order: list[int] | None = None,
    end: dict[str, int] | None = None,
) -> bytes:
    """An archive of *parts* as they lie in it.

    Args:
        parts: Its members.
        prefix: Bytes in front that no offset counts.
        comment: At its end.
        order: Positions of *parts* in the directory; all, in order, by default.
        end: Fields of the end record that are otherwise: entries, size, offset, disk.
    """
    body = bytearray()
    entries = []
    for part in parts:
        body += part.before
        header = _header(part)
        entries.append(_entry(part, header, len(body) if part.offset is None else part.offset))
        body += _local(part, header) + part.compressed() + part.after
    chosen = [entries[position] for position in (range(len(parts)) if order is None else order)]
    directory = b"".join(chosen)
    fields = {"entries": len(chosen), "size": len(directory), "offset": len(body), "disk": 0}
    fields |= end or {}
    record = struct.pack(
        "<4sHHHHLLH", b"PK\x05\x06", fields["disk"], fields["disk"], fields["entries"],
        fields["entries"], fields["size"], fields["offset"], len(comment),
    )  # fmt: skip
    return prefix + body + directory + record + comment


def _header(part: Part) -> tuple[int, ...]:
    crc32 = zlib.crc32(part.content) if part.crc32 is None else part.crc32
    size = len(part.content) if part.size is None else part.size
    declared = part.compressed_bytes
    compressed = len(part.compressed()) if declared is None else declared
    return part.flags, part.method, 0, 0, crc32, compressed, size


def _local(part: Part, header: tuple[int, ...]) -> bytes:
    names = ("flags", "method", "time", "date", "crc32", "compressed", "size")
    fields = dict(zip(names, header, strict=True)) | part.local
    name = fields.pop("name", part.name)
    extra = fields.pop("extra", part.extra)
    signature = fields.pop("signature", b"PK\x03\x04")
    assert isinstance(name, bytes)
    assert isinstance(extra, bytes)
    head = struct.pack("<4sHHHHHLLLHH", signature, 20, *fields.values(), len(name), len(extra))
    return head + name + extra


def _entry(part: Part, header: tuple[int, ...], offset: int) -> bytes:
    head = struct.pack(
        "<4sBBHHHHHLLLHHHHHLL", b"PK\x01\x02", 20, part.system, 20, *header,
        len(part.name), len(part.extra), 0, 0, 0, part.attributes, offset,
    )  # fmt: skip
    return head + part.name + part.extra


def named(name: str | bytes, content: bytes = b"hello") -> Part:
    """A stored member of this name, UTF-8 where it is not ASCII."""
    raw = name if isinstance(name, bytes) else name.encode()
    return replace(Part(), name=raw, content=content, flags=0 if raw.isascii() else 0x800)
