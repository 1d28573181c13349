"""Options that every command shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bucketsum_cli.stack import DEFAULT_NAME, Stack, find_local_stack, find_stack

if TYPE_CHECKING:
    from collections.abc import Callable

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

paths_argument = click.argument(
    "paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path)
)

prefix_option = click.option(
    "--prefix", default="", metavar="TEXT", help="What every key begins with, as photos/."
)


yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")


class OrderedGroup(click.Group):
    """A group that lists its commands in the order in which they are added."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """List the commands in that order; click sorts them by name."""
        return list(self.commands)


@dataclass(frozen=True, slots=True)
class Target:
    """Which stack a command is about, as its options say.

    Attributes:
        stack: Name of the stack.
        region: Its Region; None is the environment's.
        profile: Whose credentials; None is the environment's.
        local: The embedded AWS, which says itself what the others are.
    """

    stack: str = DEFAULT_NAME
    region: str | None = None
    profile: str | None = None
    local: bool = False

    def find(self) -> Stack:
        """Look it up.

        Raises:
            CannotDoError: There is no such stack.
            BotoCoreError: No credentials, no Region, no such profile, or AWS cannot be reached.
            ClientError: AWS refused.
        """
        if self.local:
            return find_local_stack()
        return find_stack(self.stack, self.region, self.profile)


def stack_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give *command* the options that name a stack, and pass it a `Target` as ``target``."""

    @click.option(
        "--stack",
        default=DEFAULT_NAME,
        envvar="BUCKETSUM_STACK",
        show_default=True,
        show_envvar=True,
        metavar="NAME",
        help="Name of the stack.",
    )
    @click.option("--region", metavar="NAME", help="Region of the stack, as eu-west-1.")
    @click.option("--profile", metavar="NAME", help="Profile that has the credentials.")
    @click.option("--local", is_flag=True, help="The embedded AWS of the current folder's project.")
    @wraps(command)
    def with_target(
        *args: Any,  # noqa: ANN401 - the command's own
        stack: str,
        region: str | None,
        profile: str | None,
        local: bool,
        **options: Any,  # noqa: ANN401 - the command's own
    ) -> None:
        if local:
            _refuse_beside_local()
        command(*args, target=Target(stack, region, profile, local), **options)

    return with_target


def _refuse_beside_local() -> None:
    context = click.get_current_context()
    for name in ("stack", "region", "profile"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"--{name} does not go with --local: the embedded AWS has one stack and no accounts"
            )
