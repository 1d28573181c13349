"""Libcurl's connections: the transfers of an invocation, as tasks of the schedule."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from tests.simulation.dynamodb_model import DynamoDb
from tests.simulation.s3_model import S3
from tests.simulation.schedule import Schedule, Task

from bucketsum.events.object_events import ObjectCreated
from bucketsum.s3.curl_connections import Transfer
from bucketsum.s3.response_head import if_match
from bucketsum.s3.signed_requests import SignedGet

_PIECE_BYTES: Final = 8


class Requests:
    """The `SignedRequests` of the model: its URLs are the requests themselves."""

    def get_of(self, created: ObjectCreated) -> SignedGet:
        """See `SignedRequests.get_of`."""
        request: Any = {"Bucket": created.bucket, "Key": created.key}
        if created.version_id:
            request["VersionId"] = created.version_id
        if condition := if_match(created):
            request["IfMatch"] = condition
        return SignedGet(request, [])


class Signer:
    """A `Signer` that signs nothing."""

    url: Final = "https://model"

    def headers_of(self, *_: object) -> list[str]:
        """See `Signer.headers_of`."""
        return []


class ModelConnections:
    """The `Connections` of every environment; each invocation sees its own transfers."""

    def __init__(self, schedule: Schedule, s3: S3, dynamodb: DynamoDb) -> None:
        self._schedule, self._s3, self._dynamodb = schedule, s3, dynamodb
        self._ended: dict[Task, list[Transfer]] = defaultdict(list)
        self._running: dict[Task, list[Transfer]] = defaultdict(list)

    def start(self, url: Any, headers: Iterable[str], receive: Callable[[bytes], object]) -> Any:  # noqa: ANN401 - a request, a transfer
        """See `Connections.start`."""
        assert not list(headers)
        return self._start(partial(self._get, url, receive))

    def post(self, url: str, headers: Iterable[str], body: bytes, timeout_seconds: float) -> Any:  # noqa: ANN401 - a transfer
        """See `Connections.post`; a request that takes too long may have its effect later."""
        assert url.endswith("/")
        assert not list(headers)
        transfer = self._start(partial(self._put, json.loads(body)))
        owner = self._schedule.task
        self._schedule.after(timeout_seconds, lambda: self._end(owner, transfer, "timed out"))
        return transfer

    def _start(self, work: Callable[[Transfer], None]) -> Transfer:
        owner, handle = self._schedule.task, SimpleNamespace()
        transfer = Transfer(handle)
        self._running[owner].append(transfer)

        def run() -> None:
            failure = "killed"
            try:
                work(transfer)
                failure = ""
            except ClientError as error:
                self._refuse(transfer, error)
                failure = ""
            except BotoCoreError as error:
                failure = str(error)
            finally:
                self._end(owner, transfer, failure)

        self._schedule.start(owner.process, run)
        return transfer

    def _get(
        self, request: dict[str, Any], receive: Callable[[bytes], object], transfer: Transfer
    ) -> None:
        response = self._s3.get_object(**request)
        headers = response["ResponseMetadata"]["HTTPHeaders"]
        lines = ["HTTP/1.1 200 OK", *(f"{name}: {value}" for name, value in headers.items())]
        transfer.lines += [line.encode() for line in lines]
        received = 0
        while piece := response["Body"].read(_PIECE_BYTES):
            receive(piece)
            received += len(piece)
        if received < int(headers["content-length"]):
            raise BotoCoreError

    def _put(self, parameters: dict[str, Any], transfer: Transfer) -> None:
        is_update = "UpdateExpression" in parameters
        write = self._dynamodb.update_item if is_update else self._dynamodb.put_item
        write(**parameters)
        transfer.lines += [b"HTTP/1.1 200 OK"]
        transfer.pieces += [b"{}"]

    def _refuse(self, transfer: Transfer, error: ClientError) -> None:
        metadata: Any = error.response.get("ResponseMetadata", {})
        status = metadata.get("HTTPStatusCode", 400)
        transfer.lines += [f"HTTP/1.1 {status} refused".encode(), b"Content-Length: 0"]

    def _end(self, owner: Task, transfer: Transfer, failure: str) -> None:
        if transfer in self._running[owner]:
            self._running[owner].remove(transfer)
            self._ended[owner].append(transfer)
            transfer.ended, transfer.failure = True, failure
        self._schedule.wake(owner)

    def advance(self) -> list[Transfer]:
        """See `Connections.advance`."""
        return self._ended.pop(self._schedule.task, [])

    def wait(self) -> None:
        """See `Connections.wait`."""
        self._schedule.wait()

    def drop(self, transfer: Transfer) -> None:
        """See `Connections.drop`."""
        self._running[self._schedule.task].remove(transfer)

    def drop_all(self) -> None:
        """See `Connections.drop_all`; requests on their way still have their effect."""
        self._running.pop(self._schedule.task, None)
        self._ended.pop(self._schedule.task, None)
