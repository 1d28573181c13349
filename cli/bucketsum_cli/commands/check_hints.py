"""Next steps after `bucketsum check`, by result."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Final

from bucketsum.table.state import ObjectState, state_of
from bucketsum_cli.aws.errors import AWS_ERRORS
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.objects.comparison import ComparedFile
from bucketsum_cli.objects.counterparts import Result
from bucketsum_cli.objects.pending import dead_letters_hint, pending_hints
from bucketsum_cli.objects.similar_keys import similar_keys
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note

_LOOK_UPS: Final = 3
_EMPTY: Final = hashlib.sha1(b"", usedforsecurity=False).hexdigest()


def note_hints(stack: Stack, files: Sequence[ComparedFile]) -> None:
    """Note the next step for each result of *files*."""
    first = {file.result: file for file in reversed(files)}
    with suppress(*AWS_ERRORS):  # a hint that cannot be had is none
        if elsewhere := _recorded_elsewhere(stack, files):
            note(f"missing: {elsewhere}")
            del first[Result.MISSING]  # an upload would be a second copy
    for result in Result:
        if file := first.get(result):
            algorithms = sorted({name for f in files if f.result is result for name in f.digests})
            if hint := _hints(file, algorithms, stack.bucket).get(result):
                note(f"{result}: {hint}")
    missing = [file.key for file in files if file.result is Result.MISSING]
    with suppress(*AWS_ERRORS):  # a hint that cannot be had is none
        for key, similar in similar_keys(stack, missing).items():
            note(f"missing: {key!a}, but there is {similar!a}")


def _recorded_elsewhere(stack: Stack, files: Sequence[ComparedFile]) -> str | None:
    """Where the content of a missing file is recorded, as if --prefix were another."""
    missing = [file for file in files if file.result is Result.MISSING]
    if stack.parameters.get("Sha1Index") == "no":
        return None
    for file in [file for file in missing if file.sha1 not in (None, _EMPTY)][:_LOOK_UPS]:
        for row in stack.digests_table().with_sha1(file.sha1 or ""):
            end = _common_end(row.key, file.key)
            is_there = state_of(row) is ObjectState.HASHED
            if end and is_there and row.bucket == stack.bucket:
                prefix = row.key.removesuffix(end)
                option = f"use --prefix {prefix}" if prefix else "leave out --prefix"
                return f"{file.key!a} has the content of {row.key!a}; if that is meant, {option}"
    return None


def _common_end(left: str, right: str) -> str:
    """The folders and the name with which both keys end; empty if the names differ."""
    parts = zip(reversed(left.split("/")), reversed(right.split("/")), strict=False)
    same = [pair[0] for pair in takewhile(lambda pair: pair[0] == pair[1], parts)]
    return "/".join(reversed(same))


def _hints(file: ComparedFile, algorithms: Sequence[str], bucket: str) -> dict[Result, str]:
    redrive = command_line("redrive", "--key", "KEY")
    return {
        Result.DIFFERS: f"either side may be the damaged one; `{command_line('show', file.key)}` "
        f"has all versions of the object. If the file is right, {_put_command(file)} replaces the "
        "object",
        Result.NO_SUCH_DIGEST: f"the rows have no {', '.join(algorithms)}; they have SHA-1, and "
        "what the parameter ExtraAlgorithms names, for objects that were hashed since",
        Result.FAILED: dead_letters_hint(),
        Result.UNREADABLE: f"{file.reason}; `{redrive}` tries again",
        Result.ARCHIVED: f"{file.reason}; `{command_line('backfill', bucket, '--archived')}` reads "
        "it once it is restored",
        Result.HIDDEN: f"`{command_line('show', file.key)}` has the versions below the marker",
        Result.LOST: f"S3 does not list it; `{command_line('show', file.key)}` shows what it was",
        Result.MISSING: f"there is no such object; {_put_command(file)} uploads it",
        **{Result(pending): hint for pending, hint in pending_hints(bucket).items()},
    }


def _put_command(file: ComparedFile) -> str:
    """The command that uploads *file* with exactly its key, if there is such a file here."""
    prefix = file.key.removesuffix(file.path.name)
    if prefix == file.key or not file.path.is_file():
        return f"an upload as {file.key}"
    given = ["--prefix", prefix] if prefix else []
    return f"`{command_line('put', str(file.path), *given)}`"
