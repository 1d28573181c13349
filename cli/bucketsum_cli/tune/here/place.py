"""The bucket that a sweep on this machine reads, and the place to record it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli import emulator
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.served_buckets import serves
from bucketsum_cli.tune.here.bucket import SweepBucket
from bucketsum_cli.tune.recorded_runs import RunFiles, runs_folder
from bucketsum_cli.tune.sweeper import Sweeper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bucketsum_cli.connection import Connection
    from bucketsum_cli.options import Target
    from bucketsum_cli.stack import Stack
    from bucketsum_cli.tune.recorded_runs import RunStore

_LOCAL_ADDRESSES: Final = "127.0.0.1,localhost"


@dataclass(frozen=True, slots=True)
class Place:
    """The bucket to read, and the place to record to.

    Attributes:
        region: Its Region; None if that is not known.
        environment: Variables by which another process reaches it.
        store: Where the run is recorded.
    """

    bucket: SweepBucket
    region: str | None
    environment: Mapping[str, str]
    store: RunStore


def place_of(target: Target, bucket_name: str | None) -> Place:
    """The place that the options name: a stack's table and bucket, or files and a bucket.

    Raises:
        CannotDoError: There is no such stack or bucket, or the stack hashes its objects.
        UsageError: No option names a bucket.
        BotoCoreError, ClientError: AWS cannot be reached, or refused.
    """
    if target.is_named:
        stack = target.find()
        sweeper, bucket = Sweeper(stack), _bucket_of(stack, bucket_name)
        return _place(target, stack.connection, bucket, sweeper.measurements)
    if bucket_name is None:
        raise click.UsageError(
            "--here needs --bucket NAME, or a stack (--stack NAME or --local), whose bucket for "
            "sweeps it uses"
        )
    connection, _ = target.connect()
    bucket = SweepBucket(connection.client("s3"), bucket_name)
    return _place(target, connection, bucket, RunFiles(runs_folder()))


def _bucket_of(stack: Stack, name: str | None) -> SweepBucket:
    s3, own = stack.client("s3"), stack.outputs["SweepBucketName"]
    if name in (None, own):
        return SweepBucket(s3, own, prefix="")
    if serves(stack, name):
        raise CannotDoError(
            f"the stack {stack.name} hashes the objects of {name}; leave --bucket out to use the "
            "stack's bucket for sweeps, or name another bucket"
        )
    return SweepBucket(s3, name)


def _place(target: Target, connection: Connection, bucket: SweepBucket, store: RunStore) -> Place:
    region = bucket.region() or connection.region
    return Place(bucket, region, _environment(target, region), store)


def _environment(target: Target, region: str | None) -> dict[str, str]:
    """Variables with which another process has the same access as this one."""
    if target.local:
        local = emulator.running(emulator.local_project()).environment()
        return {**local, "NO_PROXY": _LOCAL_ADDRESSES, "no_proxy": _LOCAL_ADDRESSES}
    variables = {"AWS_PROFILE": target.profile, "AWS_REGION": region, "AWS_DEFAULT_REGION": region}
    return {name: value for name, value in variables.items() if value}
