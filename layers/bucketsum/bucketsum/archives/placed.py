"""The members at one offset of an archive → their digests: of all, at most one is really there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile

from bucketsum.archives.central_directory import Placed
from bucketsum.archives.data_descriptor import Described
from bucketsum.archives.local_header import (
    LOCAL_BYTES,
    LOCAL_SIGNATURE,
    ByteSource,
    LocalHeader,
    no_header,
)
from bucketsum.archives.member import HashedMember, unreadable
from bucketsum.archives.names import shown
from bucketsum.archives.zip_model import Member, MemberUnreadable, Problem

Hash = Callable[[tuple[Member, ...], Iterable[memoryview] | Described], HashedMember]
"""Decodes and hashes compressed bytes, by what a member can be."""


def hashed_at(placed: Placed, source: ByteSource, read: Hash) -> Iterator[HashedMember]:
    """Read the members at an offset, where *source* is; folders have no result.

    A member has no SHA-1 if others begin before its end. Fewer bytes than a local header has are
    too few for another member, and are read.
    """
    try:
        if source.offset != placed.offset or not 0 <= placed.offset <= placed.end - LOCAL_BYTES:
            raise no_header(placed.offset)
        local = LocalHeader.read(source, placed.end, placed.offsets)
    except MemberUnreadable as error:
        yield from _unreadable(placed.members, error)
        return
    *others, member = placed.members
    if others:
        member = local.named(placed.members) or member
        reason = f"{shown(local.raw_name)} is at its offset {placed.offset}"
        shadowed = [other for other in placed.members if other is not member]
        yield from _unreadable(shadowed, MemberUnreadable(Problem.OVERLAPPING, reason))
    if not (member.is_folder and local.is_empty(placed.room_end)):
        yield _hashed(member, local, placed, source, read)


def _hashed(
    member: Member, local: LocalHeader, placed: Placed, source: ByteSource, read: Hash
) -> HashedMember:
    # Of another member, the header says nothing about this one.
    is_named = local.named((member,)) is not None
    claims = local.claims(member) if is_named else (member,)
    count = member.compressed_bytes
    if len(claims) > 1:
        count = max(claim.compressed_bytes for claim in claims)
    end = placed.room_end
    if local.data_offset + count <= end:
        hashed, is_over = read(claims, source.views(count)), False
    else:
        compressed = _Compressed(source, count, placed)
        hashed = read(claims, compressed)
        is_over = local.data_offset + member.compressed_bytes > end
        if is_over and not hashed.digest.sha1 and compressed.is_cut():
            reason = f"its {member.compressed_bytes} bytes at {local.data_offset} reach over "
            error = MemberUnreadable(Problem.OVERLAPPING, f"{reason}{compressed.cut_at}")
            return HashedMember(unreadable(member, error))
    contradicts = member.is_folder or local.contradicts(member)
    remarks = ("overlapping",) * is_over + ("contradictory",) * contradicts
    if not (member.is_encrypted or is_named):
        remarks += ("other-name",)
    return hashed.remarked(*remarks) if remarks else hashed


class _Compressed:
    """The next *count* bytes of *source*, as far as no other member begins before.

    Attributes:
        cut_at: Where another member or the directory begins, if this was reached.
    """

    def __init__(self, source: ByteSource, count: int, placed: Placed) -> None:
        self._source = source
        self._count = count
        self._placed = placed
        self._views = self._to_next_header()
        self.cut_at: int | None = None

    def __iter__(self) -> Iterator[memoryview]:
        """Go on where the last iteration ended."""
        return self._views

    def is_cut(self) -> bool:
        """Whether another member or the directory begins before their end."""
        for _ in self._views:
            continue
        return self.cut_at is not None

    def _to_next_header(self) -> Iterator[memoryview]:
        source, placed = self._source, self._placed
        end = source.offset + self._count
        for other in takewhile(lambda other: other < end, placed.others):  # before the directory
            if source.offset <= other:
                yield from source.views(other - source.offset)
                if other + LOCAL_BYTES <= placed.end and source.peek(4) == LOCAL_SIGNATURE:
                    break
        else:
            yield from source.views(min(end, placed.end) - source.offset)
        if source.offset < end:
            self.cut_at = source.offset
            over = end - source.offset
            if over < LOCAL_BYTES:
                yield memoryview(source.peek(over))


def _unreadable(members: Iterable[Member], error: MemberUnreadable) -> Iterator[HashedMember]:
    for member in members:
        if not member.is_folder:
            yield HashedMember(unreadable(member, error))
