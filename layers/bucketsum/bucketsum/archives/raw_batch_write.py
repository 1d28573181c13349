"""Batches of rows go out as the JSON that they already are.

botocore walks through every attribute of every row twice, to check it and to copy it: 35 of the
60 µs of processor time that a row would take (``python -m bench members``), and rows are made
in DynamoDB's own notation anyway. So botocore is shown one row of each batch, which it checks; the
body that it signs, sends and sends again has all of them. Both events are among boto3's public
ones (its extensibility guide).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from botocore.client import ClientMeta

_OPERATION: Final = "dynamodb.BatchWriteItem"
_ALL: Final = "bucketsum_request_items"


def use_raw_batch_write(client: ClientMeta) -> None:
    """Let every ``batch_write_item`` of a client do so; once or more often is the same.

    Its requests must not hold binary values, which JSON has no place for. Nothing changes where
    a botocore to come speaks something else than JSON to DynamoDB.
    """
    model = client.service_model
    if getattr(model, "resolved_protocol", model.protocol) != "json":  # older botocores know one
        return
    events = client.events
    events.register(f"provide-client-params.{_OPERATION}", _show_one, f"{_ALL}-shown")
    events.register(f"before-call.{_OPERATION}", _put_all, f"{_ALL}-put")


def _show_one(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    context[_ALL] = params["RequestItems"]
    params["RequestItems"] = {table: ones[:1] for table, ones in context[_ALL].items()}


def _put_all(params: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    body = json.loads(params["body"]) | {"RequestItems": context[_ALL]}
    params["body"] = json.dumps(body, separators=(",", ":")).encode()
