"""The request for confirmation."""

from __future__ import annotations

import click

from bucketsum_cli.terminal.errors import ANSWER_IS_NO
from bucketsum_cli.terminal.output import note
from bucketsum_cli.terminal.screen import write


def confirm(question: str, refusal: str, *, yes: bool) -> None:
    """Ask *question* unless *yes*; after a "no", show the note *refusal* and end the command.

    The question goes to stderr alone: click's own writes a blank to stdout, where there may be
    JSON. The end of the input is a no.

    Raises:
        SystemExit: The answer was no.
    """
    if yes:
        return
    write(f"{question} [y/N]: ", to_stderr=True)
    answer = click.get_text_stream("stdin").readline()
    if not answer.endswith("\n"):  # nobody typed the end of the line
        note("")
        note("no answer; use --yes to skip the question")
    if answer.strip().lower() not in ("y", "yes"):
        note(refusal)
        raise SystemExit(ANSWER_IS_NO)
