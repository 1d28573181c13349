"""`bucketsum repair`: put a copy with the recorded digest in the place of what is broken."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Final

import click

from bucketsum.table.rows import Row
from bucketsum.table.state import ObjectState
from bucketsum_cli.arguments.completion import complete_key
from bucketsum_cli.arguments.options import json_option, yes_option
from bucketsum_cli.arguments.target import Target, bucket_options
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.s3_place import S3Place
from bucketsum_cli.buckets.served_buckets import serves
from bucketsum_cli.objects.repairs import Broken, broken_version, copied, copies_of, require_equal
from bucketsum_cli.objects.upload import wait_for_rows
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.live_progress import spinner
from bucketsum_cli.terminal.output import note, print_json, say

WAIT_SECONDS: Final = 900.0
"""The time-out of the hasher."""


@dataclass(frozen=True, slots=True)
class RepairResult:
    """A version that was repaired, or that can be."""

    bucket: str
    key: str
    version: Annotated[str | None, "The broken version; null if nothing is to be repaired."]
    state: Annotated[ObjectState | None, "`differs` or `lost`."] = None
    recorded: Annotated[str | None, "The recorded SHA-1."] = None
    copy: Annotated[str | None, "The copy that has it: `s3://BUCKET/KEY VERSION`."] = None
    new_version: Annotated[str | None, "The version that was made; null with --dry-run."] = None
    new_sha1: Annotated[str | None, "Its SHA-1; null if it was not hashed in time."] = None


@click.command("repair")
@click.argument("key", shell_complete=complete_key)
@click.option(
    "--from",
    "source",
    metavar="URL",
    help="Copy this object, s3://BUCKET/KEY, which is read first to compare its SHA-1.",
)
@click.option(
    "--overwrite",
    is_flag=True,
    help="Also if the bucket keeps no versions, or KEY has a newer version or was deleted.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be copied.")
@yes_option
@json_option(RepairResult)
@bucket_options
def repair(
    target: Target,
    key: str,
    source: str | None,
    overwrite: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Restore KEY, which differs or is lost, from a copy.

    Looks for a copy with the recorded digest in all buckets of the stack, among them earlier
    versions of KEY, and asks. S3 makes the copy, as a new version with the metadata, tags, storage
    class and encryption of the old one, which is then `repaired`. Nothing is deleted.

    Exits with 1 if there is no copy, if you decline, or if the copy has another digest or none in
    time; with 0 also if nothing is to be repaired.

    Example: bucketsum repair 2019/scan.tif --bucket archive --dry-run
    """
    stack = target.find()
    broken = broken_version(stack, key)
    if broken is None:
        note(f"{key} needs no repair: no version of it differs or is lost")
        if as_json:
            print_json(RepairResult(stack.bucket, key, None))
        return
    _require_room(stack, broken, overwrite=overwrite)
    place, etag = _source(stack, broken.row, source)
    row = broken.row
    result = RepairResult(stack.bucket, key, row.entry, broken.state, row.sha1, _name_of(place))
    if not as_json:
        say(f"{key}, version {row.entry}, {result.state}; recorded: {row.sha1}")
        say(f"copy: {result.copy}")
    if not dry_run:
        confirm(f"Copy it to {stack.bucket}/{key}?", "nothing was copied", yes=yes)
        with spinner("copying, and hashing the copy ..."):
            upload = copied(stack, broken, place, etag)
            rows = dict(wait_for_rows(stack.digests_table(), [upload], WAIT_SECONDS))
        digest = rows[upload.row_key].sha1 if rows else None
        result = replace(result, new_version=upload.row_key.entry, new_sha1=digest)
    if as_json:
        print_json(result)
    if not dry_run:
        _end(result)


def _require_room(stack: Stack, broken: Broken, *, overwrite: bool) -> None:
    if not serves(stack, stack.bucket):
        raise CannotDoError(f"the stack {stack.name} no longer hashes {stack.bucket}: attach it")
    if overwrite:
        return
    if not broken.is_current:
        raise CannotDoError(
            f"{broken.row.key} has a newer version or was deleted; a copy of the version "
            f"{broken.row.entry} would be its newest: --overwrite does that"
        )
    versioning = stack.client("s3").get_bucket_versioning(Bucket=stack.bucket)
    if versioning.get("Status") != "Enabled":
        raise CannotDoError(
            f"{stack.bucket} keeps no versions: a copy would replace what is there; --overwrite "
            "does that"
        )


def _source(stack: Stack, row: Row, url: str | None) -> tuple[dict[str, str], str]:
    """The place of a copy, and its entity tag; ends the command if there is none."""
    if url is not None:
        named = S3Place.of_object(url)
        source = {"Bucket": named.bucket, "Key": named.key}
        return source, require_equal(stack, source, row)
    if stack.parameters.get("Sha1Index") == "no":
        raise CannotDoError(
            "without the index (Sha1Index=no) no copy is found: name it with --from"
        )
    for place, etag, refusal in copies_of(stack, row):
        if refusal is None:
            return place, etag
        note(f"{_name_of(place)} cannot be copied: {refusal}")
    note(f"no copy with the SHA-1 {row.sha1} is recorded; --from names one elsewhere")
    raise SystemExit(ANSWER_IS_NO)


def _end(result: RepairResult) -> None:
    if result.new_sha1 == result.recorded:
        note(f"repaired: the new version {result.new_version} has the recorded digest")
        return
    show = command_line("show", result.key, "--bucket", result.bucket)
    note(f"the new version {result.new_version} has {result.new_sha1 or 'no digest yet'}, not the "
         f"recorded one: `{show}`")  # fmt: skip
    raise SystemExit(ANSWER_IS_NO)


def _name_of(place: dict[str, str]) -> str:
    version = f" {place['VersionId']}" if "VersionId" in place else ""
    return f"{S3Place(place['Bucket'], place['Key'])}{version}"
