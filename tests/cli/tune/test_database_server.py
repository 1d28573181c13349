"""Name of a server that speaks MongoDB's protocol, by what it answers."""

from collections.abc import Callable
from typing import Any

import pytest
from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError

from bucketsum_cli.tune.workloads.records.mongo_reader import server_name

OF_MONGODB: dict[str, Any] = {
    "version": "8.0.4",
    "gitVersion": "bc35ab4305d9920d9d0491c1c9ef9b72383d31f9",
}
OF_ANOTHER: dict[str, Any] = {"version": "5.0.0"}


def server(build: dict[str, Any], status: dict[str, Any] | PyMongoError) -> Callable[[str], Any]:
    """Answers to the two commands; an error is raised."""

    def command(name: str) -> dict[str, Any]:
        answer = {"buildInfo": build, "serverStatus": status}[name]
        if isinstance(answer, PyMongoError):
            raise answer
        return answer

    return command


@pytest.mark.parametrize("process", ["mongod", "mongos", "mongod.exe"])
def test_mongodb_is_named_so(process: str) -> None:
    """With its version; its process and its build both say so."""
    assert server_name(server(OF_MONGODB, {"process": process})) == "MongoDB 8.0.4"


@pytest.mark.parametrize(
    ("build", "process", "name"),
    [
        (OF_ANOTHER, "java", "mongo-java-server (protocol of MongoDB 5.0.0)"),
        (OF_MONGODB, "ferretdb", "ferretdb (protocol of MongoDB 8.0.4)"),
        (OF_ANOTHER, "mongod", "mongod (protocol of MongoDB 5.0.0)"),
        (OF_ANOTHER, "", "unnamed server (protocol of MongoDB 5.0.0)"),
    ],
)
def test_another_server_is_never_mongodb(build: dict[str, Any], process: str, name: str) -> None:
    """However much of MongoDB it claims: the version is that of the protocol."""
    assert server_name(server(build, {"process": process})) == name


@pytest.mark.parametrize("code", [13, 59])
def test_a_server_that_refuses_its_status_is_unnamed(code: int) -> None:
    """As to a user without the role for it; the measurement goes on."""
    refused = server(OF_MONGODB, OperationFailure("no", code))
    assert server_name(refused) == "unnamed server (protocol of MongoDB 8.0.4)"


def test_other_errors_end_the_sample() -> None:
    """A connection that breaks is not a refusal."""
    with pytest.raises(AutoReconnect):
        server_name(server(OF_MONGODB, AutoReconnect("gone")))
