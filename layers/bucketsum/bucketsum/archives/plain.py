"""Small members with nothing odd about them: nearly all, read in a few steps."""

from __future__ import annotations

import hashlib

from bucketsum.archives.bounded_decoder import FEED_BYTES, PIECE_BYTES
from bucketsum.archives.central_directory import Placed
from bucketsum.archives.decoders import crc32, whole_content
from bucketsum.archives.local_header import LOCAL_BYTES, ByteSource, plain_data_offset
from bucketsum.archives.member import Decoding, HashedMember
from bucketsum.archives.zip_model import MemberDigest


def plain_member(placed: Placed, source: ByteSource, decoding: Decoding) -> HashedMember | None:
    """The member that *source* is at, with its content; None if anything about it is odd.

    The digest is that of `placed.hashed_at`, which reads what is odd.

    Raises:
        ArchiveStopped: A limit was reached, or time is up.
    """
    member, *others = placed.members
    room = placed.room_end - placed.offset
    count, size = member.compressed_bytes, member.size_bytes
    if (
        others
        or source.offset != placed.offset
        or placed.offset < 0
        or not LOCAL_BYTES <= room <= FEED_BYTES
        or size > PIECE_BYTES
        or (not size and (count or member.ends_as_folder))
    ):
        return None
    data = source.peek(room)
    start = plain_data_offset(data, member)
    if not start or start + count > room:
        return None
    decoding.counter.require_time()
    content = whole_content(member, data[start : start + count], decoding.engine)
    if content is None or crc32(content, 0) != member.crc32:
        return None
    decoding.counter.add(size, size, count)
    source.skip_to(placed.offset + start + count)
    sha1 = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    return HashedMember(MemberDigest(member, size, sha1), memoryview(content))
