"""Where the embedded AWS of a project keeps itself, and how to reach it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import boto3
from botocore.session import Session as BotocoreSession

from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.local import process

FOLDER: Final = ".bucketsum"
"""Folder in the project that holds all that the embedded AWS writes."""

_STATE_FILE: Final = "local.json"


@dataclass(frozen=True, slots=True)
class LocalAws:
    """A running embedded AWS.

    Attributes:
        pid: Its process.
        endpoint: Its address, on 127.0.0.1.
        region: The Region that the stack is in.
        stack: Name of the stack.
        ca_bundle: File with the certificate authority that signed for it.
    """

    pid: int
    endpoint: str
    region: str
    stack: str
    ca_bundle: str

    def environment(self) -> dict[str, str]:
        """What makes an AWS tool talk to it and never to a real account."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_CA_BUNDLE": self.ca_bundle,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",  # the emulator's, not a secret
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def session(self) -> boto3.Session:
        """Credentials and Region; clients need `endpoint` as their ``endpoint_url`` too.

        Nothing of the person's own AWS gets in: no profile, no variable, no file.
        """
        defaults = {
            name: (None, None, default, conversion)
            for name, (_, _, default, conversion) in BotocoreSession.SESSION_VARIABLES.items()
        }
        nothing = (None, None, os.devnull, None)
        no_files = {"config_file": nothing, "credentials_file": nothing}
        return boto3.Session(
            botocore_session=BotocoreSession(session_vars=defaults | no_files),
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - the emulator's, not a secret
            region_name=self.region,
        )


def project_folder(start: Path | None = None) -> Path:
    """The nearest folder, from *start* (the current one) upwards, that holds bucketsum's template.

    Raises:
        CannotDoError: There is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "template.yaml").is_file() and (folder / "layers" / "bucketsum").is_dir():
            return folder
    raise CannotDoError(
        f"{here} is not inside a bucketsum project (no template.yaml with layers/bucketsum above "
        "it); change into a clone of bucketsum"
    )


def running(project: Path) -> LocalAws:
    """The embedded AWS of *project*.

    Raises:
        CannotDoError: It is not running.
    """
    pid = remembered_pid(project)
    try:
        if pid is not None and process.lives(pid, project / FOLDER):
            return LocalAws(**json.loads((project / FOLDER / _STATE_FILE).read_text()))
    except TypeError:
        raise CannotDoError(
            "the embedded AWS was started by another version of bucketsum; "
            "`bucketsum local down`, then `bucketsum local up`"
        ) from None
    raise CannotDoError("the embedded AWS is not running; start it with `bucketsum local up`")


def remembered_pid(project: Path) -> int | None:
    """The process that was started last, whether or not it still runs."""
    try:
        pid: int = json.loads((project / FOLDER / _STATE_FILE).read_text())["pid"]
    except (FileNotFoundError, ValueError, KeyError):
        return None
    return pid


def save(project: Path, state: LocalAws) -> None:
    """Remember *state* for the next command."""
    (project / FOLDER).mkdir(exist_ok=True)
    (project / FOLDER / _STATE_FILE).write_text(json.dumps(asdict(state), indent=2))


def forget(project: Path) -> None:
    """The embedded AWS is down."""
    (project / FOLDER / _STATE_FILE).unlink(missing_ok=True)
