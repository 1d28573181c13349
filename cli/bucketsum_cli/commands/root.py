"""The group `bucketsum`, and the one place where every error becomes a sentence."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

import click

from bucketsum import __version__
from bucketsum_cli.commands.lab import is_installed
from bucketsum_cli.commands.lazy_group import LazyGroup
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import note, printable
from bucketsum_cli.terminal.unexpected import unexpected

_TUNE: Final = "Measure and recommend settings of the hashing function."
_SECTIONS: Final = {
    "Objects": {
        "put": "Upload files to the bucket and wait for their SHA-1.",
        "ls": "List the objects in the bucket, with their SHA-1.",
        "show": "Show everything recorded for KEY.",
        "find": "Find every object with a given SHA-1, or with a file's content.",
        "check": "Compare local files with the objects in the bucket.",
    },
    "Questions": {
        "snapshot": "Copy everything that a stack has recorded to a local folder.",
        "duplicates": "Show which objects have equal content, and what that costs.",
        "compare": "Compare two buckets, snapshots or manifests, without a download.",
        "coverage": "Show which objects in S3 have no digest, and why.",
        "changes": "Show what was added, changed or lost since a snapshot.",
        "export": "Print a manifest of what is in BUCKET now, sorted by key.",
        "page": "Summarize a stack's buckets on one HTML page.",
        "sql": "Run an SQL query on a snapshot.",
    },
    "Buckets": {
        "buckets": "Show a stack's buckets and whether their objects are hashed.",
        "estimate": "Compute what an archive costs: hashing, rows, verifications.",
        "attach": "Hash new objects in BUCKET from now on, and record deletions.",
        "detach": "Stop hashing new objects in BUCKET.",
        "backfill": "Hash the existing objects of a bucket.",
        "verify": "Read the objects of a bucket again, and compare their digests.",
        "repair": "Restore KEY, which differs or is lost, from a copy.",
        "import": "Import a report of S3 Batch Operations' Compute checksum.",
    },
    "Stack": {
        "status": "Show the state of a stack.",
        "failures": "Show the failed messages and the reasons.",
        "redrive": "Retry the messages that failed.",
        "stop": "Stop hashing KEY, a long object.",
        "selftest": "Test a deployed stack end to end.",
        "delete": "Delete a stack and the buckets that it created.",
    },
    **({"Measure": {"tune": _TUNE}} if is_installed() else {}),
    "Emulator": {"local": "Run the local AWS emulator (ministack)."},
}
_PLACES: Final = {
    name: f"bucketsum_cli.commands.{name}:{name}"
    for section in _SECTIONS.values()
    for name in section
} | {"import": "bucketsum_cli.commands.import_report:import_report"}  # a word of Python's own

_UNBROKEN: Final = "\u2011"
"""The non-breaking hyphen, at which no line ends."""
_SIMILAR: Final = 0.75
"""Of the letters of an option; with less, another one is meant."""


class _HelpText(click.HelpFormatter):
    """Help folded at spaces only: folded at a hyphen, ``--dry-run`` would not be found."""

    def write(self, string: str) -> None:
        super().write(string.replace(_UNBROKEN, "-"))

    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _UNBROKEN))

    def write_dl(
        self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        unbroken = [(term, meaning.replace("-", _UNBROKEN)) for term, meaning in rows]
        super().write_dl(unbroken, col_max, col_spacing)


click.Context.formatter_class = _HelpText  # of every command


@click.group(
    "bucketsum",
    cls=LazyGroup,
    places=_PLACES,
    sections=_SECTIONS,
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
        from bucketsum_cli.aws.errors import AWS_ERRORS, explained  # noqa: PLC0415 - takes its time

        shown = explained(error) if isinstance(error, AWS_ERRORS) else unexpected(error)
        _show(shown)
        _drop_output()
        return shown.exit_code


def _escape_unknown_characters() -> None:
    """Write escapes for the characters that an output's encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _require_stdout() -> None:
    """Refuse to compute a result that nobody can see, as after ``>&-``."""
    if sys.stdout is None:
        raise CannotDoError("the output cannot be written: stdout is closed")


def _show(error: click.ClickException) -> None:
    """Show *error*, with the usage if the arguments are wrong, folded at words."""
    if isinstance(error, click.NoSuchOption):
        error.possibilities = _similar_options(error)
        if error.ctx and isinstance(error.ctx.command, click.Group):
            error.message += ": options follow the command, as in `bucketsum ls --local`"
    error.message = "\n".join(map(printable, error.message.split("\n")))
    text = io.StringIO()
    error.show(text)
    with contextlib.suppress(OSError):
        for line in text.getvalue().splitlines():
            note(line)


def _similar_options(error: click.NoSuchOption) -> list[str]:
    """The options that may be meant; click compares the dashes too, and finds too many."""
    if error.ctx is None:
        return []
    known = [name for option in error.ctx.command.get_params(error.ctx) for name in option.opts]
    names = {name.lstrip("-"): name for name in known if name.startswith("--")}
    word = error.option_name.lstrip("-")
    close = get_close_matches(word, names, cutoff=_SIMILAR)
    longer = [name for name in names if name.startswith(f"{word}-")]
    return [names[name] for name in dict.fromkeys((*close, *longer))]


def _drop_output() -> int:
    """Drop what is not written yet: else Python would fail to write it at its exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
