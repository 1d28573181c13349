"""A server that speaks MongoDB's protocol: mongod if it is on PATH, else mongo-java-server."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pymongo
from bench.maven import fetched
from pymongo.errors import PyMongoError
from tests.support.server_programs import SHORT_LIVED, running
from tests.support.servers import reserved_port

COORDINATES: Final = "de.bwaldvogel:mongo-java-server:1.47.0"
MEMORY_SERVER: Final = Path(__file__).with_name("MemoryMongoServer.java")


@contextmanager
def mongodb_server(log: Path) -> Iterator[str]:
    """Run it on a free port; yields its address.

    Raises:
        ProgramUnavailableError: It cannot be fetched, or did not start.
    """
    with reserved_port() as port:
        address = f"mongodb://127.0.0.1:{port}"
        client: pymongo.MongoClient[Any] = pymongo.MongoClient(
            address, serverSelectionTimeoutMS=200
        )
        with client, running(_command(port, log.parent), log, lambda: _answers(client)):
            yield address


def _command(port: int, folder: Path) -> list[str]:
    if mongod := shutil.which("mongod"):
        return [mongod, "--bind_ip", "127.0.0.1", "--port", str(port), "--dbpath", str(folder)]
    libraries = fetched("mongo-java-server", COORDINATES)
    return ["java", *SHORT_LIVED, "-cp", f"{libraries}/*", str(MEMORY_SERVER), str(port)]


def _answers(client: pymongo.MongoClient[Any]) -> bool:
    try:
        client.admin.command("ping")
    except PyMongoError:
        return False
    return True
