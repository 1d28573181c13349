"""Lambda, as far as publishing versions goes: revisions are guarded, others may come between."""

# ruff: noqa: N803 - arguments have the names that boto3 gives them

from __future__ import annotations

from typing import Any, NoReturn

from botocore.exceptions import ClientError


class FakeLambda:
    """One function. Implements the calls of `ProberVersions` with Lambda's own conditions.

    Attributes:
        memory_mb: Of ``$LATEST``.
        description: Of ``$LATEST``.
        published: Version → its configuration.
        deletions: Qualifiers that deletion was asked for.
        meanwhile: Moment → how often somebody else changes the function then.
        deployments: How often new code is deployed before a version is published.
        publishes_wrong: How many versions come out with another memory size.
        publishes_others: How many times the version of another sweep comes back.
        refusals: Call → the code that it is refused with.
        cannot_delete: Versions whose deletion is refused.
    """

    def __init__(self, memory_mb: int, description: str) -> None:
        self.memory_mb = memory_mb
        self.description = description
        self.published: dict[str, dict[str, Any]] = {}
        self.deletions: list[str] = []
        self.meanwhile = {"before-update": 0, "after-update": 0, "before-publish": 0}
        self.deployments = 0
        self._code = "code"
        self.publishes_wrong = 0
        self.publishes_others = 0
        self.refusals: dict[str, str] = {}
        self.cannot_delete: set[str] = set()
        self._revision = 1
        self._numbers = 0

    def get_function_configuration(self, *, FunctionName: str, Qualifier: str) -> dict[str, Any]:
        """The configuration of a version or of ``$LATEST``."""
        assert FunctionName == "prober"
        return self._latest() if Qualifier == "$LATEST" else self.published[Qualifier]

    def update_function_configuration(
        self,
        *,
        FunctionName: str,
        MemorySize: int,
        Description: str,
        RevisionId: str,
    ) -> None:
        """Guarded by the revision."""
        assert FunctionName == "prober"
        self._refuse("update_function_configuration")
        self._interfere("before-update")
        self._guard(RevisionId)
        self._change(MemorySize, Description)
        self._interfere("after-update")

    def publish_version(
        self,
        *,
        FunctionName: str,
        Description: str,
        RevisionId: str | None = None,
        CodeSha256: str | None = None,
    ) -> dict[str, Any]:
        """A version of ``$LATEST`` as it is."""
        assert FunctionName == "prober"
        self._interfere("before-publish")
        if Description.startswith("sweep "):  # what it waited for is what it must name
            assert RevisionId is not None
            assert CodeSha256 is not None
        if self.deployments:
            self.deployments -= 1
            self._code += "'"
        if CodeSha256 not in {None, self._code}:
            _raise("InvalidParameterValueException")
        if RevisionId is not None:
            self._guard(RevisionId)
        self._numbers += 1
        version = {**self._latest(), "Version": str(self._numbers), "Description": Description}
        if self.publishes_wrong:
            self.publishes_wrong -= 1
            version["MemorySize"] = 999
        if self.publishes_others:
            self.publishes_others -= 1
            version["Description"] = f"sweep another at {version['MemorySize']} MB"
        self.published[version["Version"]] = version
        return version

    def delete_function(self, *, FunctionName: str, Qualifier: str) -> None:
        """Remove a version."""
        assert FunctionName == "prober"
        self.deletions.append(Qualifier)
        if Qualifier in self.cannot_delete:
            _raise("AccessDeniedException")
        self._refuse("delete_function")
        del self.published[Qualifier]

    def get_waiter(self, name: str) -> FakeLambda:
        """Nothing here takes time."""
        assert name in {"function_updated", "published_version_active"}
        return self

    def wait(self, **_: object) -> None:
        """At once."""

    def get_paginator(self, name: str) -> FakeLambda:
        """Of the versions."""
        assert name == "list_versions_by_function"
        return self

    def paginate(self, *, FunctionName: str) -> list[dict[str, Any]]:
        """A page for every version, ``$LATEST`` first."""
        assert FunctionName == "prober"
        self._refuse("list_versions_by_function")
        return [{"Versions": [version]} for version in [self._latest(), *self.published.values()]]

    def _latest(self) -> dict[str, Any]:
        return {
            "Version": "$LATEST",
            "MemorySize": self.memory_mb,
            "Description": self.description,
            "RevisionId": str(self._revision),
            "CodeSha256": self._code,
        }

    def _change(self, memory_mb: int, description: str) -> None:
        self.memory_mb, self.description = memory_mb, description
        self._revision += 1

    def _interfere(self, moment: str) -> None:
        if self.meanwhile[moment]:
            self.meanwhile[moment] -= 1
            self._change(640, "sweep another at 640 MB")

    def _guard(self, revision: str) -> None:
        if revision != str(self._revision):
            _raise("PreconditionFailedException")

    def _refuse(self, call: str) -> None:
        if call in self.refusals:
            _raise(self.refusals[call])


def _raise(code: str) -> NoReturn:
    raise ClientError({"Error": {"Code": code, "Message": "as told"}}, "Fake")
