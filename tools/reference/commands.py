"""docs/reference/commands.md: the help text of every command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from bucketsum_cli.commands.root import cli

_COLUMNS: Final = 80
_BEGINNING: Final = """\
# Commands

`make reference` writes this page from the help texts. Most commands take these options:

| option | environment | meaning |
|---|---|---|
| `--stack NAME` | `BUCKETSUM_STACK` | the stack; `bucketsum` by default |
| `--region NAME` | `AWS_DEFAULT_REGION` | its Region |
| `--profile NAME` | `AWS_PROFILE` | the AWS profile with the credentials |
| `--local` | `BUCKETSUM_HOME` | the local emulator of the clone that you are in, or else of the \
clone that the command was installed from. `BUCKETSUM_HOME` names the folder of another emulator, \
such as `.bucketsum/demo` |
| `--json` | | one [JSON document](json.md) on stdout; everything else on stderr |
| `--yes`, `-y` | | do not ask for confirmation. Without it, a missing answer counts as "no" (exit \
status 1) |
"""


def page() -> str:
    """Return the page: a section for each command, in the order of the help."""
    sections = []
    for context in contexts(cli):
        text = "\n".join(map(str.rstrip, context.command.get_help(context).splitlines()))
        sections.append(f"\n## {context.command_path}\n\n```text\n{text}\n```\n")
    return _BEGINNING + "".join(sections)


def contexts(
    command: click.Command, parent: click.Context | None = None
) -> Iterator[click.Context]:
    """Yield *command*, then its sub-commands."""
    name = command.name if parent else "bucketsum"
    settings = {**command.context_settings, "terminal_width": _COLUMNS}
    context = click.Context(command, parent, name, **settings)
    yield context
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            match = command.get_command(context, child)
            if match is not None:
                yield from contexts(match, context)
