"""The header of a self-test: versions and settings, without names that are private."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Annotated, Final

from bucketsum import __version__
from bucketsum_cli.aws.stack import Stack

_ARN: Final = re.compile(r"\barn:[\w-]+:[^\s\"'`,;()<>]+")
_ACCOUNT: Final = re.compile(r"(?<!\d)\d{12}(?!\d)")
_PRIVATE: Final = re.compile(r"\w*(Bucket|BucketName|Arns?)")
"""Parameters that name a bucket, a key or another resource."""

_SET: Final = "(set)"


@dataclass(frozen=True, slots=True)
class Header:
    """Versions and settings that a reader of the result must know."""

    bucketsum: Annotated[str, "Version of bucketsum."]
    python: Annotated[str, "Version of Python on your machine."]
    boto3: Annotated[str, "Version of boto3 on your machine."]
    region: str
    is_local: Annotated[bool, "Whether the stack is on the local emulator."]
    architecture: Annotated[str, "The hasher's."]
    runtime: Annotated[str, "The hasher's."]
    memory_mb: int
    parameters: Annotated[Mapping[str, str], "The stack's; `(set)` hides private values."]


def header_of(stack: Stack) -> Header:
    """Read the header of *stack*."""
    function = stack.function_configuration()
    return Header(
        bucketsum=__version__,
        python=platform.python_version(),
        boto3=metadata.version("boto3"),
        region=stack.connection.region,
        is_local=stack.connection.is_local,
        architecture=function["Architectures"][0],
        runtime=function["Runtime"],
        memory_mb=function["MemorySize"],
        parameters={
            name: _SET if _PRIVATE.fullmatch(name) and value else value
            for name, value in stack.parameters.items()
        },
    )


def redacted(text: str, names: Mapping[str, str]) -> str:
    """*text* without ARNs and account ids; each value of *names* is replaced by its key."""
    text = _ARN.sub("<ARN>", text)
    for name, value in sorted(names.items(), key=lambda item: len(item[1]), reverse=True):
        if value:
            text = text.replace(value, f"<{name}>")
    return _ACCOUNT.sub("<account>", text)
