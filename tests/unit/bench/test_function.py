"""function: the messages and the summaries."""

from pathlib import Path

from bench.function import small_objects
from bench.function.command import VARIANTS, summaries
from bench.function.runs import FunctionSample
from bench.sandbox.objects import BUCKET, StoredObject
from tests.support.events import created_in


def test_events_name_every_object_once(tmp_path: Path) -> None:
    """In batches of the size that was asked for, as S3 and Lambda write them."""
    known = [StoredObject(f"{number}", number, "") for number in range(7)]
    (tmp_path / BUCKET).mkdir()
    for stored in known:
        (tmp_path / BUCKET / stored.key).write_bytes(bytes(stored.size_bytes))
    events = list(small_objects.events(tmp_path, known, 3))
    assert [len(event["Records"]) for event in events] == [3, 3, 1]
    bodies = [message["body"] for event in events for message in event["Records"]]
    created = [event for body in bodies for event in created_in(body)]
    assert [(event.key, event.size_bytes) for event in created] == [
        (stored.key, stored.size_bytes) for stored in known
    ]
    assert all(event.etag for event in created)


def test_medians_are_of_objects() -> None:
    """Rates and CPU time are per object, of a hundred in each run."""
    runs = [(4.0, 0.5), (2.0, 0.4), (5.0, 0.9)]
    samples = [
        FunctionSample("hasher, batches of 10", wall, cpu, 76_000_000, 100, 100, [])
        for wall, cpu in runs
    ]
    [line] = summaries(samples)
    assert (line["objects_per_s"], line["from"], line["to"]) == (25.0, 20.0, 50.0)
    assert line["cpu_ms_per_object"] == 5.0
    assert (line["gets"], line["writes"], line["peak_mb"]) == (100, 100, 76.0)


def test_variants_have_the_names_that_cost_knows() -> None:
    """`bench cost` finds the hasher's variants by name."""
    assert [variant.name for variant in VARIANTS] == [
        "baseline, batches of 10",
        "hasher, batches of 1",
        "hasher, batches of 10",
        "hasher, batches of 10, CompareChecksums=no",
        "hasher, batches of 100",
    ]
