"""Lines of `sha1sum`, its relatives, BSD and OpenSSL, read as `sha1sum --check` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.manifests.entries import (
    BadLine,
    Entry,
    algorithm_called,
    as_name,
    as_path,
    digests_of,
)
from bucketsum_cli.manifests.lines import BYTE_ORDER_MARK

NO_CR: Final = "like the first, without CR"
_TAGGED: Final = re.compile(
    rb"[ \t]*(\\?)([A-Za-z][\w/-]*) ?\((.+)\)[ \t]*=[ \t]*([^ \t]+)", re.DOTALL
)
_SUM: Final = re.compile(rb"[ \t]*(\\?)([^ \t\\]+)[ \t](.+)", re.DOTALL)
_EXACT: Final = re.compile(rb" *([^ ]+) [ *](.+)", re.DOTALL)
_RCLONE_REPLACES: Final = re.compile(rb"[\x00-\x1f\x7f]|\xe2\x90[\x80-\xa1]|\xe2\x80\x9b")
"""Control characters; U+2400 to 2421, which rclone prints for them; U+201B, its quote for those."""
_IN_BAG: Final = re.compile(rb"([^ \t]+)[ \t]+(?:\*(?=data/))?(.+)", re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\(.?)", re.DOTALL)
_TO_ESCAPE: Final = re.compile(rb"[\\\n\r]")
_ESCAPED: Final = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}
_PERCENT: Final = re.compile(rb"%(25|0[AaDd])")
_LINE_BREAK: Final = re.compile(rb"%(0[AaDd])")
_BARE_PERCENT: Final = re.compile(rb"%(?!25|0[AaDd])")
_MODES: Final = (b" ", b"*")


def content_of(lines: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Number and content of each of *lines*, without its end; blanks and comments are left out.

    A comment may begin a name, so this is for formats that have none in front. A byte-order mark
    may be before any line, as in lists that were joined.

    The first line says whether they end with CRLF: else a CR may belong to the name, as `shasum`
    prints it, and the line is not an entry.
    """
    has_cr = False
    for number, line in enumerate(lines, 1):
        content = line.removesuffix(b"\n").removeprefix(BYTE_ORDER_MARK)
        if number == 1:
            has_cr = line.endswith(b"\r\n")
        content = content.removesuffix(b"\r") if has_cr else content
        if not is_comment(content):
            yield number, content


def is_comment(line: bytes) -> bool:
    """Whether *line* is blank, a comment of some program, or Excel's note of the delimiter."""
    text = line.strip()
    return text in (b"", b"//") or text.startswith((b"#", b";", b"// ", b"sep="))


def sums_in(lines: Iterable[bytes], algorithm: str | None = None) -> Iterator[Entry | BadLine]:
    """Read what `sha1sum`, `sha1sum --tag` and `openssl dgst` print, also mixed.

    A second blank, or ``*``, is the mode and no part of a name, unless the first digest has none.
    """
    has_mode: bool | None = None
    for number, content in content_of(lines):
        escape = name = b""
        digests = None
        if match := _TAGGED.fullmatch(content):
            escape, tag, name, digest = match.groups()
            digests = digests_of(_text(digest), algorithm_called(_text(tag)))
        elif match := _SUM.fullmatch(content):
            escape, digest, name = match.groups()
            digests = digests_of(_text(digest), algorithm)
            if has_mode is None and digests:
                has_mode = name.startswith(_MODES)
            name = name[1:] if has_mode and name.startswith(_MODES) else name
        name = as_name(_unescaped(name) if escape else name)
        yield _entry(number, content, name, digests, "a digest and a name, as `sha1sum` prints")


def exact_sums_in(
    lines: Iterable[bytes], algorithm: str | None = None
) -> Iterator[Entry | BadLine]:
    """Read what `rclone hashsum` prints: names are keys, without ``./`` and escapes."""
    for number, content in content_of(lines):
        match = _EXACT.fullmatch(content)
        digest, name = match.groups() if match else (b"", b"")
        expected = "a digest and a name, as `rclone hashsum` prints"
        if _RCLONE_REPLACES.search(name):
            name, expected = b"", "a name that rclone prints as it is"
        yield _entry(number, content, name, digests_of(_text(digest), algorithm), expected)


def bag_entries_in(
    lines: Iterable[bytes], algorithm: str | None = None, *, has_percent: bool = True
) -> Iterator[Entry | BadLine]:
    """Read BagIt's ``manifest-ALGORITHM.txt`` (RFC 8493).

    Before BagIt 1.0 a percent sign is not escaped (*has_percent*), nor does bagit-python do it:
    with a bare one, none in the manifest is an escape.
    """
    lines = [*lines]
    is_bare = not has_percent or any(map(_BARE_PERCENT.search, lines))
    escapes = _LINE_BREAK if is_bare else _PERCENT
    for number, content in content_of(lines):
        match = _IN_BAG.fullmatch(content)
        digest, path = match.groups() if match else (b"", b"")
        name = escapes.sub(lambda escape: bytes.fromhex(escape[1].decode()), as_name(path))
        expected = "a digest and a path, as in a BagIt manifest"
        yield _entry(number, content, name, digests_of(_text(digest), algorithm), expected)


def digests_in(lines: Iterable[bytes], algorithm: str | None = None) -> Iterator[Entry | BadLine]:
    """Read digests alone, one in each line."""
    for number, content in content_of(lines):
        digests = digests_of(_text(content.strip()), algorithm)
        bad = BadLine.of(number, "a digest alone", content)
        yield Entry(b"", digests, line=number) if digests else bad


def is_digest(line: bytes) -> bool:
    """Whether *line* is a digest alone."""
    return digests_of(_text(line.strip())) is not None


def sum_line(entry: Entry, algorithm: str) -> bytes:
    """`sha1sum`'s line; a name with a line break has escapes after a first backslash."""
    mark, name = _escaped(entry)
    return b"%s%s  %s\n" % (mark, entry.digests[algorithm].encode(), name)


def tagged_line(entry: Entry, algorithm: str) -> bytes:
    """The line of `sha1sum --tag`."""
    mark, name = _escaped(entry)
    digest = entry.digests[algorithm].encode()
    return b"%s%s (%s) = %s\n" % (mark, ALGORITHMS[algorithm].label.encode(), name, digest)


def exact_line(entry: Entry, algorithm: str) -> bytes | str:
    """`rclone hashsum`'s line, or why there is none."""
    if _RCLONE_REPLACES.search(entry.name):
        return "rclone prints control characters, or signs for them, as other characters"
    return b"%s  %s\n" % (entry.digests[algorithm].encode(), entry.name)


def bag_line(entry: Entry, algorithm: str) -> bytes:
    """The line of a BagIt manifest; the caller puts ``data/`` before the name."""
    path = b"./" + entry.name if entry.name.startswith((b" ", b"\t", b"*")) else as_path(entry.name)
    name = re.sub(rb"[%\r\n]", lambda match: b"%%%02X" % match[0][0], path)
    return b"%s  %s\n" % (entry.digests[algorithm].encode(), name)


def digest_line(entry: Entry, algorithm: str) -> bytes:
    """The digest alone, without a name."""
    return entry.digests[algorithm].encode() + b"\n"


def _entry(
    line: int, content: bytes, name: bytes, digests: dict[str, str] | None, expected: str
) -> Entry | BadLine:
    if content.endswith(b"\r"):
        expected = NO_CR
    elif name and digests and b"\0" not in name:
        return Entry(name, digests, line=line)
    return BadLine.of(line, expected, content)


def _text(field: bytes) -> str:
    return field.decode("ascii", "replace")


def _escaped(entry: Entry) -> tuple[bytes, bytes]:
    name = as_path(entry.name)
    if not _TO_ESCAPE.search(name):
        return b"", name
    for letter, character in _ESCAPED.items():  # the backslash is the first
        name = name.replace(character, b"\\" + letter)
    return b"\\", name


def _unescaped(name: bytes) -> bytes:
    """*name* without its escapes; empty if one of them is unknown."""
    escapes = [match[1] for match in _ESCAPE.finditer(name)]
    if not _ESCAPED.keys() >= set(escapes):
        return b""
    return _ESCAPE.sub(lambda match: _ESCAPED[match[1]], name)
