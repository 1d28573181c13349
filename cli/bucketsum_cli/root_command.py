"""The group `bucketsum`, and the one place where every error becomes a sentence."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Any, Final

import click

from bucketsum import __version__
from bucketsum_cli.aws.errors import AWS_ERRORS, explained
from bucketsum_cli.options import LazyGroup
from bucketsum_cli.terminal.errors import CANNOT_DO, INTERRUPTED, sentence_of
from bucketsum_cli.terminal.output import printable

_PLACES: Final = {
    "local": "bucketsum_cli.commands.local:local",
    "put": "bucketsum_cli.commands.put:put",
    "ls": "bucketsum_cli.commands.ls:ls",
    "show": "bucketsum_cli.commands.show:show",
    "find": "bucketsum_cli.commands.find:find",
    "check": "bucketsum_cli.commands.check:check",
    "status": "bucketsum_cli.commands.status:status",
    "failures": "bucketsum_cli.commands.failures:failures",
    "redrive": "bucketsum_cli.commands.redrive:redrive",
    "stop": "bucketsum_cli.commands.stop:stop",
    "selftest": "bucketsum_cli.commands.selftest:selftest",
    "buckets": "bucketsum_cli.commands.buckets:buckets",
    "attach": "bucketsum_cli.commands.attach:attach",
    "detach": "bucketsum_cli.commands.detach:detach",
    "backfill": "bucketsum_cli.commands.backfill:backfill",
    "tune": "bucketsum_cli.commands.tune:tune",
    "delete": "bucketsum_cli.commands.delete:delete",
}


class Commands(LazyGroup):
    """A group in which no AWS error and no untrusted text reaches the terminal raw."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Run the command; its errors become sentences."""
        try:
            return self._invoke_explained(ctx)
        except click.ClickException as error:
            error.message = "\n".join(map(printable, error.message.split("\n")))
            raise
        except (KeyboardInterrupt, click.Abort):
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)

    def _invoke_explained(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        try:
            return super().invoke(ctx)
        except AWS_ERRORS as error:
            raise explained(error) from error


@click.group(
    "bucketsum",
    cls=Commands,
    places=_PLACES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="bucketsum")
def cli() -> None:
    """Show and check the SHA-1 of every object in an S3 bucket.

    Exit status: 0 success; 1 the command ran, but the result is negative; 2 the command could not
    run or failed, for example because there is no stack (the message says why); 130 Ctrl-C; 143
    SIGTERM.
    """


def run() -> int:
    """Run the command with the arguments of this process, and return its exit status.

    Whatever goes wrong becomes a sentence on stderr; with BUCKETSUM_TRACEBACK set, unexpected
    errors are raised.
    """
    _escape_unknown_characters()
    try:
        return cli.main(prog_name="bucketsum", standalone_mode=False) or 0
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        return error.exit_code
    except click.Abort:  # Ctrl-C while `--help` imports all commands
        raise KeyboardInterrupt from None
    except SystemExit as end:
        if isinstance(
            end.__context__, BrokenPipeError
        ):  # click would end with 1: a negative result
            return _failed(end.__context__)
        raise
    except Exception as error:
        if os.environ.get("BUCKETSUM_TRACEBACK"):
            raise
        return _failed(error)


def _escape_unknown_characters() -> None:
    """Show characters that the encoding of an output does not have as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _failed(error: Exception) -> int:
    with contextlib.suppress(OSError):
        click.echo(f"Error: {printable(sentence_of(error))}", err=True)
    with contextlib.suppress(OSError, ValueError):  # else Python would fail to write it at its exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CANNOT_DO
