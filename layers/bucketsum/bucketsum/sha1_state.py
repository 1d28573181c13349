"""A SHA-1 whose running state can be saved and continued in another process.

hashlib hides its state. OpenSSL's own ``SHA1_Init``, ``SHA1_Update`` and ``SHA1_Final`` keep all
of it in a ``SHA_CTX`` of 96 bytes, and are reached through the library that Python's ``_hashlib``
is linked to: the same code at the same speed. They are deprecated since OpenSSL 3.0 but present.
"""

from __future__ import annotations

import _hashlib
import ctypes
from typing import Final

STATE_BYTES: Final = 96
"""``sizeof(SHA_CTX)``: five words of hash, two of length, sixteen of block, one of fill."""

_DIGEST_BYTES: Final = 20


class StateUnavailableError(RuntimeError):
    """This Python's hashlib is not linked to an OpenSSL whose SHA-1 functions can be reached."""


def _openssl() -> ctypes.CDLL:
    library = ctypes.CDLL(getattr(_hashlib, "__file__", None))
    try:
        library.SHA1_Init.argtypes = [ctypes.c_void_p]
        library.SHA1_Update.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        library.SHA1_Final.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    except AttributeError as error:
        raise StateUnavailableError(
            "this Python's OpenSSL is linked statically; its SHA-1 state cannot be saved"
        ) from error
    return library


class ResumableSha1:
    """SHA-1 with hashlib's verbs, and a state to carry over.

    Raises:
        StateUnavailableError: On making one, where OpenSSL cannot be reached.
        ValueError: On making one, where *state* is not `STATE_BYTES` long.
    """

    def __init__(self, state: bytes | None = None) -> None:
        self._openssl = _openssl()
        self._context = ctypes.create_string_buffer(STATE_BYTES)
        if state is None:
            self._openssl.SHA1_Init(self._context)
            return
        if len(state) != STATE_BYTES:
            raise ValueError(f"a saved state has {STATE_BYTES} bytes, this one has {len(state)}")
        self._context.raw = state

    def update(self, data: bytes, /) -> None:
        """Continue with *data*."""
        self._openssl.SHA1_Update(self._context, data, len(data))

    def state(self) -> bytes:
        """Everything that `ResumableSha1` needs to continue here, in `STATE_BYTES` bytes."""
        return self._context.raw

    def hexdigest(self) -> str:
        """The digest of all so far, 40 lower-case characters; more can still be added."""
        result = ctypes.create_string_buffer(_DIGEST_BYTES)
        copy = ctypes.create_string_buffer(self._context.raw, STATE_BYTES)
        self._openssl.SHA1_Final(result, copy)
        return result.raw.hex()
