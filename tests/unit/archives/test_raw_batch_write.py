"""Batches that skip botocore's validation have the same content."""

import json
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ParamValidationError
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_dynamodb.type_defs import WriteRequestTypeDef

from bucketsum.archives.member_rows import use_raw_batch_write


class Wire:
    """Records the requests of a client; answers each with the next of *answers*."""

    def __init__(self, *answers: int) -> None:
        self.bodies: list[Any] = []
        self._answers = list(answers)
        self.client: DynamoDBClient = boto3.client(
            "dynamodb",
            region_name="eu-west-1",
            aws_access_key_id="x",
            aws_secret_access_key="y",
        )
        events = self.client.meta.events
        events.register("before-send.dynamodb", self._send)  # type: ignore[arg-type]  # it may answer

    def _send(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        assert isinstance(request.body, bytes)
        assert int(request.headers["Content-Length"]) == len(request.body)
        self.bodies.append(json.loads(request.body))
        status = self._answers.pop(0) if self._answers else 200
        return AWSResponse(request.url, status, HTTPHeaders(), _Raw())


class _Raw:
    def stream(self, **_: object) -> list[bytes]:
        return [b"{}"]


def batch(rows: int) -> dict[str, list[WriteRequestTypeDef]]:
    """Rows and a removal, with what JSON has to escape."""
    name: dict[str, Any] = {"object": {"S": 'b/"\n\u202e\\'}}
    items = [name | {"entry": {"S": f"é{row}"}, "n": {"N": "1.5"}} for row in range(rows)]
    puts: list[WriteRequestTypeDef] = [{"PutRequest": {"Item": item}} for item in items]
    return {"table": [*puts, {"DeleteRequest": {"Key": name | {"entry": {"S": "old"}}}}]}


@pytest.mark.parametrize("rows", [0, 1, 24])
def test_request_is_what_botocore_would_send(rows: int) -> None:
    """Body for body the same as of a client left alone, which is the oracle."""
    alone, plain = Wire(), Wire()
    use_raw_batch_write(plain.client.meta)
    for wire in (alone, plain):
        wire.client.batch_write_item(RequestItems=batch(rows), ReturnConsumedCapacity="TOTAL")
    assert plain.bodies == alone.bodies
    assert len(plain.bodies[0]["RequestItems"]["table"]) == rows + 1


def test_what_is_sent_again_is_whole() -> None:
    """A batch that met a failing server goes out once more with all of its rows."""
    wire = Wire(500)
    use_raw_batch_write(wire.client.meta)
    use_raw_batch_write(wire.client.meta)
    wire.client.batch_write_item(RequestItems=batch(3))
    assert wire.bodies == [{"RequestItems": batch(3)}] * 2


def test_other_operations_are_left_alone() -> None:
    """Only batches of writes go past botocore."""
    alone, plain = Wire(), Wire()
    use_raw_batch_write(plain.client.meta)
    for wire in (alone, plain):
        wire.client.put_item(TableName="table", Item={"object": {"S": "x"}})
    assert plain.bodies == alone.bodies


def test_wrong_notation_is_still_noticed() -> None:
    """Rows are all made by the same code, and botocore checks one of each batch."""
    wire = Wire()
    use_raw_batch_write(wire.client.meta)
    with pytest.raises(ParamValidationError):
        wire.client.batch_write_item(
            RequestItems={"table": [{"PutRequest": {"Item": {"n": {"N": 1}}}}]}
        )
