"""The output of `bucketsum export`: lines or Parquet, and notes on what is not in it."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

from bucketsum.algorithms import SHA1
from bucketsum_cli.arguments.target import Target
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.manifests.entries import BadLine
from bucketsum_cli.manifests.formats import FOLDER_MARKER, not_recorded
from bucketsum_cli.snapshots.database import Database
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_text
from bucketsum_cli.terminal.output_files import STDOUT, output_file

_PERCENT: Final = "its name has a percent sign"

_SHOWN_REASONS: Final = 5


def write_parquet(database: Database, file: IO[bytes], *, relative: bool) -> None:
    """Write the objects of the question to *file*, sorted; *relative* names lack the prefix."""
    with TemporaryDirectory(prefix="bucketsum-") as folder:
        path = Path(folder, "export.parquet")
        query = query_text("export")
        key = "substr(e.key, length(q.prefix) + 1)" if relative else "e.key"
        query = (
            f"SELECT e.* REPLACE ({key} AS key) FROM ({query}) e CROSS JOIN question q "  # noqa: S608 - a query of ours
            "ORDER BY bucket, key, member NULLS FIRST"
        )
        database.local.write_parquet(query, path)
        with path.open("rb") as whole:
            shutil.copyfileobj(whole, file)


def are_left_out(problems: Counter[str], bucket: str, algorithm: str) -> bool:
    """Note the *problems* of objects without a line, and next steps; returns whether it has any."""
    if markers := problems.pop(FOLDER_MARKER, 0):
        note(f"{count_text(markers, 'folder marker')} left out: no file has such a name")
    if percents := problems.pop(_PERCENT, 0):
        named = count_text(percents, "name")
        note(f"{named} with a percent sign: it is %25 by RFC 8493, and bagit.py does not read that")
    for reason, count in problems.most_common(_SHOWN_REASONS):
        note(f"{count_text(count, 'object')} left out: {reason}")
    missing = not_recorded(algorithm)
    if missing in problems and algorithm == SHA1.name:
        note(f"`{command_line('coverage', bucket)}` shows what has no digest, and why")
    elif missing in problems:
        verify = command_line("verify", bucket, "--missing", algorithm)
        note(f"`{verify}` adds it, if the stack's parameter ExtraAlgorithms has it")
    if problems.keys() - {missing}:
        note("--format jsonl can have them")
    return bool(problems)


def write_lines(
    lines: Iterable[bytes | BadLine], file: IO[bytes] | None, *, has_percents: bool
) -> Counter[str]:
    """Write the *lines*, or print them without a *file*; returns why objects have none."""
    problems: Counter[str] = Counter()
    for line in lines:
        if isinstance(line, BadLine):
            problems[line.reason] += 1
            continue
        if has_percents and b"%25" in line:
            problems[_PERCENT] += 1
        if file is not None:
            file.write(line)
        elif not print_text(line.decode()):
            break
    return problems


@contextmanager
def destination(target: Target, output: str | None, *, is_text: bool) -> Iterator[IO[bytes] | None]:
    """Yield the file that is *output* when it is complete; None is stdout for lines of text."""
    if output is None or (output == str(STDOUT) and is_text):
        yield None
    elif S3Place.is_url(output):
        place = S3Place.of_object(output)
        with TemporaryDirectory(prefix="bucketsum-") as folder:
            path = Path(folder, "manifest")
            with path.open("wb") as file:
                yield file
            with path.open("rb") as body:
                target.find().client("s3").put_object(Bucket=place.bucket, Key=place.key, Body=body)
    else:
        with output_file(Path(output)) as file:
            yield file
