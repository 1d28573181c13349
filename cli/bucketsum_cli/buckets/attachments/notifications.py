"""A bucket's notification configuration: its entries, and changes by others at the same time.

S3 replaces the whole configuration on each write and has no conditional write. So it is read
immediately before each write and read back after it; a change by somebody else in between leads
to another attempt on the new configuration.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import unquote_plus

from botocore.exceptions import ClientError

from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_EVENTBRIDGE: Final = "EventBridgeConfiguration"
_TARGETS: Final[Mapping[str, tuple[str, str]]] = {
    "TopicConfigurations": ("topic", "TopicArn"),
    "QueueConfigurations": ("queue", "QueueArn"),
    "LambdaFunctionConfigurations": ("function", "LambdaFunctionArn"),
}

_ATTEMPTS: Final = 5
_READS: Final = 6
_PAUSE_SECONDS: Final = 1.0
"""A bucket's configuration is eventually consistent: it is read again after this time."""

_UNREACHED: Final = "Unable to validate the following destination configurations"
"""S3's message if it cannot send its test message; the code alone also means other errors."""
_ADVICE: Final = (
    "; it tests all targets, those of others too. If the target is the arrivals queue, deploy the "
    "stack again"
)


@dataclass(frozen=True, slots=True)
class KeyFilter:
    """The keys that a notification is limited to, not encoded; empty texts limit nothing."""

    prefix: str = ""
    suffix: str = ""

    def overlaps(self, other: KeyFilter) -> bool:
        """Whether a key could match both."""
        prefixes = sorted((self.prefix, other.prefix), key=len)
        suffixes = sorted((self.suffix, other.suffix), key=len)
        return prefixes[1].startswith(prefixes[0]) and suffixes[1].endswith(suffixes[0])

    def matches(self, key: str) -> bool:
        """Whether *key* is one of them."""
        return key.startswith(self.prefix) and key.endswith(self.suffix)

    def __str__(self) -> str:
        """The keys in words."""
        parts = [
            f"{name} {value}"
            for name, value in (("prefix", self.prefix), ("suffix", self.suffix))
            if value
        ]
        return ", ".join(parts) or "all keys"


@dataclass(frozen=True, slots=True)
class Notification:
    """An entry of the configuration.

    Attributes:
        kind: ``topic``, ``queue`` or ``function``.
        target: Its ARN.
        events: Event types, sorted.
        keys: The keys that it is limited to.
    """

    kind: str
    target: str
    events: tuple[str, ...]
    keys: KeyFilter
    entry_id: str

    def __str__(self) -> str:
        """The entry in one line."""
        return f"{self.kind} {self.target}: {', '.join(self.events)}, {self.keys}"


@dataclass(frozen=True, slots=True)
class NotificationDifference:
    """Effect of a change on a configuration, a line for each notification."""

    added: Annotated[tuple[str, ...], "Notifications that are new, one text for each."]
    removed: Annotated[tuple[str, ...], "Notifications that go."]
    kept: Annotated[tuple[str, ...], "Notifications that stay."]


def configuration_of(s3: S3Client, bucket: str) -> dict[str, Any]:
    """Return the notification configuration of *bucket* as S3 returns it."""
    configuration: Any = s3.get_bucket_notification_configuration(Bucket=bucket)
    configuration.pop("ResponseMetadata", None)
    return dict(configuration)


def notifications_in(configuration: Mapping[str, Any]) -> Iterator[Notification]:
    """Yield the entries of *configuration*; EventBridge does not count as an entry."""
    for field, (kind, target) in _TARGETS.items():
        for entry in configuration.get(field, ()):
            events = tuple(sorted(entry["Events"]))
            yield Notification(kind, entry[target], events, keys_of(entry), entry.get("Id", ""))


def keys_of(entry: Mapping[str, Any]) -> KeyFilter:
    """Return the keys that *entry* of a configuration is limited to."""
    rules = entry.get("Filter", {}).get("Key", {}).get("FilterRules", ())
    values = {rule["Name"].lower(): unquote_plus(rule["Value"]) for rule in rules}
    return KeyFilter(values.get("prefix", ""), values.get("suffix", ""))


def sends_to_eventbridge(configuration: Mapping[str, Any]) -> bool:
    """Whether the bucket sends its events to EventBridge."""
    return _EVENTBRIDGE in configuration


def is_created(event: str) -> bool:
    """Whether the type of an event is that of created objects."""
    return event.startswith("s3:ObjectCreated:")


def with_eventbridge(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return *configuration* with all events sent to EventBridge."""
    return {**configuration, _EVENTBRIDGE: {}}


def without_eventbridge(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return *configuration* without EventBridge."""
    return {field: value for field, value in configuration.items() if field != _EVENTBRIDGE}


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> NotificationDifference:
    """Compare the notifications of two configurations."""
    old, new = _lines(before), _lines(after)
    return NotificationDifference(
        added=tuple(line for line in new if line not in old),
        removed=tuple(line for line in old if line not in new),
        kept=tuple(line for line in old if line in new),
    )


def _lines(configuration: Mapping[str, Any]) -> list[str]:
    lines = [str(notification) for notification in notifications_in(configuration)]
    return [*lines, "EventBridge: all events"] if sends_to_eventbridge(configuration) else lines


def change_notifications(
    s3: S3Client,
    bucket: str,
    change: Callable[[Mapping[str, Any]], dict[str, Any]],
    *,
    validate: bool,
) -> bool:
    """Apply *change* to the configuration of *bucket*; False if there was nothing to change.

    With *validate*, S3 sends a test message to each target; without, a broken target of somebody
    else cannot stop the change.

    Raises:
        CannotDoError: S3 refuses a target, or somebody else changes the configuration all the
            time.
    """
    written = False
    for _ in range(_ATTEMPTS):
        before = configuration_of(s3, bucket)
        wanted = change(before)
        if _canonical(wanted) == _canonical(before):
            return written
        put_configuration(s3, bucket, wanted, validate=validate)
        written = True
        if _is_read_back(s3, bucket, before, wanted):
            return True
    raise CannotDoError(
        f"the notifications of {bucket} are being changed by somebody else at the same time; "
        "run the command again when that has ended"
    )


def put_configuration(
    s3: S3Client,
    bucket: str,
    configuration: Any,  # noqa: ANN401 - S3's document
    *,
    validate: bool,
) -> None:
    """Replace the notification configuration of *bucket*; with *validate*, S3 tests the targets.

    Raises:
        CannotDoError: S3 refuses the configuration, or cannot send its test message to a target.
    """
    try:
        s3.put_bucket_notification_configuration(
            Bucket=bucket,
            NotificationConfiguration=configuration,
            SkipDestinationValidation=not validate,
        )
    except ClientError as error:
        details = error.response["Error"]
        if details["Code"] != "InvalidArgument":
            raise
        reason = details.get("Message", "")
        advice = _ADVICE * reason.startswith(_UNREACHED)
        raise CannotDoError(
            f"S3 refuses the notifications of {bucket}: {reason}{advice}"
        ) from error


def _is_read_back(
    s3: S3Client, bucket: str, before: Mapping[str, Any], wanted: Mapping[str, Any]
) -> bool:
    for _ in range(_READS):
        read = _canonical(configuration_of(s3, bucket))
        if read != _canonical(before):
            return read == _canonical(wanted)
        time.sleep(_PAUSE_SECONDS)
    return False


def _canonical(configuration: Mapping[str, Any]) -> tuple[list[str], bool]:
    """A value that is equal for configurations that differ only in order."""
    return sorted(map(repr, notifications_in(configuration))), sends_to_eventbridge(configuration)
