"""The prober's versions: one per memory size and run, published one by one, removed afterwards.

A version never changes, so sweeps that overlap cannot disturb each other's. They share the
unpublished function, ``$LATEST``: each change of it is guarded by the revision that was read
before, and publishing by the revision and the code that were waited for. On a conflict, start
over. Each version's description names its run; clean-up removes only those of its run, and those
of finished runs.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from bucketsum_lab.errors import ConcurrentUpdate, MemoryRefused

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_lambda.type_defs import FunctionConfigurationTypeDef

T = TypeVar("T")

ATTEMPTS: Final = 12
"""Attempts to publish, or to restore the memory, while others update the function."""

_LATEST: Final = "$LATEST"
_DESCRIPTION: Final = re.compile(r"sweep (\S+) at (\d+) MB")
_CONFLICTS: Final = frozenset({"PreconditionFailedException", "ResourceConflictException"})
_REFUSED: Final = frozenset({"InvalidParameterValueException", "ValidationException"})
_OTHER_CODE: Final = "InvalidParameterValueException"
"""The answer to a ``CodeSha256`` that is no longer the function's."""

_GONE: Final = "ResourceNotFoundException"
_LONGEST_PAUSE_SECONDS: Final = 5.0


class ProberVersions:
    """Publishes and removes versions of one function.

    Its memory and description are those in the template, which clean-up restores.
    """

    def __init__(
        self,
        client: LambdaClient,
        function: str,
        memory_mb: int,
        description: str,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._lambda = client
        self._function = function
        self._memory_mb = memory_mb
        self._description = description
        self._pause = pause

    def publish(self, run_id: str, memory_mb: int) -> str:
        """Publish a version of *memory_mb* for the run, or return the existing one.

        Raises:
            MemoryRefused: The account does not allow this memory size.
            ConcurrentUpdate: Others kept changing the function.
            ClientError: Lambda refused for another reason.
        """
        description = f"sweep {run_id} at {memory_mb} MB"
        for version in self._versions():  # a repeated invocation of the publisher
            if version["Description"] == description and version["MemorySize"] == memory_mb:
                return version["Version"]
        return self._with_retries(lambda: self._published(memory_mb, description))

    def clean_up(self, run_id: str, is_finished: Callable[[str], bool]) -> dict[str, list[str]]:
        """Remove the versions of the run and of finished runs; restore the memory.

        After a failure it tries the rest. Returns the versions that are ``deleted``, and what is
        ``left`` behind, with the reasons.
        """
        deleted, left = list[str](), list[str]()

        def removable(description: str) -> bool:
            match = _DESCRIPTION.fullmatch(description)
            return match is not None and (match[1] == run_id or is_finished(match[1]))

        try:
            versions = [
                version["Version"]
                for version in self._versions()
                if removable(version["Description"])
            ]
        except (BotoCoreError, ClientError) as error:
            return {"deleted": [], "left": [f"the versions could not be listed: {error}"]}
        for version in versions:
            try:
                self._delete(version)
                deleted.append(version)
            except (BotoCoreError, ClientError) as error:
                left.append(f"version {version}: {error}")
        try:
            self._with_retries(lambda: self._restore(removable))
        except (BotoCoreError, ClientError, ConcurrentUpdate) as error:
            left.append(f"the memory of {_LATEST}: {error}")
        return {"deleted": deleted, "left": left}

    def _published(self, memory_mb: int, description: str) -> str:
        self._set(memory_mb, description, self._configuration()["RevisionId"])
        ready = self._configuration()
        if (ready["MemorySize"], ready["Description"]) != (memory_mb, description):
            raise ConcurrentUpdate(f"the function was set to {ready['MemorySize']} MB meanwhile")
        version = self._new_version(ready)
        self._lambda.get_waiter("published_version_active").wait(
            FunctionName=self._function,
            Qualifier=version,
            WaiterConfig={"Delay": 1, "MaxAttempts": 120},
        )
        published = self._configuration(version)
        if published["Description"] != description:  # another sweep's, which removes it
            raise ConcurrentUpdate(f"version {version} is that of {published['Description']}")
        if published["MemorySize"] != memory_mb:  # the guards did not hold
            self._delete(version)
            raise ConcurrentUpdate(f"version {version} came out with {published['MemorySize']} MB")
        return version

    def _new_version(self, ready: FunctionConfigurationTypeDef) -> str:
        try:
            return self._lambda.publish_version(
                FunctionName=self._function,
                CodeSha256=ready["CodeSha256"],
                RevisionId=ready["RevisionId"],
                Description=ready["Description"],
            )["Version"]
        except ClientError as error:
            if error.response["Error"]["Code"] == _OTHER_CODE:
                raise ConcurrentUpdate("the function's code was deployed meanwhile") from error
            raise

    def _set(self, memory_mb: int, description: str, revision: str) -> None:
        try:
            self._lambda.update_function_configuration(
                FunctionName=self._function,
                MemorySize=memory_mb,
                Description=description,  # always another, so that publishing makes a version
                RevisionId=revision,
            )
        except ClientError as error:
            if error.response["Error"]["Code"] in _REFUSED:
                raise MemoryRefused(
                    f"Lambda refuses {memory_mb} MB: {error.response['Error'].get('Message', '')}"
                ) from error
            raise
        self._lambda.get_waiter("function_updated").wait(
            FunctionName=self._function, WaiterConfig={"Delay": 1, "MaxAttempts": 120}
        )

    def _restore(self, removable: Callable[[str], bool]) -> None:
        """Restore the function, unless another running sweep has updated it and will restore it."""
        latest = self._configuration()
        if removable(latest["Description"]):
            self._set(self._memory_mb, self._description, latest["RevisionId"])

    def _configuration(self, version: str = _LATEST) -> FunctionConfigurationTypeDef:
        response: Any = self._lambda.get_function_configuration(
            FunctionName=self._function, Qualifier=version
        )
        configuration: FunctionConfigurationTypeDef = response  # the same, with ResponseMetadata
        return configuration

    def _versions(self) -> Iterator[FunctionConfigurationTypeDef]:
        pages = self._lambda.get_paginator("list_versions_by_function").paginate(
            FunctionName=self._function
        )
        for page in pages:
            yield from (version for version in page["Versions"] if version["Version"] != _LATEST)

    def _delete(self, version: str) -> None:
        try:
            self._lambda.delete_function(FunctionName=self._function, Qualifier=version)
        except ClientError as error:
            if error.response["Error"]["Code"] != _GONE:
                raise

    def _with_retries(self, act: Callable[[], T]) -> T:
        """Call *act*; after each concurrent update, call it again."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return act()
            except ConcurrentUpdate as error:
                conflict: Exception = error
            except ClientError as error:
                if error.response["Error"]["Code"] not in _CONFLICTS:
                    raise
                conflict = error
            longest = min(2.0 ** (attempt - 2), _LONGEST_PAUSE_SECONDS)
            self._pause(random.uniform(0, longest))  # noqa: S311 - two sweeps must not keep step
        raise ConcurrentUpdate(f"given up after {ATTEMPTS} attempts; the last: {conflict}")
