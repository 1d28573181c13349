"""The local emulator (ministack) of a clone: its files, its state, and how to reach it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bucketsum_cli.emulator import process
from bucketsum_cli.machine.folders import HOME_VARIABLE
from bucketsum_cli.terminal.documents import json_text
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output_files import write_text

FOLDER: Final = ".bucketsum"
"""Folder in a clone for all that the local emulator writes."""

_INSTALLED_FROM: Final = Path(__file__).resolve().parents[3]
_STATE_FILE: Final = "local.json"


@dataclass(frozen=True, slots=True)
class LocalProject:
    """A clone of bucketsum, and the folder that one local emulator of it writes to.

    Attributes:
        folder: The clone: what is built and deployed.
        home: Folder of the emulator's files; two emulators of one clone have two.
    """

    folder: Path
    home: Path

    @classmethod
    def at(cls, folder: Path) -> LocalProject:
        """The clone *folder* with its usual local emulator."""
        return cls(folder, folder / FOLDER)

    def separate(self, name: str) -> LocalProject:
        """The same clone with another local emulator, so that the usual one is left alone."""
        return replace(self, home=self.folder / FOLDER / name)

    @property
    def is_usual(self) -> bool:
        """Whether this is the emulator that `--local` means by default."""
        return self.home == self.folder / FOLDER


@dataclass(frozen=True, slots=True)
class LocalAws:
    """A running local emulator.

    Attributes:
        endpoint: Its address, on 127.0.0.1.
        ca_bundle: File with the certificate authority that signed its certificate.
    """

    pid: int
    endpoint: str
    region: str
    stack: str
    ca_bundle: str

    def environment(self) -> dict[str, str]:
        """Variables with which an AWS tool uses the emulator and never a real account."""
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


def project_folder() -> Path:
    """Return the nearest folder, from the current one upwards, that is a clone.

    Raises:
        CannotDoError: There is none.
    """
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if _is_clone(folder):
            return folder
    raise CannotDoError(
        f"{here} is not inside a bucketsum project (no template.yaml with layers/bucketsum above "
        "it); change into a clone of bucketsum"
    )


def _is_clone(folder: Path) -> bool:
    return (folder / "template.yaml").is_file() and (folder / "layers" / "bucketsum").is_dir()


def local_project() -> LocalProject:
    """Return the clone around the current folder, else the one this command is installed from.

    The emulator's folder is the clone's, or the one that `HOME_VARIABLE` names.

    Raises:
        CannotDoError: There is no clone, and no emulator in the folder that the variable names.
    """
    home = os.environ.get(HOME_VARIABLE)
    try:
        folder = project_folder()
    except CannotDoError:
        if _is_clone(_INSTALLED_FROM):
            folder = _INSTALLED_FROM
        elif home and (Path(home) / _STATE_FILE).is_file():
            folder = Path(home).resolve()  # enough for a running one
        else:
            raise
    return LocalProject(folder, Path(home).resolve()) if home else LocalProject.at(folder)


def running(project: LocalProject) -> LocalAws:
    """Return the running emulator of *project*.

    Raises:
        CannotDoError: It is not running.
    """
    try:
        if living_pid(project) is not None:
            state = LocalAws(**json.loads((project.home / _STATE_FILE).read_text()))
            _require_texts(state.endpoint, state.region, state.stack, state.ca_bundle)
            return state
    except TypeError:
        raise CannotDoError(
            "the local emulator was started by another version of bucketsum; "
            "`bucketsum local down`, then `bucketsum local up`"
        ) from None
    raise CannotDoError(
        f"the local emulator of {project.folder} is not running; start it with `bucketsum local up`"
        if project.is_usual
        else f"no local emulator is running in {project.home} ({HOME_VARIABLE}); start it "
        f"with `bucketsum local up`, or unset {HOME_VARIABLE} to use the one of {project.folder}"
    )


def _require_texts(*values: object) -> None:
    """Raise TypeError if one of *values* is not a text."""
    if not all(isinstance(value, str) for value in values):
        raise TypeError


def living_pid(project: LocalProject) -> int | None:
    """Return the process of the emulator of *project*; None if it is not running."""
    try:
        pid: int = json.loads((project.home / _STATE_FILE).read_text())["pid"]
    except (FileNotFoundError, ValueError, KeyError):
        return None
    return pid if process.lives(pid, project.home) else None


def save(project: LocalProject, state: LocalAws) -> None:
    """Remember *state* for the next command."""
    project.home.mkdir(parents=True, exist_ok=True)
    write_text(project.home / _STATE_FILE, json_text(state))


def forget(project: LocalProject) -> None:
    """Remove the state: the emulator is down."""
    (project.home / _STATE_FILE).unlink(missing_ok=True)
