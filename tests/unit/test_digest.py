"""Digests equal the standard library's, with any split of the bytes."""

import hashlib
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.sha1 import sha1_of

from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.digest import Digest, digest_of

CONTENT = bytes(range(256)) * 40
ORACLES: dict[str, Callable[[bytes], str]] = {
    "sha256": lambda data: hashlib.new("sha256", data).hexdigest(),
    "sha512": lambda data: hashlib.new("sha512", data).hexdigest(),
    "md5": lambda data: hashlib.new("md5", data, usedforsecurity=False).hexdigest(),
    "crc32": lambda data: zlib.crc32(data).to_bytes(4).hex(),
}


@given(st.lists(st.binary()))
def test_any_split_gives_the_digest_of_every_algorithm(chunks: list[bytes]) -> None:
    """All algorithms see all bytes once and in order, empty chunks included."""
    whole = b"".join(chunks)
    assert digest_of(chunks, EXTRA_ALGORITHMS) == Digest(
        sha1_of(whole), len(whole), {name: oracle(whole) for name, oracle in ORACLES.items()}
    )


def test_there_is_an_oracle_for_each_extra_algorithm() -> None:
    """An algorithm that is added is an algorithm that is tested."""
    assert set(ORACLES) == set(EXTRA_ALGORITHMS)


def test_no_chunks_hash_as_zero_bytes() -> None:
    """An empty object has the digest that `sha1sum` gives an empty file."""
    assert digest_of([]) == Digest("da39a3ee5e6b4b0d3255bfef95601890afd80709", 0)


def test_only_what_was_asked_for_is_computed() -> None:
    """SHA-1 is always there and never among the extras."""
    assert set(digest_of([CONTENT], ["md5"]).extra) == {"md5"}


def test_one_chunk_is_held_at_a_time() -> None:
    """However long the stream, memory is that of a chunk and of the next one."""
    chunk_bytes = 1_000_000
    tracemalloc.start()
    try:
        digest = digest_of(bytes(chunk_bytes) for _ in range(20))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert digest.size_bytes == 20 * chunk_bytes
    assert peak_bytes < 2.5 * chunk_bytes


def test_unknown_algorithm_is_an_error() -> None:
    """Settings admit only known names; a slip past them is not ignored."""
    with pytest.raises(KeyError, match="sha3"):
        digest_of([], ["sha3"])
