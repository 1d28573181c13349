"""Data sets: the files first, the main object last, and all of them made once."""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NoReturn

import pytest
from botocore.exceptions import ClientError
from tests.integration.sweep.conftest import BUCKET, Aws

from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan import generated_objects
from bucketsum_lab.plan.generated_objects import GeneratedObjects
from bucketsum_lab.protocol.objects import DataFile, Generated, content, file_key
from bucketsum_lab.protocol.workload import DataSetWorkload
from bucketsum_lab.workloads.hash.workload import HashWorkload

KEY = "objects/30.jsonl"
FILES = 3


class SetWorkload(HashWorkload, DataSetWorkload):
    """A data set of three files of the same size."""

    def files(self, size_bytes: int) -> Iterator[DataFile]:
        """Equal files."""
        for number in range(FILES):
            yield DataFile(f"{number}.bin", size_bytes // 3, lambda: content(size_bytes // 3))

    def generate(self, size_bytes: int) -> Generated:  # noqa: ARG002 - as the protocol
        """A list of them."""
        return Generated(lambda: iter([b"the list"]))


def keys_in(aws: Aws) -> list[str]:
    """The keys in the bucket."""
    listed = aws.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return [entry["Key"] for entry in listed]


def test_files_lie_beside_the_main_object(aws: Aws) -> None:
    """Each has its SHA-1; the set has its planned size, and the SHA-1 of its main object."""
    known = GeneratedObjects(aws.s3, BUCKET).ensured(KEY, 30, SetWorkload())
    assert keys_in(aws) == [KEY, "objects/30/0.bin", "objects/30/1.bin", "objects/30/2.bin"]
    main = aws.s3.get_object(Bucket=BUCKET, Key=KEY)["Body"].read()
    assert known["sha1"] == hashlib.sha1(main, usedforsecurity=False).hexdigest()
    assert (main, known["size_bytes"]) == (b"the list", 30)
    file = aws.s3.get_object(Bucket=BUCKET, Key="objects/30/1.bin")
    sha1 = hashlib.sha1(file["Body"].read(), usedforsecurity=False).hexdigest()
    assert file["Metadata"] == {"sha1": sha1}


def test_a_set_is_made_once(aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only files that are missing, of another size, or too old are written."""
    put: list[str] = []
    original = aws.s3.put_object

    def spied(**arguments: Any) -> object:  # noqa: ANN401 - those of the module
        put.append(arguments["Key"])
        return original(**arguments)

    monkeypatch.setattr(aws.s3, "put_object", spied)
    objects = GeneratedObjects(aws.s3, BUCKET)
    first = objects.ensured(KEY, 30, SetWorkload())
    put.clear()
    assert objects.ensured(KEY, 30, SetWorkload()) == first
    assert not put
    aws.s3.delete_object(Bucket=BUCKET, Key="objects/30/1.bin")
    original(Bucket=BUCKET, Key="objects/30/2.bin", Body=b"short")
    assert objects.ensured(KEY, 30, SetWorkload()) == first
    assert sorted(put) == ["objects/30/1.bin", "objects/30/2.bin"]
    monkeypatch.setattr(generated_objects, "FRESH_FOR", timedelta(0))
    put.clear()
    objects.ensured(KEY, 30, SetWorkload())
    assert len(put) == FILES


def test_only_the_parts_of_a_sweep_are_made(aws: Aws) -> None:
    """Another sweep's parts are added to the same set."""
    objects = GeneratedObjects(aws.s3, BUCKET)
    objects.ensured(KEY, 30, SetWorkload(), ["0.bin"])
    assert keys_in(aws) == [KEY, "objects/30/0.bin"]
    objects.ensured(KEY, 30, SetWorkload(), ["2.bin"])
    assert keys_in(aws) == [KEY, "objects/30/0.bin", "objects/30/2.bin"]


def test_a_set_that_is_not_whole_has_no_main_object(
    aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next sweep makes it again."""
    put = aws.s3.put_object

    def refuse(**arguments: object) -> object:
        if arguments["Key"] == "objects/30/1.bin":
            raise ClientError({"Error": {"Code": "SlowDown"}}, "PutObject")
        return put(**arguments)  # type: ignore[arg-type] # those of the module

    monkeypatch.setattr(aws.s3, "put_object", refuse)
    with pytest.raises(ClientError, match="SlowDown"):
        GeneratedObjects(aws.s3, BUCKET).ensured(KEY, 30, SetWorkload())
    assert KEY not in keys_in(aws)


def test_a_large_file_is_sent_in_parts(
    aws: Aws, small_parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No thread holds more than a part."""

    def refuse(**_: object) -> NoReturn:
        raise AssertionError("one PUT")

    monkeypatch.setattr(aws.s3, "put_object", refuse)
    total = 3 * (small_parts + 1)
    GeneratedObjects(aws.s3, BUCKET).ensured(KEY, total, SetWorkload())
    head = aws.s3.head_object(Bucket=BUCKET, Key="objects/30/2.bin")
    assert head["ContentLength"] == total // 3
    assert head["ETag"].endswith('-2"')


def test_a_set_of_ones_own_names_its_size(aws: Aws) -> None:
    """Its main object tells nothing of it."""
    objects = GeneratedObjects(aws.s3, BUCKET)
    aws.s3.put_object(Bucket=BUCKET, Key="mine.jsonl", Body=b"list", Metadata={"sha1": "x"})
    with pytest.raises(BadSweep, match="data-set-bytes=''"):
        objects.named("mine.jsonl", SetWorkload())
    metadata = {"sha1": "x", "data-set-bytes": "99"}
    aws.s3.put_object(Bucket=BUCKET, Key="mine.jsonl", Body=b"list", Metadata=metadata)
    assert objects.named("mine.jsonl", SetWorkload())["size_bytes"] == 99
    assert objects.named("mine.jsonl", HashWorkload())["size_bytes"] == 4


@pytest.mark.parametrize(
    ("key", "beside"),
    [("objects/9.jsonl", "objects/9/a"), ("set", "set/a"), ("a.b/set", "a.b/set/a")],
)
def test_the_key_of_a_file(key: str, beside: str) -> None:
    """The main object's key without its extension, and the name."""
    assert file_key(key, "a") == beside
