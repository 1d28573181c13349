"""`bucketsum export`: a manifest of what is in a bucket."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final

import click

from bucketsum.algorithms import ALGORITHMS, SHA1
from bucketsum.archives.member_rows import MEMBER_MARK
from bucketsum.table.state import ObjectState
from bucketsum_cli.arguments.buckets import bucket_argument
from bucketsum_cli.arguments.options import prefix_option
from bucketsum_cli.arguments.target import Target
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.commands.asking import Asking, no_objects, question
from bucketsum_cli.manifests.entries import BadLine, Entry
from bucketsum_cli.manifests.formats import BAGIT, FOLDER_MARKER, FORMATS, Format, not_recorded
from bucketsum_cli.snapshots.database import Answer, Database
from bucketsum_cli.snapshots.in_place_engine import InPlaceEngine
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.snapshots.stored import require_empty
from bucketsum_cli.terminal.errors import ANSWER_IS_NO
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_text
from bucketsum_cli.terminal.output_files import STDOUT, output_file

_PARQUET: Final = "parquet"
_PAYLOAD: Final = "data/"
_PLAIN_NAME: Final = r"\w[\w ./!-]*\w"  # in DuckDB, of ASCII
_PERCENT: Final = "its name has a percent sign"
_SHOWN_REASONS: Final = 5


@click.command("export")
@bucket_argument()
@prefix_option("Only keys that begin with TEXT.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice([*FORMATS, _PARQUET]),
    default="sum",
    show_default=True,
    help="The program that reads it: sum is sha1sum and its relatives, tag is BSD's form of it.",
)
@click.option(
    "--algorithm",
    type=click.Choice([*ALGORITHMS]),
    default=SHA1.name,
    show_default=True,
    help="The digests; csv, jsonl and parquet have all that are recorded, and S3's own checksum.",
)
@click.option("--relative", is_flag=True, help="Names without the prefix.")
@click.option("--members", is_flag=True, help="Also members of archives, as KEY!/PATH.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="A file or s3://BUCKET/KEY; - is stdout. An existing file is replaced. With --athena, a "
    "folder s3://BUCKET/FOLDER where nothing is.",
)
@question(has_json=False)
def export(
    asking: Asking,
    bucket: str,
    prefix: str,
    format_name: str,
    algorithm: str,
    relative: bool,
    members: bool,
    output: str | None,
) -> None:
    """Print a manifest of what is in BUCKET now, sorted by key.

    BUCKET is listed, unless --snapshot is given. CSV is for programs: a spreadsheet may execute a
    key. Names in a BagIt manifest begin with data/; if the prefix is the folder of a bag, it is the
    payload manifest of that bag. Lists of files leave out empty objects that
    stand for folders. Exits with 1 if an object lacks that digest, or its name cannot be written in
    this format; the rest is written. With --athena, Athena writes the objects, in any order, and no
    row passes this machine.

    Example: bucketsum export photos --algorithm sha256 -o photos.sha256
    """
    _require_output(asking, format_name, output, relative=relative)
    database, _ = asking.database(asking.keys(bucket, prefix))
    question: dict[str, Any] = {"bucket": bucket, "prefix": prefix, "with_members": members}
    counts = [*database.ask("export_states", **question)]
    if not counts:
        raise no_objects(bucket, prefix)
    problems = Counter[str]()
    if isinstance(database.engine, InPlaceEngine):
        database.engine.unload("export", S3Place.of_folder(str(output)), question)
    else:
        with _destination(asking.target, output, is_text=format_name != _PARQUET) as file:
            if format_name == _PARQUET and file is not None:
                database.local.put_question(question)
                _write_parquet(database, file, relative=relative)
            else:
                is_bag = format_name == BAGIT.name and _is_bag(database, question)
                without = prefix if relative or is_bag else ""
                lines = lines_of(database, question, format_name, algorithm, without, is_bag=is_bag)
                problems = _write(lines, file, has_percents=format_name == BAGIT.name)
    states = _not_hashed(counts, with_all=format_name == _PARQUET)
    _note_states(states, is_parquet=format_name == _PARQUET)
    if _are_left_out(problems, bucket, algorithm) or states:
        raise SystemExit(ANSWER_IS_NO)


def _require_output(
    asking: Asking, format_name: str, output: str | None, *, relative: bool
) -> None:
    """Refuse an *output* that cannot be written, or where Athena would find files."""
    if format_name == _PARQUET and output is None:
        raise click.UsageError("--format parquet needs --output")
    if asking.athena:
        if relative or format_name != _PARQUET or not S3Place.is_url(output or ""):
            raise click.UsageError(
                "--athena needs --format parquet and --output s3://BUCKET/FOLDER, and cannot be "
                "used with --relative"
            )
        require_empty(asking.target.connect()[0].client("s3"), S3Place.of_folder(str(output)))


def _not_hashed(counts: Iterable[Sequence[Any]], *, with_all: bool) -> Counter[str]:
    """Objects that a list of digests would hide, of the *counts* of `export_states.sql`, by state.

    Without *with_all*, only what `Format.lines` does not count: it counts what has no digest.
    """
    problems: Counter[str] = Counter()
    for state, is_partial, has_digest, count in counts:
        if state != ObjectState.HASHED and (with_all or has_digest):
            problems[state] += count
        if is_partial:
            problems["not all members of the archive are known"] += count
    return problems


def _note_states(states: Counter[str], *, is_parquet: bool) -> None:
    for state, count in states.most_common():
        note(f"{count_text(count, 'object')} {'' if is_parquet else 'left out: '}{state}")


def _is_bag(database: Database, question: dict[str, Any]) -> bool:
    """Whether the prefix is the folder of a bag; notes what is left out then."""
    database.local.put_question(question)
    declared = database.local.run(
        "SELECT 1 FROM question q JOIN current_objects c "
        "ON c.bucket = q.bucket AND c.key = q.prefix || 'bagit.txt'"
    )
    is_bag = bool([*declared.records()])
    if is_bag:
        note("the tag files of the bag are left out: a payload manifest does not list them")
    return is_bag


def _write_parquet(database: Database, file: IO[bytes], *, relative: bool) -> None:
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


def _are_left_out(problems: Counter[str], bucket: str, algorithm: str) -> bool:
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


def lines_of(
    database: Database,
    question: Mapping[str, Any],
    format_name: str,
    algorithm: str,
    prefix: str = "",
    *,
    is_bag: bool = False,
) -> Iterator[bytes | BadLine]:
    """The lines of objects, with names without *prefix*; or why an object has none."""
    format_ = FORMATS[format_name]
    digests = [algorithm] if format_.has_one_digest else [*ALGORITHMS]
    name = f"substr(concat(key, '{MEMBER_MARK}' || member), {len(prefix) + 1})"
    if format_ is BAGIT and not is_bag:
        name = f"concat('{_PAYLOAD}', {name})"
    database.local.put_question(question)
    rows = database.local.run(
        "SELECT line, CASE WHEN line IS NULL "  # noqa: S608 - texts of ours
        f"THEN row(name, size_bytes, s3_checksum, s3_checksum_result, {', '.join(digests)}) END "
        f"FROM (SELECT *, {_plain_line(format_, algorithm)} AS line "
        f"FROM (SELECT *, {name} AS name FROM ({query_text('export')}))) "
        f"WHERE (sha1 IS NULL OR state = '{ObjectState.HASHED}') "  # others: see `_not_hashed`
        f"AND starts_with(name, '{_PAYLOAD if is_bag else ''}') ORDER BY key, member NULLS FIRST"
    )
    return format_.lines(_entries(rows, digests), algorithm)


def _plain_line(format_: Format, algorithm: str) -> str:
    """SQL for the line of an object with a plain name, which stands in it as it is; else null."""
    line = format_.line(Entry(b"{name}", {algorithm: "{digest}"}), algorithm)
    if not format_.has_one_digest or not isinstance(line, bytes):
        return "NULL"
    text = line.decode().replace("{name}", "' || name || '")
    text = text.replace("{digest}", f"' || {algorithm} || '")
    return f"CASE WHEN regexp_full_match(name, '{_PLAIN_NAME}') THEN '{text}' END"


def _entries(rows: Answer, digests: Sequence[str]) -> Iterator[Entry | bytes]:
    """The lines that are known already, and the other entries."""
    for line, entry in rows:
        if line is not None:
            yield line.encode()
            continue
        name, size_bytes, checksum, result, *values = entry
        known = {digest: value for digest, value in zip(digests, values, strict=True) if value}
        yield Entry(name.encode(), known, size_bytes, checksum=(checksum or "", result or ""))


def _write(
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
def _destination(
    target: Target, output: str | None, *, is_text: bool
) -> Iterator[IO[bytes] | None]:
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
