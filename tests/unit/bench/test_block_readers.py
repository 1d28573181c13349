"""Readers of the block file in other languages: the same file, the same checks."""

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from bench.workloads.languages import records
from bench.workloads.languages.records import readers

from bucketsum_lab.workloads.records.block_file import BlockLayout, write_block_file
from bucketsum_lab.workloads.records.data_set import DataSet, WrongRecord, id_of, queries

Read = Callable[[str, Sequence[int]], tuple[str, str]]

DATA_SET = DataSet(50_000)


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[str]]:
    """The readers by language, compiled once."""
    return readers(tmp_path_factory.mktemp("readers"))


@pytest.fixture
def read(
    tmp_path: Path, commands: Mapping[str, Sequence[str]], capsys: pytest.CaptureFixture[str]
) -> Read:
    """Runs one reader on the block file of the test; what it prints, and its error."""
    blocks, listed = tmp_path / "blocks", tmp_path / "ids"

    def run(name: str, ids: Sequence[int]) -> tuple[str, str]:
        listed.write_text("\n".join(map(str, ids)))
        if name not in commands:
            pytest.skip("g++ is not installed")
        if name == "Python":
            try:
                records.main(blocks, listed)
            except WrongRecord as error:
                return "", str(error)
            return capsys.readouterr().out, ""
        command = [*commands[name], str(blocks), str(listed)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert bool(done.stderr) == bool(done.returncode)
        return done.stdout, done.stderr

    return run


def block_file(folder: Path, block_bytes: int = 1_024) -> Path:
    """A block file."""
    path = folder / "blocks"
    write_block_file(path, BlockLayout(block_bytes, DATA_SET.records), DATA_SET.chunks())
    return path


@pytest.mark.parametrize("name", ["Python", "C++"])
@pytest.mark.parametrize("block_bytes", [512, 640, 65_536])
def test_each_language_reads_and_verifies(
    tmp_path: Path, read: Read, name: str, block_bytes: int
) -> None:
    """The file that Python wrote is read by the layout alone: the byte order is fixed."""
    block_file(tmp_path, block_bytes)
    printed, error = read(name, queries(DATA_SET.records, DATA_SET.records))
    assert error == ""
    times = json.loads(printed)
    assert times["records"] == DATA_SET.records
    assert times["fetch_cpu_seconds"] > 0


@pytest.mark.parametrize("name", ["Python", "C++"])
def test_each_language_notices_a_damaged_record(tmp_path: Path, read: Read, name: str) -> None:
    """A changed byte in the text of the first record."""
    path = block_file(tmp_path)
    place = BlockLayout(1_024, DATA_SET.records).data_offset + 20
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    assert f"the CRC of the record {id_of(0)} is wrong" in read(name, [id_of(0)])[1]


def test_cpp_refuses_other_files_and_other_records(tmp_path: Path, read: Read) -> None:
    """A short file, another file, and an id that is not there."""
    path = block_file(tmp_path)
    assert "no record" in read("C++", [id_of(DATA_SET.records)])[1]
    content = path.read_bytes()
    path.write_bytes(content[:-1])
    assert "not the size of its header" in read("C++", [])[1]
    path.write_bytes(b"X" + content[1:])
    assert "not a block file of version 1" in read("C++", [])[1]


def test_a_missing_compiler_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table says that the reader in C++ is missing; the one in Python is a program."""
    monkeypatch.setattr(records, "tool", lambda _: None)
    assert set(readers(tmp_path)) == {"Python"}
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(records, "BLOCK_BYTES", (512,))
    table = records.table(1, "a machine", quick=True)
    assert "Missing: C++: g++ is not installed" in table.remark
    assert {row[1] for row in table.rows} == {"Python"}
