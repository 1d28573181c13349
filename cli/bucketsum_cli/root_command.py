"""The group `bucketsum`, and the one place where every error becomes a sentence."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import Final

import click

from bucketsum import __version__
from bucketsum_cli.aws.errors import AWS_ERRORS, explained
from bucketsum_cli.lab import is_installed
from bucketsum_cli.options import LazyGroup
from bucketsum_cli.terminal.errors import CANNOT_DO, CannotDoError, sentence_of
from bucketsum_cli.terminal.output import note, printable

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
    **({"tune": "bucketsum_cli.commands.tune:tune"} if is_installed() else {}),
    "delete": "bucketsum_cli.commands.delete:delete",
}


@click.group(
    "bucketsum",
    cls=LazyGroup,
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
        _require_stdout()
        return cli.main(prog_name="bucketsum", standalone_mode=False) or 0
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except click.Abort:  # Ctrl-C
        raise KeyboardInterrupt from None
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # of a text that click wrote, as `--help`
            return _drop_output()
        raise
    except Exception as error:
        if os.environ.get("BUCKETSUM_TRACEBACK"):
            raise
        is_of_aws = isinstance(error, AWS_ERRORS)
        _show(explained(error) if is_of_aws else CannotDoError(sentence_of(error)))
        _drop_output()
        return CANNOT_DO


def _escape_unknown_characters() -> None:
    """Show characters that the encoding of an output does not have as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _require_stdout() -> None:
    """Refuse to compute a result that nobody can see, as after ``>&-``."""
    if sys.stdout is None:
        raise CannotDoError("the output cannot be written: stdout is closed")


def _show(error: click.ClickException) -> None:
    """Show *error*, with the usage if the arguments are wrong, folded at words."""
    error.message = "\n".join(map(printable, error.message.split("\n")))
    text = io.StringIO()
    error.show(text)
    with contextlib.suppress(OSError):
        for line in text.getvalue().splitlines():
            note(line)


def _drop_output() -> int:
    """Drop what is not written yet: else Python would fail to write it at its exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
