"""`bucketsum local status`: the emulator's address and stack, if it is running."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import click

from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.aws.stack_lookup import find_local_stack
from bucketsum_cli.emulator import emulator_state, launcher
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.terminal.documents import document_of, fields_of
from bucketsum_cli.terminal.output import note, print_json, say


@dataclass(frozen=True, slots=True)
class Emulator:
    """The running emulator and its stack."""

    endpoint: Annotated[str, "The emulator's address."]
    pid: Annotated[int, "The emulator's process."]
    stack: str
    region: str
    bucket: str
    table: Annotated[str, "Name of the digests table."]
    function: Annotated[str, "Name of the hasher."]
    lambda_shape: Annotated[bool, "Whether functions have Lambda's CPU share and memory limit."]
    network: Annotated[str, "`lambda` or `unlimited`."]
    folder: Annotated[Path, "Folder of the emulator's files."]


@click.command("status")
@json_option(Emulator)
def status(as_json: bool) -> None:
    """Show the local emulator's address and stack, if it is running.

    Exits with 2 if the emulator is not running.
    """
    project = emulator_state.local_project()
    print_status(project, find_local_stack(project), as_json=as_json)


def print_status(project: LocalProject, stack: Stack, *, as_json: bool) -> None:
    """Show the emulator of *project* and the *stack* on it."""
    aws = emulator_state.running(project)
    limits, network = launcher.lambda_likeness(project)
    facts = document_of(
        Emulator,
        aws,
        stack,
        lambda_shape=limits,
        network="lambda" if network else "unlimited",
        folder=project.home,
    )
    if as_json:
        print_json(facts)
        return
    for name, value in {**fields_of(facts), "lambda_shape": "yes" if limits else "no"}.items():
        say(f"{name:<12}  {value}")
    if not limits:
        note("")
        note(
            "Control groups cannot be written here: memory size does not change speed, and "
            "memory is not limited. Numbers measured here say nothing about memory sizes."
        )
