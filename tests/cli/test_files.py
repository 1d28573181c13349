"""Local paths become files, each with its key."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bucketsum_cli.objects.file_digests import sha1_of_file
from bucketsum_cli.objects.files import files_under
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import progress


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder ``photos`` with three files; its parent is the current folder."""
    inner = tmp_path / "photos" / "2026 summer"
    inner.mkdir(parents=True)
    (inner.parent / "cat.jpg").write_bytes(b"cat")
    (inner / "50% é+.jpg").write_bytes(b"")
    (inner / "dog.jpg").write_bytes(b"dog")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "photos"


def keys(paths: Iterable[Path], prefix: str = "") -> list[str]:
    """The keys of the files that *paths* lead to."""
    return [file.key for file in files_under(paths, prefix).files]


def test_file_has_its_name_as_key(folder: Path) -> None:
    """Where a file is does not enter its key."""
    assert keys([folder / "cat.jpg"]) == ["cat.jpg"]
    assert keys([folder / "cat.jpg"], "a/b-") == ["a/b-cat.jpg"]


@pytest.mark.parametrize("path", ["photos", "photos/", "./photos", "photos/../photos"])
@pytest.mark.usefixtures("folder")
def test_folder_has_its_name_and_the_path_in_it_as_key(path: str) -> None:
    """However the folder is written, keys are the same, with slashes and as the names are."""
    assert keys([Path(path)], "x/") == [
        "x/photos/cat.jpg",
        "x/photos/2026 summer/50% é+.jpg",
        "x/photos/2026 summer/dog.jpg",
    ]


def test_current_folder_has_its_own_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dot stands for the folder's name."""
    monkeypatch.chdir(folder)
    assert keys([Path()])[0] == "photos/cat.jpg"


def test_links_to_files_are_files_and_links_to_folders_are_not_followed(folder: Path) -> None:
    """Following folders could leave the tree, or never end."""
    (folder / "link.jpg").symlink_to(folder / "cat.jpg")
    (folder / "loop").symlink_to(folder)
    assert "photos/link.jpg" in keys([folder])
    assert not [key for key in keys([folder]) if "loop" in key]
    assert files_under([folder]).left_out == {"links to folders, which are not followed": 1}


def test_link_to_a_folder_that_is_named_is_followed(folder: Path) -> None:
    """Who names a link means what it leads to, under the link's name."""
    link = folder.parent / "album"
    link.symlink_to(folder)
    assert keys([link])[0] == "album/cat.jpg"


def test_what_cannot_be_taken_is_told_and_the_rest_is_taken(folder: Path) -> None:
    """A pipe, a broken link, a name or a length that no key can have: each with its reason."""
    os.mkfifo(folder / "pipe")
    (folder / "broken").symlink_to("nowhere")
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.jpg")).touch()
    deep = folder.joinpath(*["d" * 200] * 5)  # 5 × 201 and photos/deep-1234.jpg: 1,025 bytes
    deep.mkdir(parents=True)
    (deep / "deep-1234.jpg").touch()
    selection = files_under([folder])
    assert len(selection.files) == 3
    assert {skipped.path.name: skipped.reason for skipped in selection.skipped} == {
        "pipe": "not a regular file",
        "broken": "No such file or directory",
        "\udcff.jpg": "its name is not UTF-8, which a key must be; rename it",
        "deep-1234.jpg": "its key would have 1025 bytes, S3 allows 1024",
    }


def test_folder_that_cannot_be_listed_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A closed folder is skipped with the system's reason, not passed over in silence."""
    scandir = os.scandir

    def closed(path: str) -> object:
        if str(path).endswith("summer"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    selection = files_under([folder])
    assert [file.key for file in selection.files] == ["photos/cat.jpg"]
    assert [skipped.reason for skipped in selection.skipped] == ["Permission denied"]


def test_path_that_does_not_exist_is_refused_by_name(folder: Path) -> None:
    """A mistyped path stops everything before anything is done."""
    with pytest.raises(CannotDoError, match=r"no file or folder .*nope"):
        files_under([folder, folder / "nope"])


def test_empty_folder_is_refused(tmp_path: Path) -> None:
    """Nothing to do is told, not done."""
    with pytest.raises(CannotDoError, match="no files in"):
        files_under([tmp_path])


def test_two_files_with_one_key_are_refused(folder: Path) -> None:
    """One would overwrite the other."""
    (folder / "2026 summer" / "cat.jpg").touch()
    with pytest.raises(CannotDoError, match=r"both have the key cat\.jpg"):
        files_under([folder / "cat.jpg", folder / "2026 summer" / "cat.jpg"])


def test_path_given_twice_counts_once(folder: Path) -> None:
    """Repeating a path changes nothing."""
    assert keys([folder, folder]) == keys([folder])


@given(content=st.binary(max_size=5000))
def test_sha1_of_a_file_is_hashlibs(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The same digest, and every byte is told to the progress."""
    path = tmp_path_factory.mktemp("sha1") / "file"
    path.write_bytes(content)
    with progress() as shown:
        task = shown.add_task("hashing", total=len(content))
        assert sha1_of_file(path, shown, task) == hashlib.sha1(content).hexdigest()
    assert shown.tasks[0].completed == len(content)


def test_version_control_and_patterns_are_left_out(tmp_path: Path) -> None:
    """A pattern is compared with the name and the path in the folder; `.git` is not data."""
    for name in ("a.txt", "b.tmp", "sub/c.txt", "sub/d.txt", ".git/config", "sub/.git/x"):
        file = tmp_path / "folder" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    chosen = files_under([tmp_path / "folder"], exclude=["*.tmp", "sub/d*"])
    assert [file.key for file in chosen.files] == ["folder/a.txt", "folder/sub/c.txt"]
    assert chosen.left_out == {"folders and files named .git, which are left out": 2}
    named = files_under([tmp_path / "folder" / ".git"])
    assert [file.key for file in named.files] == [".git/config"]
