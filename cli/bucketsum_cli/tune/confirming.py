"""A question that a person must say yes to."""

from __future__ import annotations

import click


def confirmed(question: str) -> bool:
    """Whether a person answers *question* with yes; no answer at all is a no.

    It is asked on stderr alone: click's own question writes a blank to stdout, where there may
    be JSON.
    """
    click.echo(f"{question} [y/N]: ", nl=False, err=True)
    answer = click.get_text_stream("stdin").readline()
    if not answer.endswith("\n"):  # nobody is there to have ended the line
        click.echo(err=True)
    return answer.strip().lower() in ("y", "yes")
