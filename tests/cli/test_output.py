"""Output has no control characters, its numbers are readable, and its files are whole."""

import errno
import os
import resource
import signal
import threading
from collections.abc import Iterator
from contextvars import copy_context
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.conftest import Run

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.formatting import cents_text, moment_text, size_text, speed_text
from bucketsum_cli.terminal.hints import command_line, remember_options
from bucketsum_cli.terminal.output import printable
from bucketsum_cli.terminal.output_files import output_file, write_text


@given(text=st.text(st.characters(exclude_categories=[])))
def test_nothing_that_is_shown_acts_or_hides(text: str) -> None:
    """Every character of a key is visible, lone surrogates included."""
    assert printable(text).isprintable()


@given(text=st.text(st.characters(categories=["L", "N", "P", "S", "Mn"])))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    """Letters, digits and signs of any script stay."""
    if text.isprintable():
        assert printable(text) == text


@pytest.mark.parametrize(
    ("size_bytes", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (2_000_000_000, "2.0 GB"),
        (50 * 10**12, "50.0 TB"),
        (10**15, "1.0 PB"),
    ],
)
def test_sizes_are_in_units_of_thousands(size_bytes: int, shown: str) -> None:
    """MB is 10⁶ bytes, and no size is wider than its column."""
    assert size_text(size_bytes) == shown
    assert len(shown) <= 8


def test_a_price_below_a_cent_is_not_free() -> None:
    """Only nothing is 0.00."""
    assert [*map(cents_text, (0, 0.0009, 0.005, 1234.5))] == ["0.00", "<0.01", "0.01", "1,234.50"]


def test_what_was_not_measured_is_not_a_zero() -> None:
    """No speed is a dash, or what a table has in its place."""
    assert (speed_text(None), speed_text(0.0), speed_text(95.26)) == ("–", "0.0", "95.3")
    assert speed_text(None, missing="") == ""
    assert moment_text("2026-11-20T10:00:01.250000+00:00") == "2026-11-20 10:00:01"


def test_unknown_command_is_an_error_whose_text_cannot_act(run: Run) -> None:
    """The unknown command is shown escaped."""
    run("l\x1b[2Js").assert_refused(r"l\x1b[2Js")


@pytest.fixture
def small_disk() -> Iterator[None]:
    """No file can have more than 1,000 bytes."""
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.usefixtures("small_disk")
def test_a_file_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    """A full disk damages no answers of a person, and leaves nothing beside them."""
    file = tmp_path / "deploy.toml"
    file.write_text("before")
    with pytest.raises(CannotDoError, match=r"deploy\.toml cannot be written: File too large"):
        write_text(file, "x" * 2000)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_written_file_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    """A link stays a link, and a file that others must not read stays closed to them."""
    file, link = tmp_path / "file", tmp_path / "link"
    file.touch(mode=0o600)
    link.symlink_to(file)
    write_text(link, "a\r\nb\n")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"a\r\nb\n", 0o600)
    assert link.is_symlink()
    (circle := tmp_path / "circle").symlink_to(tmp_path / "circle")
    with pytest.raises(CannotDoError, match="Too many levels of symbolic links"):
        write_text(circle, "text")


def test_a_device_is_written_to_as_it_is() -> None:
    """`-o /dev/null` does not replace the device by a file."""
    write_text(Path(os.devnull), "text")
    assert Path(os.devnull).is_char_device()


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    """A FIFO stays one, and its reader gets the text."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=write_text, args=(fifo, "text"))
    writer.start()
    assert fifo.read_bytes() == b"text"
    writer.join()
    assert fifo.is_fifo()
    assert list(tmp_path.iterdir()) == [fifo]


def test_a_descriptor_is_written_to_where_it_is(tmp_path: Path) -> None:
    """A shell's `>(cat)` is a pipe of this process; text before in a redirected file stays."""
    reader, pipe = os.pipe()
    write_text(Path(f"/dev/fd/{pipe}"), "text")
    assert os.read(reader, 9) == b"text"
    with (tmp_path / "out").open("wb", buffering=0) as out:
        out.write(b"before ")
        write_text(Path(f"/proc/self/fd/{out.fileno()}"), "text")
        out.write(b" after")
    assert (tmp_path / "out").read_bytes() == b"before text after"
    os.close(reader)
    os.close(pipe)


@pytest.mark.parametrize("error", [errno.EBUSY, errno.EXDEV, errno.EPERM])
def test_a_mounted_file_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    """Docker mounts single files: nothing can be renamed to them."""
    file = tmp_path / "mounted"
    file.write_text("before, and longer")
    refusal = Mock(side_effect=OSError(error, "busy"))
    monkeypatch.setattr(Path, "replace", refusal)
    write_text(file, "text")
    assert (refusal.called, file.read_text()) == (True, "text")
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_with_two_names_keeps_both(tmp_path: Path) -> None:
    """A hard link still names the same file."""
    file, other = tmp_path / "file", tmp_path / "other"
    file.touch()
    other.hardlink_to(file)
    write_text(file, "text")
    assert other.read_text() == "text"


def test_a_file_in_a_closed_folder_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the file itself may be writable; a new one there is refused by name."""
    file = tmp_path / "file"
    file.touch(mode=0o640)
    opened = os.open

    def closed(path: str, flags: int, *rest: Any, **more: Any) -> int:  # noqa: ANN401 - os.open's
        if flags & os.O_EXCL and str(path).startswith(str(tmp_path)):
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", closed)
    write_text(file, "text")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("text", 0o640)
    with pytest.raises(CannotDoError, match="new cannot be written: Permission denied"):
        write_text(tmp_path / "new", "text")


def test_nobody_reads_a_closed_file_while_it_is_written(tmp_path: Path) -> None:
    """The replacement of a file of mode 600 is never open to others."""
    file = tmp_path / "file"
    file.touch(mode=0o600)
    with output_file(file) as new:
        new.write(b"secret")
        modes = {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {0o600}


def test_commands_in_messages_have_the_options_that_were_given() -> None:
    """A hint can be copied: it means the same stack and the same bucket."""
    context = copy_context()

    def hint(*arguments: str, **options: str) -> str:
        context.run(remember_options, {f"--{name}": value for name, value in options.items()})
        return context.run(command_line, *arguments)

    assert hint("ls") == "bucketsum ls"
    local = {"local": "", "bucket": "a b"}
    assert hint("ls", **local) == "bucketsum ls --local --bucket 'a b'"
    assert hint("attach", "b", **local) == "bucketsum attach b --local"
    assert hint("show", "c d", **local) == "bucketsum show 'c d' --local --bucket 'a b'"
    assert hint("snapshot", "--help", **local) == "bucketsum snapshot --help"
    assert hint("redrive", "--key", "k", stack="s") == "bucketsum redrive --key k --stack s"
