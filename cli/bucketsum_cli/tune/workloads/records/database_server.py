"""Name of a server that speaks MongoDB's protocol: several programs do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

_MONGODB: Final = ("mongod", "mongos")
_NAMES: Final = {"java": "mongo-java-server"}
"""Process → program, where they differ."""
_COMMIT: Final = "gitVersion"
"""MongoDB's build has it."""
_REFUSALS: Final = (13, 59)
"""MongoDB's codes of errors: this user may not, and there is no such command."""


def server_name(command: Callable[[str], Mapping[str, Any]]) -> str:
    """The program and its version, from the answers to *command*.

    It is MongoDB only if its process and its build both say so. Others state the version of
    MongoDB whose protocol they speak.
    """
    build = command("buildInfo")
    try:
        process = str(command("serverStatus").get("process", ""))
    except Exception as error:
        if getattr(error, "code", None) not in _REFUSALS:
            raise
        process = ""
    program = process.removesuffix(".exe")
    if program in _MONGODB and _COMMIT in build:
        return f"MongoDB {build['version']}"
    name = _NAMES.get(program, program) or "unnamed server"
    return f"{name} (protocol of MongoDB {build['version']})"
