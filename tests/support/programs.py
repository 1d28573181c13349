"""Programs that some tests compare with; each test that has them runs with those that are here."""

import shutil
from typing import Final

_COMPARED_WITH: Final = {
    "zip": "its archives", "unzip": "its verdicts", "7z": "its archives and verdicts",
    "bsdtar": "its archives", "jar": "its archives", "go": "its archives",
    "java": "DynamoDB Local, mongo-java-server, S3TransferManager", "mvn": "the same three",
}  # fmt: skip


def is_here(*programs: str) -> bool:
    """Whether all of *programs* are installed."""
    return all(map(shutil.which, programs))


def not_compared_with() -> list[str]:
    """Each program that is missing here, with the part of the tests that is not tried for it."""
    return [f"{name} ({what})" for name, what in _COMPARED_WITH.items() if not is_here(name)]
