"""The tree of errors, by who can put them right.

::

    BucketsumError
    ├── Retryable             time can: the message goes back to the queue
    │   ├── SourceInterrupted     the object's bytes stopped coming, resuming did not help
    │   ├── SourceUnavailable     S3 throttles, fails or cannot be reached
    │   ├── OutOfTime             this invocation ends before the object does
    │   ├── Deferred              nothing failed: another environment is to take the message
    │   └── ConcurrentUpdate      other sweeps kept changing the prober
    ├── NotRetryable          a person must look: the message goes to the dead-letter queue
    │   └── MalformedMessage      not a message that names objects
    ├── NotHashed             nobody needs to: a fact about the object, and an outcome of its own
    │   ├── ObjectGone            deleted before it was read
    │   ├── ObjectSuperseded      overwritten before it was read
    │   └── ObjectUnreadable      there, but not for us; the text says what to do
    ├── BadSettings           whoever deployed can: names variable, value and range
    └── BadSweep              whoever asked for the sweep can: names field, value and range
        └── MemoryRefused         the account does not allow this memory size
"""


class BucketsumError(Exception):
    """Anything that bucketsum raises on purpose."""


class Retryable(BucketsumError):
    """Trying the same thing again later may work."""


class SourceInterrupted(Retryable):
    """The object's bytes stopped coming and resuming did not help."""


class SourceUnavailable(Retryable):
    """S3 throttled the request, failed, or could not be reached."""


class OutOfTime(Retryable):
    """The invocation would have ended before the object did."""


class Deferred(Retryable):
    """Another environment is to take the message, so many seconds from now."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"left to another invocation, {seconds} s from now")
        self.seconds = seconds


class ConcurrentUpdate(Retryable):
    """The prober was changed by somebody else each time, between setting and publishing it."""


class NotRetryable(BucketsumError):
    """Trying again cannot work, and the message must not be lost."""


class MalformedMessage(NotRetryable):
    """The message is not a notification that names created objects."""


class NotHashed(BucketsumError):
    """S3 answered, and its answer is that there is nothing to hash."""


class ObjectGone(NotHashed):
    """The object or the version was deleted before it was read."""


class ObjectSuperseded(NotHashed):
    """The object was overwritten before it was read; its successor has an event of its own."""


class ObjectUnreadable(NotHashed):
    """The object exists but cannot be read; the message says what a person can do."""


class BadSettings(BucketsumError):
    """The environment does not hold the settings that the function was deployed to have."""


class BadSweep(BucketsumError):
    """The input of a sweep asks for what cannot be; the text names the field to change."""


class MemoryRefused(BadSweep):
    """Lambda does not let this account's function have this memory size."""
