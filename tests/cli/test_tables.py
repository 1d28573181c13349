"""Tables and prose on a terminal and in a pipe."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence

import pytest

from bucketsum_cli.terminal import tables
from bucketsum_cli.terminal.columns import KEY, SHA1, VERSION, Cell, Column
from bucketsum_cli.terminal.output import say
from bucketsum_cli.terminal.tables import print_table

NUMBER = Column("number of things", right=True)
DIGEST = "0" * 40


@pytest.fixture
def shown(
    terminal: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., list[str]]:
    """Shows a table on a terminal of so many columns; returns its lines without colours."""
    monkeypatch.setenv("NO_COLOR", "1")

    def show(width: int, columns: Sequence[Column], *rows: Sequence[str | Cell]) -> list[str]:
        terminal(width)
        print_table(columns, rows)
        return capsys.readouterr().out.splitlines()

    return show


def test_columns_are_as_wide_as_their_rows(shown: Callable[..., list[str]]) -> None:
    """Nothing is padded for digits that no row has."""
    assert shown(80, (KEY, NUMBER), ("a.txt", "7")) == [
        "key    number of things",
        "a.txt                 7",
    ]


def test_headings_fold_before_texts_do(shown: Callable[..., list[str]]) -> None:
    """A long heading over short numbers takes two lines, not the room of the keys."""
    assert shown(20, (KEY, NUMBER), ("folder/a.txt", "7")) == [
        "key           number",
        "                  of",
        "              things",
        "folder/a.txt       7",
    ]


def test_a_key_that_does_not_fit_has_lines_of_its_own(shown: Callable[..., list[str]]) -> None:
    """Keys that differ in the middle are never shortened there, and can be copied."""
    long = "wheels/pydantic_core-2.41.5-cp313-manylinux_2_17_x86_64.whl"
    assert shown(60, (KEY, SHA1), (long, DIGEST), ("a.txt", DIGEST)) == [
        f"{'key':<20}SHA-1",
        long,
        f"{'':<20}{DIGEST}",
        f"{'a.txt':<20}{DIGEST}",
    ]


def test_the_folder_of_all_keys_is_shown_once_if_they_do_not_fit(
    shown: Callable[..., list[str]],
) -> None:
    """The common part of keys is cut first."""
    keys = [f"photos/2026/summer/{name}.jpg" for name in ("cat", "dog")]
    assert shown(60, (KEY, SHA1), *((key, DIGEST) for key in keys)) == [
        "… = photos/2026/summer",
        "key        SHA-1",
        f"…/cat.jpg  {DIGEST}",
        f"…/dog.jpg  {DIGEST}",
    ]


def test_the_scheme_of_urls_is_no_folder(shown: Callable[..., list[str]]) -> None:
    """A line that names it would be as long as what it saves."""
    urls = ("s3://one/cat.jpg", "s3://two/dog.jpg")
    assert shown(57, (KEY, SHA1), *((url, DIGEST) for url in urls)) == [
        f"{'key':<17}SHA-1",
        *(line for url in urls for line in (url, f"{'':<17}{DIGEST}")),
    ]


def test_a_folder_whose_omission_helps_no_key_stays(shown: Callable[..., list[str]]) -> None:
    """A whole key can be copied."""
    keys = [f"photos/{name * 60}" for name in ("a", "b")]
    lines = shown(80, (KEY, SHA1), *((key, DIGEST) for key in keys))
    assert [line for line in lines if line in keys] == keys


def test_a_version_is_whole_while_the_key_can_give_way(shown: Callable[..., list[str]]) -> None:
    """Version ids are copied into other commands."""
    version = "v" * 32
    assert version in shown(60, (KEY, VERSION), ("k" * 50, version))[2]


def test_a_version_that_does_not_fit_is_not_cut(shown: Callable[..., list[str]]) -> None:
    """It stands beside the key if both fit in a line, else below it."""
    version = "v" * 36
    narrow = shown(60, (KEY, VERSION, SHA1), ("k", version, DIGEST), ("k" * 30, version, DIGEST))
    assert narrow[1:] == [
        f"k  {version}",
        f"{'':<20}{DIGEST}",
        "k" * 30,
        version,
        f"{'':<20}{DIGEST}",
    ]


def test_a_table_without_room_is_a_list(
    terminal: Callable[[int], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a terminal of no room for all columns; rows of a later piece go on counting."""
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(tables, "_ROWS_AT_A_TIME", 1)
    terminal(20)
    columns = [Column(name, shrinks=True) for name in ("one", "two", "three")]
    rows = [["a" * 12, "c" * 12, ""], ["b" * 12, "", "2"]]
    print_table(columns, rows, as_list=True)
    assert capsys.readouterr().out.splitlines() == [
        "row 1", "one    aaaaaaaaaaaa", "two    cccccccccccc",
        "row 2", "one    bbbbbbbbbbbb", "three  2",
    ]  # fmt: skip


def test_a_label_stays_with_a_text_that_does_not_fit(shown: Callable[..., list[str]]) -> None:
    """The text comes after it, and no empty line follows."""
    columns = (Column("", shrinks=True), Column("", shrinks=True))
    assert shown(20, columns, ("long objects", "k" * 19))[1:] == ["long objects", "k" * 19]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("512 MB and one stream", ["2026  512 MB and one", "      stream"]),
        ("512 MB share 100 %", ["2026  512 MB share", "      100 %"]),
    ],
)
def test_what_is_folded_is_folded_at_words(
    shown: Callable[..., list[str]], text: str, lines: list[str]
) -> None:
    """A percent sign stays with its number: alone in a line, it says nothing."""
    columns = (Column("run"), Column("recommended", shrinks=True))
    assert shown(20, columns, ("2026", text)) == ["run   recommended", *lines]


@pytest.mark.parametrize(
    ("columns", "text", "indent", "lines"),
    [
        (20, "cause    one two three four", None, ["cause    one two", "         three four"]),
        (20, "wrote /a/path/that/is/too/long", None, ["wrote", "/a/path/that/is/too/long"]),
        (44, f"sha1     {DIGEST}", None, ["sha1", f"    {DIGEST}"]),
        (24, "alarms  passed  one two three", 16, ["alarms  passed  one two", f"{'':<16}three"]),
    ],
    ids=["prose", "path", "digest", "details"],
)
def test_prose_is_folded_at_words_below_its_label(
    terminal: Callable[[int], None],
    capsys: pytest.CaptureFixture[str],
    columns: int,
    text: str,
    indent: int | None,
    lines: list[str],
) -> None:
    """Or below details; what is too long stays whole, indented less if it fits only so."""
    terminal(columns)
    say(text, indent=indent)
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize(
    "program",
    [
        "print_table((KEY,), ([str(n)] for n in endless()))",
        "print_json_array(endless())",
        "[say('line') for _ in range(3)]",
    ],
)
def test_a_reader_that_has_enough_is_no_failure(program: str) -> None:
    """`bucketsum ls | head -1` ends at once, silently, with the status that it would have had."""
    program = f"""if True:
        from itertools import count
        from {say.__module__} import print_json_array, say
        from {KEY.__class__.__module__} import KEY
        from {print_table.__module__} import print_table
        endless = count
        {program}
        say("never seen")
        raise SystemExit(1)
    """
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=write_end,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (1, b"")
