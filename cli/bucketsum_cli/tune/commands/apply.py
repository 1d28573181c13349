"""`bucketsum tune apply`: what a run recommends, into samconfig.toml."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from bucketsum_cli.emulator import project_folder
from bucketsum_cli.errors import ANSWER_IS_NO, CannotDoError
from bucketsum_cli.files import write_text
from bucketsum_cli.options import json_option, stack_options, yes_option
from bucketsum_cli.output import confirmed, note, notes, print_json, printable
from bucketsum_cli.tune.samconfig import with_parameters
from bucketsum_cli.tune.sweeper import results_in
from bucketsum_cli.tune.table_view import LOCAL_NOTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bucketsum_cli.options import Target
    from bucketsum_cli.tune.results import Results

_FILE: Final = "samconfig.toml"
_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


@click.command("apply")
@click.argument("run_id", metavar="RUN")
@click.option("--config-file", "file", type=click.Path(path_type=Path), metavar="FILE",
              help="The project's samconfig.toml otherwise.")  # fmt: skip
@click.option("--config-env", "environment", default="default", show_default=True, metavar="NAME",
              help="Environment in the file.")  # fmt: skip
@yes_option
@json_option
@stack_options
def apply(
    target: Target,
    run_id: str,
    file: Path | None,
    environment: str,
    yes: bool,  # noqa: FBT001 - click passes by name
    as_json: bool,  # noqa: FBT001 - click passes by name
) -> None:
    """Write what RUN recommends into samconfig.toml, for the next `sam deploy`.

    Shows the change and asks. Everything else in the file stays as it is.

    Exits with 1 where the change is declined.

    Example: bucketsum tune apply last
    """
    results = results_in(target, run_id)
    parameters = _recommended(results)
    file = file or project_folder() / _FILE
    before = _read(file)
    after = with_parameters(before, environment, parameters)
    if results.is_local:
        note(f"{LOCAL_NOTE}; measure on AWS before you deploy there")
    changed = after != before
    if changed:
        _show_difference(file, before, after)
        if not confirmed("Write it?", yes=yes):
            note("nothing was written")
            raise SystemExit(ANSWER_IS_NO)
        write_text(file, after)
    _tell(file, environment, parameters, changed=changed, as_json=as_json)


def _recommended(results: Results) -> Mapping[str, int | str]:
    found = results.recommendation
    if found is None or not found.parameters:
        reason = found.reason if found else "it has not come to that"
        raise CannotDoError(
            f"{results.run.run_id} recommends nothing: {reason}; `bucketsum tune show "
            f"{results.run.run_id}` shows what it measured"
        )
    return found.parameters


def _read(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", newline="") as opened:  # line ends stay as they are
            return opened.read()
    except FileNotFoundError:
        raise CannotDoError(
            f"there is no {file}; make one with `sam deploy --guided`, or name yours with "
            "--config-file"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise CannotDoError(f"{file} cannot be read: {error}") from error


def _show_difference(file: Path, before: str, after: str) -> None:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), str(file), f"{file} (new)", n=1, lineterm=""
    )
    for line in lines:
        notes().print(printable(line), style=_STYLES.get(line[:1], ""), soft_wrap=True)


def _tell(
    file: Path,
    environment: str,
    parameters: Mapping[str, int | str],
    *,
    changed: bool,
    as_json: bool,
) -> None:
    if as_json:
        print_json(
            {
                "file": str(file),
                "environment": environment,
                "parameters": dict(parameters),
                "changed": changed,
            }
        )
        return
    note(f"{file} has it now" if changed else f"{file} has it already")
    note(f"deploy it: sam build && sam deploy --config-env {environment}")
