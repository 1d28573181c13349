"""The local emulator extracts a function's layer once, not for every worker."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

import pytest

from bucketsum_cli.emulator.gateway import extract_once

LAYER = {
    "python/bucketsum/app.py": b"pass\n",
    "python/LICENSE": b"",
    "app.py": b"import bucketsum\n",
}


def archive_of(file: Path, members: dict[str, bytes]) -> Path:
    """A zip *file* with *members*."""
    with ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(ZipInfo(name), content)  # the same bytes at any time
    return file


def files_in(folder: Path) -> dict[str, bytes]:
    """Contents of all files in *folder*, by relative path; links are followed."""
    files = (file for entry in folder.iterdir() for file in (entry, *entry.rglob("*")))
    return {str(file.relative_to(folder)): file.read_bytes() for file in files if file.is_file()}


@pytest.fixture(autouse=True)
def _restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ZipFile, "extractall", ZipFile.extractall)
    monkeypatch.setattr(ZipFile, "namelist", ZipFile.namelist)


def test_every_worker_has_all_files(tmp_path: Path) -> None:
    """Folders of workers that start at the same time have the archive's files."""
    archive = archive_of(tmp_path / "layer.zip", LAYER)
    extract_once(tmp_path / "extracted")
    workers = [tmp_path / f"worker-{number}" for number in range(8)]

    def start(worker: Path) -> None:
        worker.mkdir()
        with ZipFile(archive) as opened:
            opened.extractall(str(worker))

    with ThreadPoolExecutor(len(workers)) as executor:
        list(executor.map(start, workers))
    assert [files_in(worker) for worker in workers] == [LAYER] * len(workers)


def test_each_archive_is_extracted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new archive at the same path is extracted too; the first is not extracted again."""
    extracted: list[str] = []
    extract_all = ZipFile.extractall

    def noted(archive: ZipFile, path: Path, names: list[str]) -> None:
        extracted.append(archive.read("app.py").decode())
        extract_all(archive, path, names)

    monkeypatch.setattr(ZipFile, "extractall", noted)
    extract_once(tmp_path / "extracted")
    for number, code in enumerate(("old", "old", "new", "old")):
        worker = tmp_path / f"worker-{number}"
        worker.mkdir()
        with ZipFile(archive_of(tmp_path / "code.zip", {"app.py": code.encode()})) as archive:
            archive.extractall(worker)
        assert files_in(worker) == {"app.py": code.encode()}
    assert extracted == ["old", "new"]


def test_a_damaged_archive_is_extracted_again(tmp_path: Path) -> None:
    """A worker never gets a part of an archive, also not after an extraction that failed."""
    file = archive_of(tmp_path / "code.zip", {"app.py": b"whole", "last.py": b"damaged here"})
    file.write_bytes(file.read_bytes().replace(b"damaged here", b"damaged THEN"))
    extract_once(tmp_path / "extracted")
    for _ in range(2):
        with ZipFile(file) as archive, pytest.raises(BadZipFile):
            archive.extractall(tmp_path)
    assert not (tmp_path / "app.py").exists()


def test_a_path_in_an_archive_leads_nowhere_else(tmp_path: Path) -> None:
    """One that begins outside is listed, and ministack refuses it; others stay in the folder."""
    archive = archive_of(tmp_path / "code.zip", {"../a.py": b"", "b/../../c.py": b"inside"})
    worker = tmp_path / "worker" / "code"
    worker.mkdir(parents=True)
    extract_once(tmp_path / "worker" / "extracted")
    with ZipFile(archive) as opened:
        assert set(opened.namelist()) == {"..", "b"}
        opened.extractall(str(worker))
    assert files_in(worker) == {"a.py": b"", "b/c.py": b"inside"}
    assert {path.name for path in tmp_path.iterdir()} == {"code.zip", "worker"}
