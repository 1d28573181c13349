"""Options that name a stack, and one of its buckets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any

import click
from click.core import ParameterSource

from bucketsum_cli.arguments.buckets import BucketName, without_buckets
from bucketsum_cli.aws.connection import Connection, connection_to, local_connection
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.aws.stack_lookup import NoStackError, stack_at
from bucketsum_cli.buckets.served_buckets import serves
from bucketsum_cli.machine.folders import DEFAULT_STACK
from bucketsum_cli.terminal.hints import command_line, remember_options
from bucketsum_cli.terminal.output import note


@dataclass(frozen=True, slots=True)
class Target:
    """The stack that the options of a command name.

    Attributes:
        region: Its Region; None is the environment's.
        profile: Profile with the credentials; None is the environment's.
        local: Whether it is on the local emulator, which has one stack.
        bucket: Bucket to work with; None is the stack's own.
        is_named: Whether an option or the environment names the stack.
    """

    stack: str = DEFAULT_STACK
    region: str | None = None
    profile: str | None = None
    local: bool = False
    bucket: str | None = None
    is_named: bool = False

    def find(self) -> Stack:
        """Find the stack; its bucket is the bucket that the options name.

        Raises:
            CannotDoError: There is no such stack.
        """
        stack = stack_at(*self.connect())
        if self.bucket is None:
            return stack
        if not serves(stack, self.bucket):
            note(
                f"{self.bucket} is not attached to the stack {stack.name}; "
                f"`{command_line('buckets')}` lists its buckets"
            )
        return replace(stack, bucket=self.bucket)

    def find_kept(self) -> Stack:
        """Find the stack, or the tables that a deleted one left; the latter can only be read.

        Raises:
            CannotDoError: There is neither.
        """
        try:
            return self.find()
        except NoStackError:
            from bucketsum_cli.aws.kept_tables import kept_tables  # noqa: PLC0415 - botocore

            if stack := kept_tables(*self.connect()):
                return stack
            raise

    def connect(self) -> tuple[Connection, str]:
        """Return access to the account, and the stack's name; the stack need not exist."""
        if self.local:
            return local_connection()
        return connection_to(self.region, self.profile), self.stack


def stack_options(
    command: Callable[..., None], bucket_help: str | None = None
) -> Callable[..., None]:
    """Give *command* the options that name a stack, and pass it a `Target` as ``target``.

    With *bucket_help*, also the option ``--bucket`` for one of its buckets.
    """

    @click.option(
        "--stack",
        default=DEFAULT_STACK,
        envvar="BUCKETSUM_STACK",
        show_default=True,
        show_envvar=True,
        metavar="NAME",
        help="Name of the stack.",
    )
    @click.option(
        "--region",
        metavar="NAME",
        help="AWS Region; by default that of your AWS configuration.",
    )
    @click.option(
        "--profile",
        metavar="NAME",
        help="AWS profile; by default the one that the AWS CLI uses.",
    )
    @click.option(
        "--local", is_flag=True, help="Use the local emulator; see `bucketsum local --help`."
    )
    @wraps(command)
    def with_target(
        *args: Any,  # noqa: ANN401 - the command's types
        stack: str,
        region: str | None,
        profile: str | None,
        local: bool,
        **options: Any,  # noqa: ANN401 - the command's types
    ) -> None:
        if local:
            _refuse_with_local()
        bucket = None
        context = click.get_current_context()
        if bucket_help is not None:
            bucket = options.pop("bucket")
            is_default = context.get_parameter_source("bucket") is ParameterSource.ENVIRONMENT
            bucket = without_buckets(options, None if is_default else bucket) or bucket
        remember_options(
            {
                "--stack": None if stack == DEFAULT_STACK else stack,
                "--region": region,
                "--profile": profile,
                "--local": "" if local else None,
                "--bucket": bucket,
            }
        )
        source = context.get_parameter_source("stack")
        is_named = local or source is not ParameterSource.DEFAULT
        target = Target(stack, region, profile, local, bucket, is_named)
        command(*args, target=target, **options)

    if bucket_help is None:
        return with_target
    bucket_option = click.option(
        "--bucket",
        type=BucketName(),
        envvar="BUCKETSUM_BUCKET",
        show_envvar=True,
        metavar="NAME",
        help=f"{bucket_help} s3://NAME works too.",
    )
    return bucket_option(with_target)


bucket_options = partial(
    stack_options, bucket_help="An attached bucket; by default the one that the stack created."
)
"""Options that name a stack and one of its buckets."""


def _refuse_with_local() -> None:
    context = click.get_current_context()
    for name in ("stack", "region", "profile"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--{name} cannot be used with --local: the local emulator has one stack and no "
                "accounts"
            )
