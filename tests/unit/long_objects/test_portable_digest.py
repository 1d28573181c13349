"""A digest that is saved and continued is the digest of all bytes."""

import ctypes
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bucketsum.algorithms import ALGORITHMS, CRC32, EXTRA_ALGORITHMS
from bucketsum.digest import digest_of
from bucketsum.errors import LibraryMissing
from bucketsum.long_objects import openssl_digest
from bucketsum.long_objects.openssl_digest import library_for, padding
from bucketsum.long_objects.portable_digest import BLOCK_BYTES, PortableDigest

LIBRARY: Final = library_for(EXTRA_ALGORITHMS)
STATE_BYTES: Final = {name: algorithm.state_bytes + 8 for name, algorithm in ALGORITHMS.items()}
SHA512_ABC: Final = (
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
    "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
)
BY_OPENSSL: Final = [algorithm for algorithm in ALGORITHMS.values() if algorithm is not CRC32]


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


@pytest.mark.parametrize(
    ("name", "abc"),
    [
        ("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ("sha512", SHA512_ABC),
        ("md5", "900150983cd24fb0d6963f7d28e17f72"),
        ("crc32", "352441c2"),
    ],
)
def test_the_digest_of_abc_is_the_standards(name: str, abc: str) -> None:
    """OpenSSL's functions and hashlib's give the digest that the standard names."""
    digest = PortableDigest(LIBRARY, EXTRA_ALGORITHMS)
    digest.update(b"abc")
    for result in (digest.digest(), digest_of([b"abc"], EXTRA_ALGORITHMS)):
        assert {"sha1": result.sha1, **result.extra}[name] == abc
    assert ALGORITHMS[name].is_digest(abc)
    assert not any(ALGORITHMS[name].is_digest(bad) for bad in (abc.upper(), abc[1:], abc + "0"))


@pytest.mark.parametrize("length", [2**32, 50 * 10**12 // 128 * 128])
def test_lengths_beyond_32_bits_are_padded_as_the_standard_says(length: int) -> None:
    """The length in the padding is of all bytes, though this process saw only the last ones."""
    for algorithm in BY_OPENSSL:
        added = padding(algorithm, length + 3)
        assert (length + 3 + len(added)) % algorithm.block_bytes == 0
        bits = added[-algorithm.block_bytes // 8 :]
        assert int.from_bytes(bits, algorithm.byte_order) == 8 * (length + 3), algorithm
        assert added[0] == 0x80


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
