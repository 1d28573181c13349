"""`bucketsum local demo`: real files into a stack of its own, every digest compared."""

from __future__ import annotations

import shlex
import shutil
import sys

import click

from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.commands.lab import lab
from bucketsum_cli.commands.local.demonstration import Demonstration, run_demo
from bucketsum_cli.commands.local.deployment import bring_up, locked, stop
from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.machine.folders import HOME_VARIABLE
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.output import note, say

_HOME = "demo"
_NEXT_STEP = (
    "next: `bucketsum local up` deploys a stack that stays; "
    "`bucketsum put FILE --local` hashes a file of yours"
)


@click.command("demo")
@click.option(
    "--sweep", is_flag=True, help="After the check, run the quick sweep (events/sweep-quick.json)."
)
@click.option(
    "--keep", is_flag=True, help="Keep the stack running; otherwise it is deleted at the end."
)
@json_option(Demonstration)
def demo(sweep: bool, keep: bool, as_json: bool) -> None:
    """Upload real files to a new stack, and check every SHA-1.

    The stack runs on its own local emulator, in the folder .bucketsum/demo, and does not touch
    the stack of `bucketsum local up`. With --sweep, a quick sweep follows, and the path of its
    report is printed.

    Exits with 1 if a digest differs or is missing, or if the sweep is incomplete.
    """
    measuring = lab() if sweep else None
    if sweep and measuring is None:
        raise CannotDoError("this installation has no sweeps: do without --sweep")
    project = emulator_state.local_project().separate(_HOME)
    with locked(project):
        if emulator_state.living_pid(project):
            raise CannotDoError(f"an earlier demonstration's stack still runs; {_use(project)}")
        stack = bring_up(project, {}, lambda_network=True)
        try:
            files, equal = run_demo(project, stack, as_json=as_json)
            measured = measuring is None or measuring.demonstrate(project, stack, as_json)
            if not as_json:
                style = "bold green" if equal == files else "bold red"
                say(f"{equal} of {files} equal sha1sum", style)  # last, after the sweep's output
        finally:
            if keep:
                note(f"The demonstration's stack stays up; {_use(project)}")
            else:
                stop(project)
    if not (as_json or keep):
        note(_NEXT_STEP)
    end_if(not (equal == files and measured))


def _use(project: emulator_state.LocalProject) -> str:
    command = "bucketsum" if shutil.which("bucketsum") else shlex.quote(sys.argv[0])
    return (
        f"use it with `export {HOME_VARIABLE}={project.home}` and then, for "
        f"example, `{command} ls --local`; end it with `{command} local down`"
    )
