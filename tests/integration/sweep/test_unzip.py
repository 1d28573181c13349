"""The workload unzip through the functions' handlers: archives, ways to read them, checks."""

import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from tests.integration.sweep.conftest import BUCKET, Aws
from tests.support.sha1 import sha1_of
from tests.support.zip_maker import zip_of

from bucketsum.archives import decoders
from bucketsum.table.stored_fields import names_of
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.results.record_values import SAMPLE_VALUES
from bucketsum_lab.workloads.unzip.generated_archive import FILES, FOLDERS, members_sha1
from bucketsum_lab.workloads.unzip.workload import ARCHIVE_BYTES_MIN, UnzipStatistics, UnzipWorkload

Invoke = Callable[[str, dict[str, Any]], Any]

MADE = {
    "action": "object", "workload": "unzip", "key": "objects/1.zip",
    "size_bytes": ARCHIVE_BYTES_MIN, "generated": True,
}  # fmt: skip
SWEEP = {
    "workload": "unzip", "memory_mb": [512], "chunk_bytes": [65_536],
    "mode": ["stream", "tmp"], "runs": 1, "warm_up": False,
}  # fmt: skip


def probe(known: dict[str, Any], mode: str = "stream", inflate: str = "isal") -> dict[str, Any]:
    """The event that the state machine sends to the prober: a cell and its object."""
    return {
        "cell_id": "m00512", "chunk_bytes": 65_536, "streams": 1,
        "variant": {"mode": mode, "inflate": inflate}, "concurrency": 1, "object": 0, **known,
        "bucket": BUCKET, "workload": "unzip",
    }  # fmt: skip


def test_an_archive_is_made_once_and_known(aws: Aws, invoke: Invoke) -> None:
    """Its SHA-1 and what is in it stand in its metadata, from which the next sweep reads them."""
    first = invoke("planner", MADE)
    body = aws.s3.get_object(Bucket=BUCKET, Key="objects/1.zip")
    assert first["sha1"] == sha1_of(body["Body"].read())
    assert body["ContentLength"] == first["size_bytes"] == ARCHIVE_BYTES_MIN
    assert (first["contents"]["members"], first["contents"]["directories"]) == (FILES, FOLDERS)
    assert invoke("planner", MADE) == first
    again = aws.s3.head_object(Bucket=BUCKET, Key="objects/1.zip")
    assert again["LastModified"] == body["LastModified"]


@pytest.mark.parametrize("mode", ["stream", "tmp", "discard", "null"])
@pytest.mark.parametrize("inflate", ["isal", "zlib"])
def test_every_way_is_measured_and_checked(invoke: Invoke, mode: str, inflate: str) -> None:
    """The answer says which way it was, what was in the archive, and that all of it is right."""
    known = invoke("planner", MADE)
    answer = invoke("prober", probe(known, mode, inflate))
    assert (answer["status"], answer["digest_ok"]) == ("ok", True)
    own = set(UnzipWorkload.sample_names)
    assert own <= set(answer) <= {*SAMPLE_VALUES, *own}
    assert own >= set(names_of(UnzipStatistics))
    assert (answer["mode"], answer["inflate"]) == (mode, inflate)
    assert (answer["members"], answer["directories"]) == (FILES, FOLDERS)
    assert answer["member_bytes"] == known["contents"]["member_bytes"]
    assert answer["size_bytes"] == ARCHIVE_BYTES_MIN
    assert answer["seconds"] > 0


@pytest.mark.parametrize(("threads", "started"), [("auto", 2), (1, 1), (4, 4)])
def test_members_are_read_by_so_many_threads(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, threads: int | str, started: int
) -> None:
    """By default as many as the hasher starts with this memory."""
    pools: list[int] = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, threads: int) -> None:
            pools.append(threads)
            super().__init__(threads)

    monkeypatch.setattr("bucketsum.archives.extract.ThreadPoolExecutor", Pool)
    event = probe(invoke("planner", MADE), "tmp")
    event["variant"]["archive_threads"] = threads
    assert (invoke("prober", event)["status"], pools) == ("ok", [started])


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("members", 1), ("directories", 1), ("member_bytes", 1), ("members_sha1", "0" * 40)],
)
def test_members_that_are_not_those_make_a_failed_sample(
    invoke: Invoke, name: str, wrong: object
) -> None:
    """The cause gives the found and the expected value."""
    known = invoke("planner", MADE)
    known["contents"] |= {name: wrong}
    answer = invoke("prober", probe(known))
    assert (answer["status"], answer["error"]) == ("failed", "WrongMembers")
    assert answer["cause"].startswith(f"{name} ")
    assert answer["cause"].endswith(f"instead of {wrong}")


def test_null_reads_every_member_and_hashes_none(aws: Aws, invoke: Invoke) -> None:
    """A damaged member is found by its CRC-32, and a truncated archive has a reason."""
    known = invoke("planner", MADE)
    content = aws.s3.get_object(Bucket=BUCKET, Key="objects/1.zip")["Body"].read()
    assert invoke("prober", probe(known, "null"))["member_bytes"] > ARCHIVE_BYTES_MIN
    middle = len(content) // 2
    for damaged, cause in (
        (content[:middle] + bytes(64) + content[middle + 64 :], "not readable|damaged"),
        (content[:middle], "truncated"),
    ):
        aws.s3.put_object(Bucket=BUCKET, Key="damaged.zip", Body=damaged)
        event = known | {"key": "damaged.zip", "size_bytes": len(damaged), "contents": None}
        event["sha1"] = sha1_of(damaged)
        answer = invoke("prober", probe(event, "null"))
        assert (answer["status"], answer["error"], answer["digest_ok"]) == (
            "failed", "NotUnzipped", True,
        )  # fmt: skip
        assert re.search(cause, answer["cause"])


def test_a_disk_that_is_too_small_is_a_result_with_the_number_to_raise(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prober's own disk is what counts when it is reached; nothing crashes."""
    known = invoke("planner", MADE)
    monkeypatch.setattr(
        shutil, "disk_usage", lambda _: SimpleNamespace(used=0, free=ARCHIVE_BYTES_MIN)
    )
    answer = invoke("prober", probe(known, "tmp"))
    assert (answer["status"], answer["error"], answer["digest_ok"]) == (
        "failed", "NotUnzipped", True,
    )  # fmt: skip
    assert "raise EphemeralStorageSize to " in answer["cause"]


def test_an_engine_that_the_layer_has_not_got_is_a_failed_sample(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The execution environment lives on: what comes after it is not cold for its sake."""
    known = invoke("planner", MADE)
    monkeypatch.setattr(decoders, "ENGINES", ("zlib",))
    answer = invoke("prober", probe(known, inflate="isal"))
    assert (answer["status"], answer["error"]) == ("failed", "NotUnzipped")
    assert answer["cause"] == "inflate is 'isal'; this layer has zlib"


@pytest.mark.parametrize(("mode", "inflate"), [("disk", "isal"), ("stream", "gzip")])
def test_an_unknown_variant_is_a_failed_sample(invoke: Invoke, mode: str, inflate: str) -> None:
    """The cause names the modes or the engines."""
    answer = invoke("prober", probe(invoke("planner", MADE), mode, inflate))
    assert (answer["status"], answer["error"]) == ("failed", "NotUnzipped")
    assert re.search(r"stream, tmp, discard, null|isal, zlib", answer["cause"])


def test_an_archive_of_ones_own_is_checked_by_what_its_metadata_say(
    aws: Aws, invoke: Invoke
) -> None:
    """The SHA-1 is required; members are checked if the metadata describe them."""
    body = zip_of({"folder/one": b"1", "folder/two": b"22"})
    metadata = {
        "sha1": sha1_of(body), "members": "2", "directories": "1", "member-bytes": "3",
        "members-sha1": members_sha1([sha1_of(b"1"), sha1_of(b"22")]),
    }  # fmt: skip
    named = {**MADE, "key": "own", "generated": False}
    for given in (metadata, {"sha1": sha1_of(body)}):
        aws.s3.put_object(Bucket=BUCKET, Key="own", Body=body, Metadata=given)
        known = invoke("planner", named)
        assert len(known["contents"] or ()) == len(given) - 1
        assert invoke("prober", probe(known))["status"] == "ok"
    aws.s3.put_object(Bucket=BUCKET, Key="own", Body=body, Metadata=metadata | {"members": "3"})
    assert invoke("prober", probe(invoke("planner", named)))["error"] == "WrongMembers"


def test_metadata_that_are_no_numbers_are_refused(aws: Aws, invoke: Invoke) -> None:
    """Before anything is measured, with the object's name."""
    metadata = {"sha1": "0" * 40, "members": "many"}
    aws.s3.put_object(Bucket=BUCKET, Key="own", Body=b"x", Metadata=metadata)
    with pytest.raises(BadSweep, match="'own' has members='many' in its metadata"):
        invoke("planner", {**MADE, "key": "own", "generated": False})


def test_a_plan_is_recorded_with_the_disk_that_is_paid_for(
    aws: Aws, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prober's where a mode uses it; cells for which it is too small have the reason."""
    monkeypatch.setenv("PROBER_STORAGE_MB", "600")
    for size_bytes, refused in ((100_000_000, False), (300_000_000, True)):
        event = {
            "action": "plan", "run_id": str(size_bytes),
            "execution_arn": "arn:aws:states:us-east-1:111122223333:execution:sweep:abcdef",
            "started_at": "2026-11-21T04:15:00.000Z",
            "input": {**SWEEP, "object_bytes": [size_bytes]},
        }  # fmt: skip
        invoke("planner", event)
        rows = {cell.setting.own["mode"]: cell for cell in aws.measurements.cells(str(size_bytes))}
        assert {mode: row.storage_mb for mode, row in rows.items()} == {"stream": 512, "tmp": 600}
        assert rows["stream"].cause is None
        assert ("EphemeralStorageSize=" in (rows["tmp"].cause or "")) == refused
