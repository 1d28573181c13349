"""DynamoDB Local, an oracle made by AWS: fetched once, started for a session."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import boto3
from bench.maven import fetched
from botocore.config import Config
from botocore.exceptions import BotoCoreError
from mypy_boto3_dynamodb import DynamoDBClient
from tests.support.server_programs import SHORT_LIVED, running
from tests.support.servers import reserved_port

COORDINATES: Final = "com.amazonaws:DynamoDBLocal:2.6.1"
LOOPBACK_SERVER: Final = Path(__file__).with_name("LoopbackServer.java")


@contextmanager
def dynamodb_local(log: Path) -> Iterator[str]:
    """Run it in memory; yields its endpoint.

    Raises:
        ProgramUnavailableError: It cannot be fetched, or did not start.
    """
    libraries = fetched("dynamodb-local", COORDINATES)
    with reserved_port() as port:
        endpoint = f"http://127.0.0.1:{port}"
        command = [
            "java", *SHORT_LIVED, f"-Dsqlite4java.library.path={libraries}",
            "-cp", f"{libraries}/*", str(LOOPBACK_SERVER),
            "-inMemory", "-disableTelemetry", "-port", str(port),
        ]  # fmt: skip
        client = boto3.client(
            "dynamodb",
            endpoint_url=endpoint,
            config=Config(connect_timeout=2, read_timeout=10, retries={"total_max_attempts": 1}),
        )
        with running(command, log, lambda: _answers(client), {"DDB_LOCAL_TELEMETRY": "0"}):
            yield endpoint


def _answers(client: DynamoDBClient) -> bool:
    try:
        client.list_tables()
    except BotoCoreError:
        return False
    return True
