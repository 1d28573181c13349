"""Small archives of many kinds, for a fuzzer to begin with."""

import io
import sys
import zipfile
from itertools import product
from pathlib import Path

_CONTENTS = (b"", b"a", b"hello world " * 20, bytes(range(256)) * 4)


def seeds() -> list[bytes]:
    """Every method that Python writes, with and without descriptors, comments, Zip64, prefixes."""
    archives = []
    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    for method, streamed, wide in product(methods, (False, True), (False, True)):
        target = Unseekable() if streamed else io.BytesIO()
        with zipfile.ZipFile(target, "w", method) as archive:
            for number, content in enumerate(_CONTENTS):
                with archive.open(f"d/{number}", "w", force_zip64=wide) as member:
                    member.write(content)
            archive.comment = b"PK\x05\x06 in a comment" if wide else b""
        archives.append(target.getvalue())
    nested = io.BytesIO()
    with zipfile.ZipFile(nested, "w") as archive:
        archive.writestr("inner.zip", archives[1])
        archive.writestr("é/ü.txt", b"x")
        archive.mkdir("folder") if sys.version_info >= (3, 11) else None
    return [*archives, nested.getvalue(), b"#!/bin/sh\nexit\n" + archives[0]]


class Unseekable(io.BytesIO):
    """Makes zipfile write data descriptors."""

    def seekable(self) -> bool:
        """No."""
        return False

    def seek(self, *_: object) -> int:
        """Refused."""
        raise io.UnsupportedOperation

    def tell(self) -> int:
        """Refused."""
        raise io.UnsupportedOperation


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for position, seed in enumerate(seeds()):
        (folder / f"seed-{position}").write_bytes(seed)
