"""A digest that is saved and continued is the digest of all bytes."""

from __future__ import annotations

import ctypes
import zlib
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.digest import EXTRA_ALGORITHMS, digest_of
from bucketsum.errors import LibraryMissing
from bucketsum.long_objects import openssl_digest
from bucketsum.long_objects.openssl_digest import ALGORITHMS, library_for
from bucketsum.long_objects.portable_digest import BLOCK_BYTES, PortableDigest

if TYPE_CHECKING:
    from collections.abc import Callable

LIBRARY: Final = library_for(EXTRA_ALGORITHMS)
STATE_BYTES: Final = {"sha1": 28, "sha256": 40, "sha512": 72, "md5": 24, "crc32": 12}


@given(
    parts=st.lists(st.binary(max_size=300), max_size=8),
    blocks=st.lists(st.integers(0, 5), max_size=4),
    extra=st.lists(st.sampled_from(EXTRA_ALGORITHMS), unique=True),
)
def test_any_cuts_give_hashlibs_digests(
    parts: list[bytes], blocks: list[int], extra: list[str]
) -> None:
    """Saved after any blocks, with chunks of any size in between and any algorithms."""
    digest = PortableDigest(LIBRARY, extra)
    content = b""
    for number, count in enumerate([*blocks, None]):
        data = b"".join(parts) + bytes([number]) * 99
        if count is not None:
            data = (data * 20)[: count * BLOCK_BYTES]
        for start in range(0, len(data), 77):
            digest.update(data[start : start + 77])
        content += data
        if count is not None:
            states = digest.states()
            assert {name: len(state) for name, state in states.items()} == {
                name: STATE_BYTES[name] for name in ("sha1", *extra)
            }
            digest = PortableDigest(LIBRARY, extra, states)
        assert digest.length == len(content)
    assert digest.digest() == digest_of([content], extra)


def test_the_state_is_the_standards() -> None:
    """After one block, a state is its words, from the standard, and the length."""
    names = ("sha256", "sha512", "md5", "crc32")
    for name, algorithm in ALGORITHMS.items():
        digest = PortableDigest(LIBRARY, names)
        block = b"abc" + algorithm.padding(3)
        digest.update(bytes(BLOCK_BYTES - len(block)) + block)
        state = digest.states()[name]
        assert state[-8:] == BLOCK_BYTES.to_bytes(8, "big")
        if len(block) == BLOCK_BYTES:
            assert state[:-8].hex() == algorithm.abc
        assert digest.states()["crc32"][:4] == zlib.crc32(
            bytes(BLOCK_BYTES - len(block)) + block
        ).to_bytes(4, "big")


@pytest.mark.parametrize("length", [2**32, 50 * 10**12 // 128 * 128])
def test_lengths_beyond_32_bits_are_padded_as_the_standard_says(length: int) -> None:
    """The length in the padding is of all bytes, though this process saw only the last ones."""
    for name, algorithm in ALGORITHMS.items():
        padding = algorithm.padding(length + 3)
        assert (length + 3 + len(padding)) % algorithm.block_bytes == 0
        bits = padding[-2 * algorithm.word_bytes :]
        assert int.from_bytes(bits, algorithm.byte_order) == 8 * (length + 3), name
        assert padding[0] == 0x80


def test_a_state_ends_with_a_block() -> None:
    """Between blocks, there would be bytes to keep."""
    digest = PortableDigest(LIBRARY)
    digest.update(bytes(BLOCK_BYTES + 64))
    with pytest.raises(ValueError, match="192 bytes do not end with a block"):
        digest.states()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda states: {"sha1": states["sha1"]}, "do not end with the same block"),
        (lambda states: {**states, "md5": bytes(24)}, "do not end with the same block"),
        (lambda states: {**states, "md5": states["md5"][1:]}, "has 15 bytes of words, not 16"),
        (lambda _: {"sha1": bytes(27) + b"\x01", "md5": bytes(23) + b"\x01"}, "same block"),
    ],
)
def test_damaged_states_are_refused(
    change: Callable[[dict[str, bytes]], dict[str, bytes]], text: str
) -> None:
    """A state that is not whole never becomes a digest."""
    digest = PortableDigest(LIBRARY, ("md5",))
    digest.update(bytes(BLOCK_BYTES))
    with pytest.raises(ValueError, match=text):
        PortableDigest(LIBRARY, ("md5",), change(digest.states()))


def test_a_library_without_the_functions_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason says which function of which library is missing, and the remedy."""
    monkeypatch.setattr(openssl_digest, "_candidates", lambda: ["libc.so.6", "libnone.so.9"])
    with pytest.raises(LibraryMissing, match="SHA1_Update") as caught:
        library_for()
    assert "libc.so.6: it has no SHA1_Update" in str(caught.value)
    assert "libnone.so.9" in str(caught.value)


def test_a_library_with_another_struct_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the words are not where they are looked for, the vectors find out."""
    real = ctypes.memmove

    def elsewhere(target: object, source: bytes, count: int) -> object:
        return real(ctypes.addressof(target) + 4, source, count)  # type: ignore[arg-type] # an array

    monkeypatch.setattr(ctypes, "memmove", elsewhere)
    with pytest.raises(LibraryMissing, match="has another layout"):
        library_for()
