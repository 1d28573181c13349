"""Metrics, from their registry, and log lines, from the calls that write them."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.tables.document import rows_of

from bucketsum.hashing.metric import METRICS
from bucketsum.queue.dead_letters import Fate

_ROOT: Final = Path(__file__).parents[2]
_FOLDERS: Final = ("layers/bucketsum/bucketsum", "layers/lab/bucketsum_lab/functions")
_LEVELS: Final = {"info": "INFO", "warning": "WARNING", "error": "ERROR", "exception": "ERROR"}
_FATE_MESSAGE: Final = "message %s"

_LINES: Final = {
    "object": "an event has its outcome. In a backfill, `hashed` and `unchanged` have no line, and "
    "with `LogObjects=problems` only problems have one",
    "slice": "a slice of a long object was read",
    "message retried": "a message failed and returns to the queue",
    "message dead-lettered": "a message went to the dead-letter queue",
    "message released": "a message is left to "
    "[another invocation](../explanation/what-is-recorded.md#batches)",
    "SQS refused; the message waits out the queue's own visibility time-out": "the message is "
    "received again after 90 minutes",
    "the counts of the backfill are not recorded; its rows are": "the counts of `backfill` are "
    "too low",
    "layer": "an execution environment started; a warning if wheels are missing in the layer",
    "planned": "the parts of a backfill, or the cells of a sweep, are known",
    "queued": "objects of a backfill were queued",
    "verification started": "`VerifySchedule` started the verification of its buckets",
    "verification overdue": "a bucket's verification failed, or none ended in the promised time",
    "rows counted": "rows of a run's buckets have their place in its balance",
    "report not delivered": "`ReportBucket` or `ReportTopicArn` refused; it is repeated",
    "buckets not listed": "CloudFormation did not answer: an attached bucket may be `ReportBucket`",
    "backfill failed": "a bucket's backfill or verification cannot go on; the run goes on",
    "verification left out": "another verification of the bucket is not over",
    "cleaned up": "the published versions of a sweep were deleted",
    "ended": "a sweep ended",
}


def metrics() -> str:
    """Return a row for each metric that the functions emit."""
    rows = ((f"`{metric.name}`", metric.unit, metric.meaning) for metric in METRICS)
    return rows_of(("metric", "unit", "meaning"), rows)


def log_lines() -> str:
    """Return a row for each log line: its message, its level and its fields.

    Raises:
        ValueError: A line has no meaning here, or is written no longer.
    """
    levels: defaultdict[str, dict[str, None]] = defaultdict(dict)
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for path in (path for folder in _FOLDERS for path in sorted((_ROOT / folder).rglob("*.py"))):
        tree = ast.parse(path.read_text("utf-8"))
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            for message in _messages(call):
                levels[message] |= dict.fromkeys(_levels(call))
                names[message] |= dict.fromkeys(_fields(call, tree))
    if differing := {*names} ^ {*_LINES}:
        raise ValueError(f"a log line of the code or its meanings alone: {sorted(differing)}")
    rows = (
        (f"`{text}`", ", ".join(levels[text]), meaning, ", ".join(f"`{n}`" for n in names[text]))
        for text, meaning in _LINES.items()
    )
    return rows_of(("message", "level", "when", "fields"), rows)


def _messages(call: ast.Call) -> Iterator[str]:
    match call.args:
        case [ast.Constant(str(text)), *_] if _levels(call):
            fates = (fate for fate in Fate if fate is not Fate.RELEASED)
            yield from [text % fate for fate in fates] if text == _FATE_MESSAGE else [text]


def _levels(call: ast.Call) -> list[str]:
    """Return the log levels if *call* is of a logger's method; else an empty list."""
    methods = (
        node
        for node in ast.walk(call.func)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("logger")
    )
    return [_LEVELS[method.attr] for method in methods if method.attr in _LEVELS]


def _fields(call: ast.Call, module: ast.Module) -> Iterator[str]:
    """Yield the names of the arguments; for ``**``, the keys of the dictionaries in *module*."""
    if ast.unparse(call.func).endswith(".exception"):
        yield "exception"
    for word in call.keywords:
        if word.arg:
            yield "exception" if word.arg == "exc_info" else word.arg
        else:
            dictionaries = (node for node in ast.walk(module) if isinstance(node, ast.Dict))
            keys = (key for node in dictionaries for key in node.keys)
            yield from (str(key.value) for key in keys if isinstance(key, ast.Constant))
