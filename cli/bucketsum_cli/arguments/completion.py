"""Values that a shell completes: keys, and names of runs and backfills."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

import click

from bucketsum_cli.arguments.target import Target
from bucketsum_cli.machine.folders import DEFAULT_STACK

_MOST: Final = 100


def completing(
    names: Callable[[Target, str], Iterable[str]],
) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Return a completion function for click; *names* gets the stack and the text typed so far.

    A shell shows no errors: without a stack, nothing is completed.
    """

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        given = ctx.params
        target = Target(
            stack=given.get("stack") or DEFAULT_STACK,
            region=given.get("region"),
            profile=given.get("profile"),
            local=bool(given.get("local")),
            bucket=given.get("bucket"),
            is_named=True,
        )
        with contextlib.suppress(Exception):
            matching = (name for name in names(target, incomplete) if name.startswith(incomplete))
            return [*islice(matching, _MOST)]
        return []

    return complete


def _keys(target: Target, prefix: str) -> Iterator[str]:
    stack = target.find()
    page = stack.client("s3").list_objects_v2(
        Bucket=stack.bucket, Prefix=prefix, Delimiter="/", MaxKeys=_MOST
    )
    yield from (folder["Prefix"] for folder in page.get("CommonPrefixes", ()))
    yield from (item["Key"] for item in page.get("Contents", ()))


complete_key: Final = completing(_keys)
