"""SHA-1 as hashlib computes it: the oracle of every digest."""

import hashlib


def sha1_of(content: bytes) -> str:
    """The SHA-1 of *content* in hexadecimal, as `sha1sum` prints it."""
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
