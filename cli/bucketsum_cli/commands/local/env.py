"""`bucketsum local env`: the variables with which other programs use the emulator."""

from __future__ import annotations

import shlex

import click

from bucketsum_cli.arguments.options import json_option
from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.terminal.output import print_json, print_text


@click.command("env")
@json_option(dict[str, str])
def env(as_json: bool) -> None:
    """Print environment variables, for other programs.

    The AWS CLI, SDKs and other S3 clients then use the emulator, and no real account. Version 1 of
    the AWS CLI calls AWS for `aws sqs`, unless --endpoint-url "$AWS_ENDPOINT_URL" is given. rclone
    fails if AWS_CA_BUNDLE is set:
    env -u AWS_CA_BUNDLE RCLONE_CA_CERT="$AWS_CA_BUNDLE" rclone ...

    Exits with 2 if the emulator is not running.

    Example: eval "$(bucketsum local env)"
    """
    variables = emulator_state.running(emulator_state.local_project()).environment()
    if as_json:
        print_json(variables)
        return
    for name, value in variables.items():
        print_text(f"export {name}={shlex.quote(value)}\n")
    print_text("unset AWS_PROFILE AWS_SESSION_TOKEN\n")
