"""`bucketsum local up|status|logs|down|demo`."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console

from bucketsum_cli import emulator, output
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.local import deploy, launcher, lock
from bucketsum_cli.local.demo import run_demo
from bucketsum_cli.local.demo_sweep import demonstrate_sweep
from bucketsum_cli.local.interpreter import newest_interpreter
from bucketsum_cli.options import OrderedGroup, json_option
from bucketsum_cli.stack import Stack, find_local_stack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STACK: Final = "bucketsum"
_FOLLOW_PAUSE_SECONDS: Final = 1.0


@click.group(cls=OrderedGroup)
def local() -> None:
    """The embedded AWS on this machine.

    No account, no cost, the real template. Numbers measured on it are this machine's, never AWS's.
    """


@local.command()
@click.option(
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the template, as MemorySize=1024; may be given more than once.",
)
@json_option
def up(parameters: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001 - click passes by name
    """Start it, build and deploy the template, and see a row land.

    Where it runs already, the template is built and deployed anew.

    Example: bucketsum local up --parameter MemorySize=1024
    """
    project = emulator.project_folder()
    with lock.held(project):
        stack = bring_up(project, _chosen(parameters))
    _print_status(project, stack, as_json=as_json)
    if not as_json:
        click.echo("\nNext:  bucketsum put --local FILE   ·   bucketsum ls --local")


@local.command()
@json_option
def status(as_json: bool) -> None:  # noqa: FBT001 - click passes by name
    """Say what runs, and where. Exits with 2 where nothing does."""
    project = emulator.project_folder()
    _print_status(project, find_local_stack(project), as_json=as_json)


@local.command()
@click.option("--follow", is_flag=True, help="Go on showing what comes; Ctrl-C ends it.")
@click.option(
    "--emulator",
    "emulator_log",
    is_flag=True,
    help="The emulator's own log instead of the function's.",
)
def logs(follow: bool, emulator_log: bool) -> None:  # noqa: FBT001 - click passes by name
    """Show what the hasher wrote."""
    project = emulator.project_folder()
    stack = find_local_stack(project)
    if emulator_log:
        click.echo(launcher.log_end(project / emulator.FOLDER / "gateway.log", 200))
        return
    for line in _log_lines(stack, follow=follow):
        click.echo(line)


@local.command()
@json_option
def down(as_json: bool) -> None:  # noqa: FBT001 - click passes by name
    """Stop it and forget all that is in it."""
    project = emulator.project_folder()
    with lock.held(project):
        stopped = _stop(project)
    if as_json:
        click.echo(json.dumps({"stopped": stopped}))
    else:
        click.echo("stopped" if stopped else "it was not running")


@local.command()
@click.option("--sweep", is_flag=True, help="Then measure memory and chunk sizes.")
@click.option("--keep", is_flag=True, help="Leave it running afterwards.")
@json_option
def demo(sweep: bool, keep: bool, as_json: bool) -> None:  # noqa: FBT001 - click passes by name
    """Put real files into a fresh stack and compare every recorded SHA-1 with the local one.

    With --sweep it ends with a quick sweep and the path of its report.

    Exits with 1 where a digest differs or is missing, or something was not measured.
    """
    project = emulator.project_folder()
    with lock.held(project):
        stack = bring_up(project, {})
        try:
            verdict = run_demo(project, stack, as_json=as_json)
            measured = not sweep or demonstrate_sweep(project, stack, as_json=as_json)
            if not as_json:
                verdict.say()  # last, whatever came between
        finally:
            if keep:
                click.echo("The stack stays up; `bucketsum local down` ends it.", err=True)
            else:
                _stop(project)
    raise SystemExit(0 if verdict.all_equal and measured else 1)


def bring_up(project: Path, chosen: dict[str, str]) -> Stack:
    """Have the template deployed on a running embedded AWS, and a row landed.

    Whatever fails, an embedded AWS that this call started does not stay behind.

    Raises:
        CannotDoError: A step failed; the text says which and shows what it said.
    """
    launcher.require_parts()
    interpreter = newest_interpreter()
    parameters = deploy.parameters_for(interpreter, chosen)
    try:
        aws = emulator.running(project)
        started_here = False
    except CannotDoError:
        started_here = True
        _stop(project)  # clears what a killed one left behind
        with _step(f"embedded AWS, workers on Python 3.{interpreter.minor}"):
            aws = launcher.start(project, _STACK, interpreter)
    try:
        with _step("sam build"):
            deploy.build(project, interpreter, aws, parameters)
        with _step("sam deploy"):
            deploy.deploy(project, interpreter, aws, parameters)
        stack = find_local_stack(project)
        deploy.correct_mapping(stack, int(parameters["MaximumConcurrency"]))
        with _step("a first object's row"):
            deploy.prove(stack)
    except BaseException:
        if started_here:
            _stop(project)
        raise
    return stack


def _stop(project: Path) -> bool:
    """Stop it, and say so meanwhile; returns whether it was running."""
    with output.notes().status("stopping ..."):
        return launcher.stop(project)


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Show that *what* is under way, and how long it took."""
    console = Console(stderr=True)
    started = time.monotonic()
    with console.status(f"{what} ..."):
        yield
    console.print(f"[green]✓[/green] {what} [dim]{time.monotonic() - started:.1f} s[/dim]")


def _chosen(parameters: tuple[str, ...]) -> dict[str, str]:
    for parameter in parameters:
        if "=" not in parameter:
            raise click.BadParameter(
                f"{parameter!r} is not NAME=VALUE, as MemorySize=1024", param_hint="--parameter"
            )
    return dict(parameter.split("=", 1) for parameter in parameters)


def _print_status(project: Path, stack: Stack, *, as_json: bool) -> None:
    aws = emulator.running(project)
    facts = {
        "endpoint": aws.endpoint,
        "pid": aws.pid,
        "stack": aws.stack,
        "region": aws.region,
        "bucket": stack.bucket,
        "table": stack.table,
        "function": stack.function,
        "lambda_shape": launcher.shaped(project),
        "folder": str(project / emulator.FOLDER),
    }
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    for name, value in facts.items():
        click.echo(f"{name:>14}  {value}")
    if not facts["lambda_shape"]:
        click.echo(
            "\nControl groups cannot be written here: memory size does not change speed, and "
            "memory is not limited. Numbers measured here say nothing about memory sizes.",
            err=True,
        )


def _log_lines(stack: Stack, *, follow: bool) -> Iterator[str]:
    """The hasher's log events, oldest first."""
    pages = stack.client("logs").get_paginator("filter_log_events")
    shown = 0  # the emulator's events have no ids, but it keeps all and their order
    while True:
        answers = pages.paginate(logGroupName=stack.log_group)
        events = [event for answer in answers for event in answer["events"]]
        yield from (event["message"].rstrip() for event in events[shown:])
        shown = len(events)
        if not follow:
            return
        time.sleep(_FOLLOW_PAUSE_SECONDS)
