"""`bucketsum tune apply`: the recommended parameters, written into deploy.toml."""

from __future__ import annotations

import difflib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli.arguments.options import Target, json_option, stack_options, yes_option
from bucketsum_cli.emulator.emulator_state import project_folder
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output import confirm, note, print_json, write_text
from bucketsum_cli.tune.answer import gain_text, is_loss
from bucketsum_cli.tune.recorded_runs import RecordedRuns, complete_run
from bucketsum_cli.tune.report.table_view import LOCAL_NOTE
from bucketsum_cli.tune.samconfig import with_parameters
from bucketsum_lab.protocol.run_records import RunStatus

if TYPE_CHECKING:
    from bucketsum_cli.tune.results import Results
    from bucketsum_lab.results.recommendation import Candidate

_OWN_FILE: Final = "deploy.toml"
_TRACKED_FILE: Final = "samconfig.toml"
_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


@click.command("apply")
@click.argument("run_id", metavar="RUN", shell_complete=complete_run)
@click.option("--config-file", "config_file", type=click.Path(path_type=Path), metavar="FILE",
              help="File to change; by default deploy.toml, or samconfig.toml if there is "
                   "none.")  # fmt: skip
@click.option("--config-env", "environment", default="default", show_default=True, metavar="NAME",
              help="Environment in the file, as for `sam deploy`.")  # fmt: skip
@yes_option
@json_option()
@stack_options
def apply(
    target: Target,
    run_id: str,
    config_file: Path | None,
    environment: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Write the recommendation of RUN into deploy.toml.

    RUN is a name from `bucketsum tune list`, or `last`.

    The next `sam deploy --config-file deploy.toml` uses the new values. If there is no deploy.toml,
    samconfig.toml is changed instead.

    Shows the change to the file and the gain over the deployed setting, and asks for confirmation.
    The rest of the file stays as it is.

    Exits with 1 if you decline.

    Example: bucketsum tune apply last
    """
    results = RecordedRuns(target).results(run_id)
    if results.machine:
        raise CannotDoError(
            f"{results.run.run_id} was measured on a machine ({results.machine.name}), not on "
            "Lambda: there is nothing to deploy; run the same sweep without --here"
        )
    best = _recommended(results)
    file = config_file or _file_in(project_folder())
    before = _text_of(file)
    after = with_parameters(before, file.name, environment, best.parameters)
    if results.is_local:
        note(f"{LOCAL_NOTE}; measure on AWS before you deploy there")
    if results.run.status is not RunStatus.SUCCEEDED:
        note(f"{results.run.run_id} is {results.run.status}: it may lack measurements", "yellow")
    changed = after != before
    label = results.labels.effective(best.setting)
    note(f"{label}: {gain_text(results)}", "yellow" if is_loss(results) else "")
    if changed:
        _show_difference(file, before, after)
        confirm("Write it?", "nothing was written", yes=yes)
        write_text(file, after)
    if as_json:
        print_json(
            {
                "file": str(file),
                "environment": environment,
                "parameters": dict(best.parameters),
                "changed": changed,
            }
        )
        return
    note(f"{file} now has these values" if changed else f"{file} already has these values")
    note(f"deploy it: sam build && {_deploy_command(file, environment, named=bool(config_file))}")


def _file_in(project: Path) -> Path:
    """The person's own file if there is one, else the file that git tracks."""
    own = project / _OWN_FILE
    return own if own.exists() else project / _TRACKED_FILE


def _recommended(results: Results) -> Candidate:
    recommendation = results.recommendation
    if recommendation.best is None:
        raise CannotDoError(
            f"{results.run.run_id} has no recommendation: {recommendation.reason}; `bucketsum tune "
            f"show {results.run.run_id}` shows its measurements"
        )
    return recommendation.best


def _text_of(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as opened:  # line ends stay as they are
            return opened.read()
    except FileNotFoundError:
        raise CannotDoError(
            f"there is no {file}; create it with `cp samconfig.toml deploy.toml` and `sam deploy "
            "--guided --config-file deploy.toml`, or name another file with --config-file"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDoError(f"{file} cannot be read: {error}") from error


def _show_difference(file: Path, before: str, after: str) -> None:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), str(file), f"{file} (new)", n=1, lineterm=""
    )
    for line in lines:
        note(line, _STYLES.get(line[:1], ""))


def _deploy_command(file: Path, environment: str, *, named: bool) -> str:
    """`sam deploy` for the changed *file*; SAM looks in the project for a relative path."""
    command = ["sam", "deploy", "--config-env", environment]
    if named or file.name == _OWN_FILE:
        command += ["--config-file", str(file.absolute()) if named else _OWN_FILE]
    return shlex.join(command)
