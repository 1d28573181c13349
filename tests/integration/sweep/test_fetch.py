"""The workload fetch through the functions' handlers: the data set, every schedule, refusals."""

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.sweep.conftest import BUCKET, Aws
from tests.support.clients import shared_client
from tests.support.moto_state import set_up

from bucketsum.errors import BadSettings, ObjectGone
from bucketsum_lab.plan.generated_objects import GeneratedObjects
from bucketsum_lab.protocol import page_cache
from bucketsum_lab.results.record_values import SAMPLE_VALUES
from bucketsum_lab.workloads.fetch import data_set
from bucketsum_lab.workloads.fetch.data_set import ITEMS
from bucketsum_lab.workloads.fetch.model import Schedule
from bucketsum_lab.workloads.fetch.workload import FetchWorkload

Invoke = Callable[[str, dict[str, Any]], Any]

KEY = "objects/fetch.json"
SET_BYTES = 4_500_000
MADE = {
    "action": "object", "workload": "fetch", "key": KEY, "size_bytes": SET_BYTES,
    "generated": True,
}  # fmt: skip


def probe(known: dict[str, Any], schedule: str, **own: str) -> dict[str, Any]:
    """The event that the state machine sends to the prober."""
    return {
        "cell_id": "m00512", "chunk_bytes": 65_536, "streams": 1,
        "variant": {"schedule": schedule, "work": "unzip-sha1", "workers": 2, **own},
        "concurrency": 1, "object": 0, **known, "bucket": BUCKET, "workload": "fetch",
    }  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def archives_are_small() -> Iterator[None]:
    """All have about the size of the smallest one of a sweep's data set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data_set, "SPREAD", 1.5)
        yield


def _make_data_set() -> None:
    GeneratedObjects(shared_client("s3"), BUCKET).ensured(KEY, SET_BYTES, FetchWorkload())


@pytest.fixture(autouse=True)
def data_set_is_there(aws: Aws) -> None:
    """The planner finds what it would make."""
    assert aws.bucket == BUCKET
    set_up(_make_data_set)


@pytest.mark.parametrize(
    "schedule", [schedule for schedule in Schedule if schedule is not Schedule.SHELL]
)
def test_every_schedule_is_measured_and_checked(
    aws: Aws, invoke: Invoke, schedule: Schedule
) -> None:
    """The archives lie beside the manifest; MB/s are of all of them."""
    known = invoke("planner", MADE)
    keys = [entry["Key"] for entry in aws.s3.list_objects_v2(Bucket=BUCKET)["Contents"]]
    assert len(keys) == ITEMS + 1
    answer = invoke("prober", probe(known, schedule))
    assert (answer["status"], answer["digest_ok"], answer["items"]) == ("ok", True, ITEMS)
    assert answer["size_bytes"] == SET_BYTES
    assert answer["mb_per_s"] > 0
    own = set(FetchWorkload.sample_names)
    assert set(answer) <= {*SAMPLE_VALUES, *own}
    assert (own <= set(answer)) == (schedule is not Schedule.STREAM)
    assert (answer["disk_peak_bytes"] == 0) == (schedule is Schedule.STREAM)


@pytest.fixture
def disk() -> None:
    """A folder for temporary files that is not in memory."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
        file.flush()
        try:
            page_cache.drop(Path(file.name))
        except BadSettings as error:
            pytest.skip(str(error))


@pytest.mark.usefixtures("disk")
@pytest.mark.parametrize("schedule", ["all-first", "queue:2"])
def test_a_cold_page_cache_has_no_archive_that_is_read(invoke: Invoke, schedule: str) -> None:
    """Each is written to the disk, and dropped before its work begins."""
    answer = invoke("prober", probe(invoke("planner", MADE), schedule, page_cache="cold"))
    assert (answer["status"], answer["cached_bytes"]) == ("ok", 0)
    answer = invoke("prober", probe(invoke("planner", MADE), schedule, page_cache="warm"))
    assert answer["cached_bytes"] == SET_BYTES


def test_a_disk_that_cannot_be_cold_says_why(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one in memory, whose files are in the page cache alone."""
    monkeypatch.setattr(page_cache, "cached_bytes", lambda path: path.stat().st_size)
    answer = invoke("prober", probe(invoke("planner", MADE), "queue:2", page_cache="cold"))
    assert (answer["status"], answer["error"]) == ("failed", "CannotRun")
    assert "stay in the page cache, as on a disk in memory" in answer["cause"]


def test_another_manifest_than_the_known_one_is_a_failed_sample(aws: Aws, invoke: Invoke) -> None:
    """Its results would prove nothing."""
    known = invoke("planner", MADE)
    manifest = json.loads(aws.s3.get_object(Bucket=BUCKET, Key=KEY)["Body"].read())
    aws.s3.put_object(Bucket=BUCKET, Key=KEY, Body=json.dumps(manifest))
    answer = invoke("prober", probe(known, "stream"))
    assert (answer["status"], answer["error"]) == ("failed", "WrongDigest")
    aws.s3.put_object(Bucket=BUCKET, Key=KEY, Body=b"{}")
    answer = invoke("prober", probe(known, "stream"))
    assert (answer["status"], answer["error"]) == ("failed", "BadManifest")
    assert KEY in answer["cause"]


def test_an_archive_that_is_gone_ends_the_sample(aws: Aws, invoke: Invoke) -> None:
    """With the reader's own error, as the hasher would have it."""
    known = invoke("planner", MADE)
    aws.s3.delete_object(Bucket=BUCKET, Key="objects/fetch/07.zip")
    with pytest.raises(ObjectGone):
        invoke("prober", probe(known, "queue:2"))
