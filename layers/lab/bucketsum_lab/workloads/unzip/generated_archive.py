"""Generated archives for sweeps: the same bytes every time, of an exact size, contents known.

They are like those of Bengtsson (2017): of 165 files in 129 folders, two hold most of the bytes and
most are small. Text consists of blocks that are deflated once, so that generating an archive takes
no longer than hashing it; in the order that they have in a file, nothing repeats within the 32 kB
that deflate looks back on. A last file is stored, and fills the archive up to its size.
"""

from __future__ import annotations

import hashlib
import random
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

FILES: Final = 165
FOLDERS: Final = 129

CONTENT_RATIO: Final = 2.95
"""Bytes of members per byte of an archive of 10 MB and more; a test checks it to 2 %."""

_BLOCK_BYTES: Final = 64 * 1024
_BLOCKS: Final = 32
_WORDS: Final = 3072
_WORDS_PER_LINE: Final = 10
_SMALL_SHARE: Final = 0.15
_FIRST_LARGE_UNTIL: Final = 0.7
_SECOND_LARGE_UNTIL: Final = 0.97

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_END: Final = struct.Struct("<4s4H2LH")
_VERSION: Final = 20
_STORED, _DEFLATED = 0, 8
_TIME, _DATE = 0, (2017 - 1980) << 9 | 11 << 5 | 29


@dataclass(frozen=True, slots=True)
class ArchiveContents:
    """The known contents of an archive."""

    members: int
    """Files."""
    directories: int
    """Folders that these are in."""
    member_bytes: int
    members_sha1: str
    """SHA-1 over the files' SHA-1s; see `members_sha1`."""


def members_sha1(sha1s: Iterable[str]) -> str:
    """SHA-1 of the sorted hexadecimal SHA-1s, a line each; their order does not matter.

    ``sha1sum FILES | cut -c1-40 | LC_ALL=C sort | sha1sum`` prints the same.
    """
    lines = "".join(f"{sha1}\n" for sha1 in sorted(sha1s))
    return hashlib.sha1(lines.encode(), usedforsecurity=False).hexdigest()


class GeneratedArchive:
    """The archive of one size."""

    def __init__(self, size_bytes: int) -> None:
        """Plan it, which takes about as long as hashing its members."""
        members = _members(size_bytes)
        self._members = members
        self.contents: Final = ArchiveContents(
            members=len(members),
            directories=FOLDERS,
            member_bytes=sum(member.size_bytes for member in members),
            members_sha1=members_sha1(member.sha1 for member in members),
        )

    @property
    def lines(self) -> int:
        """Newlines in its members, as ``unzip -p ARCHIVE | wc -l`` counts them."""
        return sum(member.lines for member in self._members)

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, in pieces of no particular size."""
        offset = 0
        directory = []
        for member in self._members:
            directory.append(member.central(offset))
            yield member.local()
            yield from member.data()
            offset += len(member.local()) + member.compressed_bytes
        central = b"".join(directory)
        count = len(directory)
        yield central
        yield _END.pack(b"PK\5\6", 0, 0, count, count, len(central), offset, 0)


@dataclass(frozen=True, slots=True)
class _Member:
    """A file: some of the blocks, and a tail of its own."""

    name: bytes
    blocks: tuple[int, ...]
    tail: bytes
    method: int
    crc32: int
    size_bytes: int
    compressed_bytes: int
    sha1: str

    @property
    def lines(self) -> int:
        blocks = _blocks()
        in_blocks = sum(blocks[number].text.count(b"\n") for number in self.blocks)
        return in_blocks + self.tail.count(b"\n")

    def local(self) -> bytes:
        return _LOCAL.pack(b"PK\3\4", *self._fields(), len(self.name), 0) + self.name

    def central(self, offset: int) -> bytes:
        fields = (*self._fields(), len(self.name), 0, 0, 0, 0, 0, offset)
        return _CENTRAL.pack(b"PK\1\2", _VERSION, *fields) + self.name

    def data(self) -> Iterator[bytes]:
        blocks = _blocks()
        for number in self.blocks:
            yield blocks[number].deflated
        yield _compressed(self.tail, self.method)

    def _fields(self) -> tuple[int, ...]:
        sizes = self.compressed_bytes, self.size_bytes
        return _VERSION, 0, self.method, _TIME, _DATE, self.crc32, *sizes


@dataclass(frozen=True, slots=True)
class _Block:
    """A piece of text, and its deflated form, to which more can be appended."""

    text: bytes
    deflated: bytes


@cache
def _blocks() -> tuple[_Block, ...]:
    """Words in the frequencies of a language, which deflate brings to some 40 %."""
    draw = random.Random(0)  # noqa: S311 - the same every time
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = [
        "".join(draw.choices(letters, range(26, 0, -1), k=draw.randint(2, 11)))
        for _ in range(_WORDS)
    ]
    weights = [1 / rank for rank in range(1, _WORDS + 1)]
    drawn = draw.choices(words, weights, k=_BLOCKS * _BLOCK_BYTES // 4)
    lines = (drawn[at : at + _WORDS_PER_LINE] for at in range(0, len(drawn), _WORDS_PER_LINE))
    text = "\n".join(map(" ".join, lines)).encode()
    pieces = (text[at * _BLOCK_BYTES :][:_BLOCK_BYTES] for at in range(_BLOCKS))
    return tuple(_Block(piece, _deflate(piece, zlib.Z_FULL_FLUSH)) for piece in pieces)


def _deflate(text: bytes, end: int) -> bytes:
    deflater = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return deflater.compress(text) + deflater.flush(end)


def _members(size_bytes: int) -> list[_Member]:
    draw = random.Random(size_bytes)  # noqa: S311 - the same every time
    rest = size_bytes - _END.size
    members: list[_Member] = []

    def add(member: _Member) -> None:
        nonlocal rest
        rest -= _LOCAL.size + _CENTRAL.size + 2 * len(member.name) + member.compressed_bytes
        members.append(member)

    for number, text_bytes in enumerate(_small_sizes(draw, size_bytes)):
        count, tail_bytes = divmod(text_bytes, _BLOCK_BYTES)
        tail = draw.choice(_blocks()).text[:tail_bytes]
        add(_member(_name(number), draw.choices(range(_BLOCKS), k=count), tail))
    for number, until in enumerate((_FIRST_LARGE_UNTIL, _SECOND_LARGE_UNTIL), start=len(members)):
        room = rest - round((1 - until) * size_bytes)
        add(_member(_name(number), _filling(draw, room), b"end\n"))
    last = _name(len(members))
    left = rest - _LOCAL.size - _CENTRAL.size - 2 * len(last)
    add(_member(last, [], draw.randbytes(left), _STORED))
    return members


def _name(number: int) -> bytes:
    """Path of a file: ``symbols`` has 64 folders, each with one subfolder that has the files."""
    module = number % ((FOLDERS - 1) // 2)
    return b"symbols/module%02d.pdb/%08X/part%d.sym" % (module, module * 2654435761 % 2**32, number)


def _small_sizes(draw: random.Random, size_bytes: int) -> list[int]:
    """Sizes of the small files: they differ by a factor of up to 1,000."""
    weights = [1000 ** draw.random() for _ in range(FILES - 3)]
    total = size_bytes * _SMALL_SHARE * CONTENT_RATIO / sum(weights)
    return [round(weight * total) + 1 for weight in weights]


def _filling(draw: random.Random, room: int) -> list[int]:
    """Blocks that come to no more than *room* when deflated."""
    numbers: list[int] = []
    while True:
        number = draw.randrange(_BLOCKS)
        room -= len(_blocks()[number].deflated)
        if room < 0:
            return numbers
        numbers.append(number)


def _member(name: bytes, numbers: list[int], tail: bytes, method: int = _DEFLATED) -> _Member:
    blocks = _blocks()
    crc32, sha1 = 0, hashlib.sha1(usedforsecurity=False)
    for text in (*(blocks[number].text for number in numbers), tail):
        crc32 = zlib.crc32(text, crc32)
        sha1.update(text)
    return _Member(
        name=name,
        blocks=tuple(numbers),
        tail=tail,
        method=method,
        crc32=crc32,
        size_bytes=len(numbers) * _BLOCK_BYTES + len(tail),
        compressed_bytes=sum(len(blocks[number].deflated) for number in numbers)
        + len(_compressed(tail, method)),
        sha1=sha1.hexdigest(),
    )


def _compressed(tail: bytes, method: int) -> bytes:
    return tail if method == _STORED else _deflate(tail, zlib.Z_FINISH)
