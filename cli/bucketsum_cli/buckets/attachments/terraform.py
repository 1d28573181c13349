"""The notification of an attached bucket, in the words of Terraform."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bucketsum_cli.buckets.served_buckets import Via

if TYPE_CHECKING:
    from bucketsum_cli.buckets.attachments.notifications import KeyFilter


def block_of(via: Via, queue_arn: str, keys: KeyFilter, events: Sequence[str]) -> Iterator[str]:
    """Yield lines for the bucket's `aws_s3_bucket_notification`, which is all of its configuration.

    Without them, the next `terraform apply` of the bucket's owner removes the notification.
    """
    if via is Via.EVENTBRIDGE:
        yield "eventbridge = true"
    if via is not Via.S3:
        return
    yield "queue {"
    yield f"  queue_arn     = {json.dumps(queue_arn)}"
    yield f"  events        = {json.dumps(list(events))}"
    for name, text in (("prefix", keys.prefix), ("suffix", keys.suffix)):
        if text:
            yield f"  filter_{name} = {json.dumps(text, ensure_ascii=False)}"
    yield "}"
