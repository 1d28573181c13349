"""Registry of the compared readers."""

from dataclasses import dataclass, field
from typing import Any, Final

from bench.sandbox.objects import COMPARED
from bench.tables.options import matching

MIB: Final = 1024 * 1024

BASELINE: Final = "baseline, 20 MB chunks"
"""The reader of Bryson (2021); ratios compare with it."""

AS_DEPLOYED: Final = "bucketsum, as deployed"
"""The deployed reader, with `Streams` at `auto`, and S3's checksum compared."""

LIMIT: Final = "libcurl, the limit of one stream"
"""An upper bound, not a usable reader."""


@dataclass(frozen=True, slots=True)
class ComparedReader:
    """One reader of the comparison.

    Attributes:
        name: Name in tables and on the command line.
        reader: Name of a function in `bench.readers.implementations`.
        options: Keyword arguments of the function.
        needs: Required distributions or programs.
    """

    name: str
    reader: str
    options: dict[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ("boto3",)


_AWS: Final = ["{aws}", "s3", "cp", "--only-show-errors", "s3://{bucket}/{key}", "-"]
_S5CMD: Final = ["{s5cmd}", "--endpoint-url", "{endpoint}", "cat", "s3://{bucket}/{key}"]
# rclone's SDK refuses its own HTTP client if AWS_CA_BUNDLE is set; SSL_CERT_FILE is enough.
_RCLONE: Final = [
    *("env", "--unset=AWS_CA_BUNDLE"),
    *("{rclone}", "--config", "/dev/null", "cat", ":s3:{bucket}/{key}"),
]

_CURL: Final = ("boto3", "pycurl")

ENTRIES: Final = (
    ComparedReader(BASELINE, "baseline", {"chunk_bytes": 20_000_000}),
    ComparedReader("baseline, 1 MB chunks", "baseline", {"chunk_bytes": 1_000_000}),
    ComparedReader("boto3 iter_chunks(1 MiB)", "iter_chunks", {"chunk_bytes": MIB}),
    ComparedReader("boto3 download_fileobj", "download_fileobj"),
    ComparedReader(
        "AWS CRT, 8 MiB parts",
        "crt",
        {"part_bytes": 8 * MIB, "gbit_per_s": 5.0},
        ("awscrt",),
    ),
    ComparedReader("aws s3 cp - | sha1sum", "piped", {"argv": _AWS}, ("aws",)),
    ComparedReader("s5cmd cat | sha1sum", "piped", {"argv": _S5CMD}, ("s5cmd",)),
    ComparedReader("rclone cat | sha1sum", "piped", {"argv": _RCLONE}, ("rclone",)),
    ComparedReader(LIMIT, "curl", needs=_CURL),
    ComparedReader(AS_DEPLOYED, "as_deployed", {"key": COMPARED}, (*_CURL, "anycrc")),
    ComparedReader("bucketsum, CompareChecksums=no", "as_deployed", needs=_CURL),
    ComparedReader("bucketsum, 1 stream", "as_deployed", {"streams": 1}, _CURL),
    ComparedReader("bucketsum, one boto3 stream", "single_stream", {"chunk_bytes": MIB}),
)
"""In the order of the table."""

OURS: Final = tuple(entry.name for entry in ENTRIES if entry.name.startswith("bucketsum"))
"""The deployed reader and its variants."""


def chosen(parts: tuple[str, ...]) -> tuple[ComparedReader, ...]:
    """The baseline, and the entries whose name contains one of *parts*; all if there are no parts.

    Raises:
        ValueError: No name contains one of the parts.
    """
    names = {BASELINE, *matching(parts, [entry.name for entry in ENTRIES])}
    return tuple(entry for entry in ENTRIES if entry.name in names)
