"""Hierarchy of errors, by who can fix the problem.

::

    BucketsumError
    ├── Retryable             a retry: the message returns to the queue
    │   ├── SourceInterrupted     other bytes came than the object's, or they stopped coming
    │   │   └── Unconfirmed           a reading has what the next one must confirm
    │   ├── SourceUnavailable     S3 throttles, fails or cannot be reached
    │   ├── OutOfTime             the invocation ends before the object is read
    │   ├── Released              no failure: another execution environment gets the message
    │   ├── RowContended          others kept changing a row of the digests table
    │   │   └── Unordered             of two objects of a key, only S3 knows the newer
    │   ├── TableBusy             DynamoDB took none of the rest of a batch
    │   └── QueueRefused          SQS did not take a message of a backfill
    ├── NotRetryable          a person: the message goes to the dead-letter queue
    │   ├── MalformedMessage      not a notification that names objects
    │   ├── TooManySlices         a long object's slices are smaller than they can be: a loop
    │   └── DamagedItem           another program changed an item of a table
    │       ├── DamagedProgress       a long object's saved state does not fit together
    │       └── DamagedRow            a row of the digests table was changed by another program
    ├── NotHashed             nobody needs to: a fact about the object, and an outcome
    │   ├── ObjectGone            deleted before it was read
    │   ├── ObjectSuperseded      overwritten before it was read
    │   └── ObjectUnreadable      it exists, but cannot be read; the text says what to do
    │       ├── ObjectArchived        S3 sends it only after a restore
    │       └── LibraryMissing        a long object needs an OpenSSL that this runtime lacks
    ├── BadSettings           the deployer: names variable, value and range
    └── BadBackfill           who started the backfill: the text says why it cannot run
        ├── BadInventory          its inventory cannot be used
        └── UnknownBackfill       the table has no such backfill
"""


class BucketsumError(Exception):
    """Base class of all errors that bucketsum raises."""


class Retryable(BucketsumError):
    """Trying the same thing again later may work."""


class SourceInterrupted(Retryable):
    """Other bytes came than the object's, or they stopped coming; trying again did not help."""


class Unconfirmed(SourceInterrupted):
    """A reading has a *value* that nothing counts until the next reading has it too."""

    def __init__(self, value: str, before: str | None = None) -> None:
        """*before* is the value of the reading before, if that was not the same."""
        super().__init__(f"two readings have {before} and {value}" if before else value)
        self.value = value

    def failed(self, error: Exception) -> SourceInterrupted:
        """The error if the next reading has failed with *error*."""
        return SourceInterrupted(f"a reading has {self.value}, the next one failed: {error}")


class SourceUnavailable(Retryable):
    """S3 throttled the request, failed, or could not be reached."""


class OutOfTime(Retryable):
    """The invocation would have ended before the object was read."""


class Released(Retryable):
    """Another execution environment gets the message, *seconds* from now."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"released for another invocation, {seconds} s from now")
        self.seconds = seconds


class RowContended(Retryable):
    """The row changed during each attempt, or no conditional write matches its state."""


class Unordered(RowContended):
    """An object was read, and the row is of another, of which one was listed: without order."""


class TableBusy(Retryable):
    """DynamoDB wrote a part of a batch; many attempts did not write the rest."""


class QueueRefused(Retryable):
    """SQS did not take a message, in several attempts."""


class NotRetryable(BucketsumError):
    """Trying again cannot work, and the message must not be lost."""


class MalformedMessage(NotRetryable):
    """The message is not a notification that names created objects."""


class TooManySlices(NotRetryable):
    """A long object has had more slices than its size allows."""


class DamagedItem(NotRetryable):
    """An item of a table was changed by another program; the text names it and says how."""

    def __init__(self, text: str, name: str = "") -> None:
        """*name* is the damaged object, backfill or run, if it is known."""
        super().__init__(text)
        self.name = name


class DamagedProgress(DamagedItem):
    """The saved state of a long object; its name is ``bucket/key``."""

    def __init__(self, damage: str, name: str = "") -> None:
        """Add the advice to *damage*."""
        advice = "delete it, then redrive the message: the object begins again"
        super().__init__(f"{damage}; {advice}", name)


class DamagedRow(DamagedItem):
    """A row of the digests table, or a tombstone."""


class NotHashed(BucketsumError):
    """S3 responded that there is nothing to hash."""


class ObjectGone(NotHashed):
    """The object or the version was deleted before it was read."""


class ObjectSuperseded(NotHashed):
    """The object was overwritten before it was read; its successor has an event of its own."""


class ObjectUnreadable(NotHashed):
    """The object exists but cannot be read; the message says what a person can do."""


class ObjectArchived(ObjectUnreadable):
    """S3 sends the object only after a restore."""

    def __init__(self, storage_class: str | None, detail: str = "") -> None:
        """*storage_class* is the object's, if it is known; *detail* is S3's text."""
        super().__init__(f"archived; restore it, then it is hashed{detail and f' ({detail})'}")
        self.storage_class = storage_class


class LibraryMissing(ObjectUnreadable):
    """No OpenSSL library was found whose digest state can be saved; the text says why."""


class BadSettings(BucketsumError):
    """An environment variable is missing or invalid; the text names it."""


class BadBackfill(BucketsumError):
    """A backfill cannot run; the text says why."""


class BadInventory(BadBackfill):
    """The manifest of an S3 inventory cannot be used; the text says why."""


class UnknownBackfill(BadBackfill):
    """The table of backfills has no backfill of this id."""
