"""`bucketsum export`: a manifest of what is in a bucket."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import click

from bucketsum.algorithms import ALGORITHMS, SHA1
from bucketsum.table.state import ObjectState
from bucketsum_cli.arguments.buckets import bucket_argument
from bucketsum_cli.arguments.options import prefix_option
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.commands.asking import Asking, no_objects, question
from bucketsum_cli.commands.export_output import (
    are_left_out,
    destination,
    write_lines,
    write_parquet,
)
from bucketsum_cli.manifests.formats import BAGIT, FORMATS
from bucketsum_cli.snapshots.in_place_engine import InPlaceEngine
from bucketsum_cli.snapshots.manifest_lines import is_bag_folder, lines_of
from bucketsum_cli.snapshots.stored import require_empty
from bucketsum_cli.terminal.errors import end_if
from bucketsum_cli.terminal.formatting import count_text
from bucketsum_cli.terminal.output import note

_PARQUET: Final = "parquet"


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
        with destination(asking.target, output, is_text=format_name != _PARQUET) as file:
            if format_name == _PARQUET and file is not None:
                database.local.put_question(question)
                write_parquet(database, file, relative=relative)
            else:
                is_bag = format_name == BAGIT.name and is_bag_folder(database, question)
                without = prefix if relative or is_bag else ""
                lines = lines_of(database, question, format_name, algorithm, without, is_bag=is_bag)
                problems = write_lines(lines, file, has_percents=format_name == BAGIT.name)
    states = _not_hashed(counts, with_all=format_name == _PARQUET)
    for state, count in states.most_common():
        left_out = "" if format_name == _PARQUET else "left out: "
        note(f"{count_text(count, 'object')} {left_out}{state}")
    end_if(are_left_out(problems, bucket, algorithm) or states)


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
