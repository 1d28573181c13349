"""Options that several commands share."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bucketsum_cli.aws.connection import Connection, connection_to, local_connection
from bucketsum_cli.aws.served_buckets import serves
from bucketsum_cli.aws.stack import DEFAULT_NAME, Stack, stack_at
from bucketsum_cli.terminal.output import note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from click.decorators import FC

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")

paths_argument = click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)

yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")

count_option = click.option(
    "--count", is_flag=True, help="Count exactly, by listing, even more than a million objects."
)


def prefix_option(text: str) -> Callable[[FC], FC]:
    """The option ``--prefix`` with the help *text*."""
    return click.option("--prefix", default="", metavar="TEXT", help=text)


def output_option(text: str, default: str | None = None) -> Callable[[FC], FC]:
    """The option ``--output`` with the help *text*; its value is for `write_text`."""
    file = click.Path(path_type=Path, allow_dash=True)
    return click.option(
        "-o", "--output", "file", type=file, metavar="FILE", default=default, help=text
    )


class LazyGroup(click.Group):
    """A group that imports a command when it is used: all of them would take half a second.

    Args:
        places: Command → ``module:name``, in the order in which the help lists them.
    """

    def __init__(self, *args: Any, places: Mapping[str, str], **settings: Any) -> None:  # noqa: ANN401 - click's
        super().__init__(*args, **settings)
        self.places = places
        names: Any = dict.fromkeys(places)
        self.commands = names  # click suggests one of them; `get_command` imports

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """List the commands in that order; click sorts them by name."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import the command; None if there is no such command."""
        place = self.places.get(cmd_name)
        return pkgutil.resolve_name(place) if place else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and refuse an empty value of any of its arguments and options.

        An unset variable of a shell is empty: `put ''` would mean the current folder.
        """
        name, command, rest = super().resolve_command(ctx, args)
        if command and not ctx.resilient_parsing:
            context = click.Context(command, info_name=name, parent=ctx)
            given, _, _ = command.make_parser(context).parse_args([*rest])
            for parameter in command.params:
                value = given.get(str(parameter.name), parameter.value_from_envvar(context))
                if any(map(_is_blank, value if isinstance(value, tuple | list) else [value])):
                    raise click.BadParameter("it must not be empty", context, parameter)
        return name, command, rest


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


@dataclass(frozen=True, slots=True)
class Target:
    """The stack that the options of a command name.

    Attributes:
        stack: Name of the stack.
        region: Its Region; None is the environment's.
        profile: Profile with the credentials; None is the environment's.
        local: Whether it is on the local emulator, which has one stack.
        bucket: Bucket to work with; None is the stack's own.
        is_named: Whether an option or the environment names the stack.
    """

    stack: str = DEFAULT_NAME
    region: str | None = None
    profile: str | None = None
    local: bool = False
    bucket: str | None = None
    is_named: bool = False

    def find(self) -> Stack:
        """Find the stack; its bucket is the bucket that the options name.

        Raises:
            CannotDoError: There is no such stack.
            BotoCoreError: No credentials, no Region, no such profile, or AWS cannot be reached.
            ClientError: AWS refused a request.
        """
        stack = stack_at(*self.connect())
        if self.bucket is None:
            return stack
        if not serves(stack, self.bucket):
            note(
                f"{self.bucket} is not attached to the stack {stack.name}; `bucketsum buckets` "
                "lists its buckets"
            )
        return replace(stack, bucket=self.bucket)

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
        default=DEFAULT_NAME,
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
        bucket = None if bucket_help is None else options.pop("bucket")
        source = click.get_current_context().get_parameter_source("stack")
        is_named = local or source is not ParameterSource.DEFAULT
        target = Target(stack, region, profile, local, bucket, is_named)
        command(*args, target=target, **options)

    if bucket_help is None:
        return with_target
    bucket_option = click.option("--bucket", metavar="NAME", help=bucket_help)
    return bucket_option(with_target)


bucket_options = partial(
    stack_options, bucket_help="An attached bucket; by default the stack's own."
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
