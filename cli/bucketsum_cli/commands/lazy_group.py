"""Groups of commands that are imported when they are used."""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from bucketsum_cli.buckets.s3_place import S3Place

_NAMES: Final = ("stack", "region", "profile", "bucket", "bucket_option")
"""Parameters that cannot be blanks, as keys and names of files can."""


class LazyGroup(click.Group):
    """A group that imports a command when it is used: all of them would take half a second.

    Args:
        places: Command → ``module:name``, in the order in which the help lists them.
        sections: Heading → command → first line of its help; without them, the help of the group
            imports all commands.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's
        places: Mapping[str, str],
        sections: Mapping[str, Mapping[str, str]] | None = None,
        **settings: Any,  # noqa: ANN401 - click's
    ) -> None:
        super().__init__(*args, **settings)
        self.places = places
        self.sections = sections or {}
        names: Any = dict.fromkeys(places)
        self.commands = names  # click suggests one of them; `get_command` imports

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """List the commands in the order of `places`; click would sort them by name."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Import the command; None if there is no such command."""
        place = self.places.get(cmd_name)
        return pkgutil.resolve_name(place) if place else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and refuse a value that is empty, or an option's name.

        An unset variable of a shell is empty: `put ''` would mean the current folder; and
        `--bucket --local` would mean a bucket of this name. A group within this one checks the
        values of its own commands.
        """
        if self.places.keys().isdisjoint(args[:1]) and not ctx.resilient_parsing:
            self.refuse_misspelled(ctx, args[0])
        name, command, rest = super().resolve_command(ctx, args)
        if command and not isinstance(command, click.Group) and not ctx.resilient_parsing:
            context = click.Context(command, info_name=name, parent=ctx)
            given, _, _ = command.make_parser(context).parse_args([*rest])
            names = (n for p in command.get_params(context) for n in (*p.opts, *p.secondary_opts))
            options = {*rest}.intersection(name for name in names if name.startswith("-"))
            for parameter in command.params:
                value = given.get(str(parameter.name), parameter.value_from_envvar(context))
                for text in value if isinstance(value, tuple | list) else [value]:
                    if fault := _fault_of(text, parameter, options):
                        raise click.BadParameter(fault, context, parameter)
        return name, command, rest

    def refuse_misspelled(self, ctx: click.Context, word: str, otherwise: str = "") -> None:
        """Refuse *word* if it looks like a command; *otherwise* says how it can be meant."""
        if word not in self.places and (close := get_close_matches(word, self.places, 1)):
            ctx.fail(f"No such command {word!r}. Did you mean {close[0]!r}?{otherwise}")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands in their sections."""
        width = max(map(len, self.places))
        for heading, summaries in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{width}}", text) for name, text in summaries.items()])
        if not self.sections:
            super().format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the names of commands, without their imports, and of options."""
        summaries: dict[str, str] = {}
        for section in self.sections.values():
            summaries |= section
        names = [name for name in self.places if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=summaries.get(name)) for name in names]
        return commands + click.Command.shell_complete(self, ctx, incomplete)


class DefaultCommandGroup(LazyGroup):
    """A group of which one command need not be named.

    Args:
        default: This command.
        argument: The kind of its argument, which may be named like a command; empty for none.
    """

    def __init__(
        self,
        *args: Any,  # noqa: ANN401 - click's
        default: str,
        argument: str = "",
        **settings: Any,  # noqa: ANN401 - click's
    ) -> None:
        super().__init__(*args, **settings)
        self._default = default
        self._argument = argument

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Name the default if the first word is neither a command nor ``--help``."""
        word = args[0] if args else ""
        is_named = word in (*self.places, *ctx.help_option_names)
        if is_named or not (args or not self.no_args_is_help):
            return super().parse_args(ctx, args)
        if word and word[0] != "-" and not ctx.resilient_parsing:
            line = f"`bucketsum {ctx.info_name} {self._default} {word}`"
            meant = f" For a {self._argument} of this name: {line}" if self._argument else ""
            self.refuse_misspelled(ctx, word, meant)
        return super().parse_args(ctx, [self._default, *args])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command; the default for any other word."""
        return super().get_command(ctx, cmd_name) or super().get_command(ctx, self._default)


def _fault_of(text: object, parameter: click.Parameter, options: Collection[str]) -> str:
    """Why *text* is not a value; empty if it is one, or of another type."""
    if not isinstance(text, str):
        return ""
    if not (text.strip() if parameter.name in _NAMES else text):
        return "it must not be empty"
    if isinstance(parameter.type, click.Path | click.File) and S3Place.is_url(text):
        return f"{text} is in S3; this must be on your machine"
    is_taken = isinstance(parameter, click.Option) and text in options
    return f"it is missing: {text} is another option" if is_taken else ""
