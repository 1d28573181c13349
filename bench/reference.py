"""Write docs/commands.md, the help text of every command: ``python -m bench.reference``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli.root_command import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = Path(__file__).parents[1] / "docs" / "commands.md"

_COLUMNS: Final = 80
_BEGINNING: Final = """\
# Commands

`make reference` writes this page from the help texts. [Parameters](configuration.md#the-command)
has the options that most commands share, and their environment variables.
"""


def page() -> str:
    """Return the page: a section for each command, in the order of the help."""
    sections = (f"\n## {name}\n\n```text\n{text}\n```\n" for name, text in _helps(cli, None))
    return _BEGINNING + "".join(sections)


def _helps(command: click.Command, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    """Full name and help of *command*, then of its sub-commands."""
    name = command.name if parent else "bucketsum"
    settings = {**command.context_settings, "terminal_width": _COLUMNS}
    context = click.Context(command, parent, name, **settings)
    yield context.command_path, "\n".join(map(str.rstrip, command.get_help(context).splitlines()))
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            match = command.get_command(context, child)
            if match is not None:
                yield from _helps(match, context)


if __name__ == "__main__":
    argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0]).parse_args()
    PAGE.write_text(page(), encoding="utf-8")
