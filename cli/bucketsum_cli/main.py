"""The `bucketsum` command."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

from bucketsum import __version__
from bucketsum_cli.aws_errors import AWS_ERRORS, explained
from bucketsum_cli.commands.check import check
from bucketsum_cli.commands.failures import failures
from bucketsum_cli.commands.find import find
from bucketsum_cli.commands.ls import ls
from bucketsum_cli.commands.put import put
from bucketsum_cli.commands.redrive import redrive
from bucketsum_cli.commands.show import show
from bucketsum_cli.errors import INTERRUPTED
from bucketsum_cli.local.commands import local
from bucketsum_cli.options import OrderedGroup
from bucketsum_cli.output import printable
from bucketsum_cli.tune.commands import tune

if TYPE_CHECKING:
    from collections.abc import Iterator


class Commands(OrderedGroup):
    """A group in which no error of AWS and no untrusted text reaches the terminal raw."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Run the command; its errors become sentences."""
        try:
            return self._invoke_explained(ctx)
        except click.ClickException as error:
            error.message = "\n".join(map(printable, error.message.split("\n")))
            raise
        except (KeyboardInterrupt, click.Abort):
            click.echo("interrupted", err=True)
            ctx.exit(INTERRUPTED)

    def _invoke_explained(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        try:
            return super().invoke(ctx)
        except AWS_ERRORS as error:
            raise explained(error) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bucketsum")
def cli() -> None:
    """Know the SHA-1 of everything that lands in an S3 bucket.

    Exit status: 0 done, and the answer is yes; 1 done, and the answer is no; 2 it could not be
    done, and the text says why.
    """


for command in (local, put, ls, show, find, check, failures, redrive, tune):
    cli.add_command(command)


def main() -> None:
    """Run the command with the arguments of this process."""
    with _ended_in_order():
        cli()


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Have SIGTERM end this process as Ctrl-C does: what it started is stopped first."""

    def end(number: int, _: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)  # a second one does not cut the stopping short
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
