"""`bucketsum tune apply`: the recommended parameters, written into deploy.toml."""

from __future__ import annotations

import difflib
import shlex
from pathlib import Path
from typing import Final

import click

from bucketsum_cli.arguments.options import json_option, yes_option
from bucketsum_cli.arguments.target import Target, stack_options
from bucketsum_cli.emulator.emulator_state import project_folder
from bucketsum_cli.terminal.confirmation import confirm
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json
from bucketsum_cli.terminal.output_files import write_text
from bucketsum_cli.tune.answer import deploys_nothing, doubt_about, gain_text, is_loss
from bucketsum_cli.tune.recorded_runs import RecordedRuns, complete_run
from bucketsum_cli.tune.results import Results
from bucketsum_cli.tune.samconfig import with_parameters
from bucketsum_lab.protocol.run_records import RunStatus
from bucketsum_lab.results.recommendation import Candidate

_OWN_FILE: Final = "deploy.toml"
_TRACKED_FILE: Final = "samconfig.toml"
_ENVIRONMENT: Final = "default"
_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


@click.command("apply")
@click.argument("run_id", metavar="RUN", shell_complete=complete_run)
@click.option("--config-file", "config_file", type=click.Path(path_type=Path), metavar="FILE",
              help="File to change; by default deploy.toml, which is a copy of samconfig.toml at "
                   "first.")  # fmt: skip
@click.option("--config-env", "environment", default=_ENVIRONMENT, show_default=True,
              metavar="NAME", help="Environment in the file, as for `sam deploy`.")  # fmt: skip
@click.option("--force", is_flag=True,
              help="Also apply a run of the local emulator, or one that did not end.")  # fmt: skip
@yes_option
@json_option()
@stack_options
def apply(
    target: Target,
    run_id: str,
    config_file: Path | None,
    environment: str,
    force: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Write the recommendation of RUN into deploy.toml.

    RUN is a name from `bucketsum tune list`, or `last`.

    The next `sam deploy --config-file deploy.toml` uses the new values. Git ignores this file; if
    there is none, it is made as a copy of samconfig.toml.

    Shows the change to the file and the gain over the deployed setting, and asks for confirmation.
    The rest of the file stays as it is.

    Exits with 1 if you decline.

    Example: bucketsum tune apply last
    """
    results = RecordedRuns(target).results(run_id)
    best = _recommended(results, force=force)
    file = config_file or project_folder() / _OWN_FILE
    source = file if config_file or file.exists() else file.with_name(_TRACKED_FILE)
    before = _text_of(source)
    after = with_parameters(before, source.name, environment, best.parameters)
    changed = after != before or file != source
    label = results.labels.effective(best.setting)
    note(f"{label}: {gain_text(results)}", "yellow" if is_loss(results) else "")
    if changed:
        _show_difference(source, file, before, after)
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
    if not deploys_nothing(results):
        note(f"deploy it: sam build && {_deploy_command(config_file, environment)}")


def _recommended(results: Results, *, force: bool) -> Candidate:
    """The recommendation, if it may be applied; with *force*, doubts are notes."""
    run_id, recommendation = results.run.run_id, results.recommendation
    if results.machine:
        raise CannotDoError(
            f"{run_id} was measured on a machine ({results.machine.name}), not on Lambda: there is "
            "nothing to deploy; run the same sweep without --here"
        )
    if recommendation.best is None:
        raise CannotDoError(
            f"{run_id} has no recommendation: {recommendation.reason}; "
            f"`{command_line('tune', 'show', run_id)}` shows its measurements"
        )
    doubt = doubt_about(results)
    if doubt and not force:
        raise CannotDoError(f"{doubt}; measure to the end on AWS, or insist with --force")
    if results.run.status is RunStatus.PARTIAL:
        doubt = doubt or f"{run_id} is {results.run.status}: it may lack measurements"
    if doubt:
        note(doubt, "yellow")
    return recommendation.best


def _text_of(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as opened:  # line ends stay as they are
            return opened.read()
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDoError(
            f"{file} cannot be read: {error}; name another file with --config-file"
        ) from error


def _show_difference(source: Path, file: Path, before: str, after: str) -> None:
    new = f"{file} (new)"
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), str(source), new, n=1, lineterm=""
    )
    for line in lines:
        note(line, _STYLES.get(line[:1], ""))


def _deploy_command(config_file: Path | None, environment: str) -> str:
    """`sam deploy` for the changed file; SAM looks in the project for a relative path."""
    command = ["sam", "deploy", "--config-file"]
    command.append(str(config_file.absolute()) if config_file else _OWN_FILE)
    if environment != _ENVIRONMENT:
        command += ["--config-env", environment]
    return shlex.join(command)
