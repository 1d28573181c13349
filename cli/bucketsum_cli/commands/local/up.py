"""`bucketsum local up`: start the emulator and deploy the template."""

from __future__ import annotations

import click

from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.commands.local.deployment import bring_up, locked
from bucketsum_cli.commands.local.status import Emulator, print_status
from bucketsum_cli.emulator import emulator_state


@click.command("up")
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A template parameter, for example MemorySize=1024; may be repeated.",
)
@click.option(
    "--network",
    type=click.Choice(["lambda", "unlimited"]),
    default="lambda",
    show_default=True,
    help="Bandwidth between S3 and each execution environment: as Lambda's, or unlimited. A "
    "running emulator keeps its own.",
)
@json_option(Emulator)
def up(parameters: tuple[str, ...], network: str, as_json: bool) -> None:
    """Start the local emulator, and deploy the template.

    Waits until a test object is recorded.

    If the emulator is already running, the template is built and deployed again; objects and rows
    stay.

    A parameter that is not given gets its default, even if an earlier `up` set it. The defaults are
    the template's, except that MaximumConcurrency is 4, BackfillConcurrency is 2, and PythonRuntime
    and Architecture are those of this machine.

    Example: bucketsum local up --parameter MemorySize=1024
    """
    chosen = _chosen(parameters)
    project = emulator_state.local_project()
    with locked(project):
        stack = bring_up(project, chosen, lambda_network=network == "lambda")
    print_status(project, stack, as_json=as_json)
    if not as_json:
        click.echo("\nNext:  bucketsum put --local FILE   ·   bucketsum ls --local")


def _chosen(parameters: tuple[str, ...]) -> dict[str, str]:
    for parameter in parameters:
        if "=" not in parameter:
            raise click.BadParameter(
                f"{parameter!r} is not NAME=VALUE, for example MemorySize=1024",
                param_hint="--parameter",
            )
    return dict(parameter.split("=", 1) for parameter in parameters)
