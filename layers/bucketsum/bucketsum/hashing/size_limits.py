"""Sizes from which an object is looked up before it is read, or read in slices."""

from __future__ import annotations

from typing import Final

from bucketsum.events.object_events import ObjectCreated, ObjectRestored
from bucketsum.invocation.deadline import Deadline
from bucketsum.s3.read_plan import SPLIT_FROM_BYTES
from bucketsum.settings import Settings

LOOK_UP_FROM_BYTES: Final = SPLIT_FROM_BYTES
"""Objects of this size or more are looked up before they are read.

A look-up is a request of some 5 ms before every object, and S3 delivers few events twice. Below
this size a needless second read costs about as much as the look-ups that would have avoided it.
"""


def is_long(
    created: ObjectCreated | ObjectRestored, settings: Settings, deadline: Deadline
) -> bool:
    """Whether the object of *created* is hashed in slices from the beginning.

    Smaller objects are sure to be read in one invocation, however slow its network is.
    """
    return (
        settings.long_objects_queue_url is not None
        and created.etag is not None  # without it, slices could be of different objects
        and deadline.invocation_is_too_short(created.size_bytes, settings.memory_mb)
    )
