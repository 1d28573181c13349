"""Changed inputs: bytes, and values of the JSON document that an input begins with."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

MAX_BYTES: Final = 256 * 1024
"""Maximum size of an input, as of a message in these queues."""

_VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1, 127, 128, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**400,
    1.5, -0.0, 1e308, float("nan"), float("inf"), "", "null", "true", "0", "-1", "auto", " ",
    "\x00", "\ud800", "\u202e", "\x1b[31m", "é" * 600, "a" * 1025, "..", "!/", "#", "²",
    "F" * 32, "F" * 33, "%FF", "%00", "+", "2026-11-21T03:04:05Z", "9999-99-99T99:99:99.9Z",
    "arn:aws:s3:::inbox", "null ", [], {}, [None], {"": ""},
)  # fmt: skip
_TOKENS: Final = (
    b"", b"\x00", b"\xff", b"\n", b"\r", b'"', b'""', b",", b"\\", b"{", b"}", b"[" * 20_000,
    b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"\xff" * 4, b"%FF", b"\x1b",
    b"x" * 140_000, b"9" * 5_000, b"1e999", b"NaN",
)  # fmt: skip


def mutated(data: bytes, pool: Sequence[bytes], chance: random.Random) -> bytes:
    """*data* with one to eight changes; parts may come from other inputs of the *pool*."""
    for _ in range(chance.choice((1, 1, 1, 2, 4, 8))):
        document, rest = _document_in(data)
        if document is not None and chance.random() < 0.75:
            data = json.dumps(_changed(document, chance)).encode() + rest
        else:
            data = _with_other_bytes(data, pool, chance)
    return data[:MAX_BYTES]


def _document_in(data: bytes) -> tuple[Any, bytes]:
    """The JSON document that *data* begins with, and the rest; None if there is none."""
    try:
        text = data.decode()
        document, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None, data
    return document, text[end:].encode()


def _changed(document: Any, chance: random.Random) -> Any:  # noqa: ANN401 - any JSON
    root = [document]
    places = list(_places(root))
    holder, name = chance.choice(places)
    value = holder[name]
    match chance.randrange(6):
        case 0 if holder is not root:
            del holder[name]
        case 1 if isinstance(value, list):
            holder[name] = value * chance.choice((2, 11, 300))
        case 2 if isinstance(value, str):
            at = chance.randint(0, len(value))
            holder[name] = value[:at] + str(chance.choice(_VALUES)) + value[at + 1 :]
        case 3 if isinstance(value, int):
            holder[name] = value + chance.choice((-128, -64, -1, 1, 64, 128, 2**32))
        case 4:
            other, place = chance.choice(places)
            holder[name] = json.loads(json.dumps(other[place]))
        case _:
            holder[name] = chance.choice(_VALUES)
    return root[0]


def _places(root: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - any JSON
    """Each value's container and its key or index in it."""
    waiting = [root]
    while waiting:
        holder = waiting.pop()
        names = range(len(holder)) if isinstance(holder, list) else list(holder)
        for name in names:
            yield holder, name
            if isinstance(holder[name], list | dict):
                waiting.append(holder[name])


def _with_other_bytes(data: bytes, pool: Sequence[bytes], chance: random.Random) -> bytes:
    start = chance.randint(0, len(data))
    end = min(len(data), start + chance.choice((0, 1, 1, 2, 4, 30)))
    match chance.randrange(5):
        case 0:
            new = chance.choice(_TOKENS)
        case 1:
            new = chance.randbytes(end - start)
        case 2:
            new = data[start:end] * 2
        case 3:
            other = chance.choice(pool)
            return data[:start] + other[chance.randint(0, len(other)) :]
        case _:
            new = b""
    return data[:start] + new + data[end:]
