"""Small members with nothing odd about them: nearly all, read in a few steps."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from bucketsum.archives.bounded_decoder import FEED_BYTES, PIECE_BYTES
from bucketsum.archives.decoders import crc32, whole_content
from bucketsum.archives.local_header import LOCAL_BYTES, plain_data_offset
from bucketsum.archives.zip_model import MemberDigest

if TYPE_CHECKING:
    from bucketsum.archives.central_directory import Placed
    from bucketsum.archives.local_header import ByteSource
    from bucketsum.archives.member import Decoding


def plain_digest(placed: Placed, source: ByteSource, decoding: Decoding) -> MemberDigest | None:
    """The digest of the member that *source* is at; None if anything is odd, and nothing was read.

    It is as `placed.hashed_at` would have it.

    Raises:
        ArchiveStopped: A limit was reached, or time is up.
    """
    member, *others = placed.members
    room = placed.room_end - placed.offset
    count, size = member.compressed_bytes, member.size_bytes
    if (
        others
        or source.offset != placed.offset
        or not LOCAL_BYTES <= room <= FEED_BYTES
        or size > PIECE_BYTES
        or not size
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
    return MemberDigest(member, size, hashlib.sha1(content, usedforsecurity=False).hexdigest())
