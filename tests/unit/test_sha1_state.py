"""sha1_state: a SHA-1 that is put down and taken up again is still SHA-1."""

from __future__ import annotations

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.sha1 import sha1_of

from bucketsum.sha1_state import STATE_BYTES, ResumableSha1, StateUnavailableError


def _is_available() -> bool:
    try:
        ResumableSha1()
    except StateUnavailableError:
        return False
    return True


needs_openssl = pytest.mark.skipif(
    not _is_available(), reason="this Python's OpenSSL is linked statically"
)


@needs_openssl
@given(st.lists(st.binary(max_size=200), max_size=6))
def test_saved_at_any_split_it_equals_hashlib(parts: list[bytes]) -> None:
    """Each part is hashed by an object that knows nothing but the one before's state."""
    state = ResumableSha1().state()
    for part in parts:
        running = ResumableSha1(state)
        running.update(part)
        state = running.state()
    assert ResumableSha1(state).hexdigest() == sha1_of(b"".join(parts))


@needs_openssl
@pytest.mark.parametrize("size", [0, 1, 55, 56, 63, 64, 65, 127, 128, 1_000_003])
def test_block_borders_are_like_any_byte(size: int) -> None:
    """Padding and the half-full block travel with the state."""
    data = bytes(size)
    first = ResumableSha1()
    first.update(data)
    second = ResumableSha1(first.state())
    second.update(b"tail")
    assert second.hexdigest() == sha1_of(data + b"tail")


@needs_openssl
def test_asking_for_the_digest_changes_nothing() -> None:
    """More can be added after a digest was read, and zero bytes are content too."""
    running = ResumableSha1()
    running.update(b"a\0b")
    assert running.hexdigest() == running.hexdigest() == sha1_of(b"a\0b")
    running.update(b"c")
    assert running.hexdigest() == sha1_of(b"a\0bc")


@needs_openssl
def test_state_is_a_copy() -> None:
    """Going on does not change a state that was saved before."""
    running = ResumableSha1()
    running.update(b"begin")
    saved = running.state()
    running.update(b"more")
    assert len(saved) == STATE_BYTES
    assert ResumableSha1(saved).hexdigest() == sha1_of(b"begin")


@needs_openssl
@pytest.mark.parametrize("size", [0, 20, STATE_BYTES - 1, STATE_BYTES + 1])
def test_state_of_another_length_is_refused(size: int) -> None:
    """A truncated state would give a wrong digest, so it gives none."""
    with pytest.raises(ValueError, match=f"has {STATE_BYTES} bytes, this one has {size}"):
        ResumableSha1(bytes(size))


def test_python_without_reachable_openssl_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statically linked OpenSSL has no SHA1_Init to find; nothing falls back in silence."""
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())
    with pytest.raises(StateUnavailableError, match="linked statically"):
        ResumableSha1()
