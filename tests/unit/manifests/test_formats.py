"""Manifests are read as the programs read them that write them, and never as another name."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from os.path import normpath
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bucketsum_cli.manifests.entries import BadLine, Entry
from bucketsum_cli.manifests.formats import FORMATS, entries_in
from bucketsum_cli.terminal.errors import CannotDoError

SHA1 = hashlib.sha1(b"a").hexdigest()
SHA256 = hashlib.sha256(b"a").hexdigest()
SHA512 = hashlib.sha512(b"a").hexdigest()
MD5 = hashlib.md5(b"a").hexdigest()
HOSTILE = [
    b"a", b"\ta", b"*data/a", b"a b", b" a", b"a ", b"*a", b"#a", b"-", b"./a", b"././a",
    b"/a", b".//a", b"a/./b", b"../a",
    b"a/../b", b"v1./a", b"a\nb", b"a\rb", b"a\r", b"a\\b", b"a\\nb", b"\\a", b"100%", b"a%0Ab",
    b"%25", b"a%20b", b'a"b', b"a,b", b"\xe9", b"\xef\xbb\xbfa", b"=cmd()", b"x) = y", b"SHA1 (x)",
    "é€\u202e".encode(), "a\u2409".encode(), "\u201ba".encode(), b"{", b"'", b"\x1b[2J",
]  # fmt: skip


def read(content: bytes, file: str = "list", format_: str | None = None) -> list[Entry | BadLine]:
    """The entries and bad lines of a manifest."""
    return [*entries_in(io.BytesIO(content), file, FORMATS[format_] if format_ else None)]


def names(content: bytes, file: str = "list") -> list[tuple[bytes, Any]]:
    """Name and digests of each entry, or nothing and the reason of a bad line."""
    return [
        (entry.name, dict(entry.digests)) if isinstance(entry, Entry) else (b"", entry.reason)
        for entry in read(content, file)
    ]


@pytest.mark.parametrize(
    "line",
    [
        f"{SHA1}  a", f"{SHA1} *a", f"{SHA1} a", f"{SHA1}\ta", f"  {SHA1}  a", f"\t{SHA1}  ./a",
        f"{SHA1.upper()}  a", f"\\{SHA1}  a", f"SHA1 (a) = {SHA1}", f"SHA1(a)= {SHA1}",
        f" SHA1 (./a) = {SHA1}", f"SHA1(a)={SHA1}", f"\ufeff{SHA1}  a", f"# a list\n\n{SHA1}  a",
        "hvfkN/qlp/zhXR3cuerq6jd2Z7g=  a", "SHA1 (a) = hvfkN_qlp_zhXR3cuerq6jd2Z7g=",
        f"SHA-1 (a) = {SHA1}", f'{{"key": "a", "sha1": "{SHA1}"}}', f"key,sha1\na,{SHA1}",
        f'"SHA-1","MD5","FileName"\n"{SHA1.upper()}","","a"',
        f"%%%% HASHDEEP-1.0\n%%%% size,sha1,filename\n## \n1,{SHA1},./a",
        f'\ufeff"key","sha1"\n"a","{SHA1}"', f"# x\n\n#y,z\nsha1,key\n#\n{SHA1},a\n# it's \"x",
        f"{'# x' * 99}\n" * 30 + f"{SHA1}  a", f"{SHA1}  a\n # b", f"\ufeff# x\n\ufeff{SHA1}  a",
        f'# x\n{{"key": "a", "sha1": "{SHA1}"}}\n# x', f"key;sha1\na;{SHA1}",
        f"sha1\tkey\n{SHA1}\ta",
        f'#TYPE x\n"Algorithm","Hash","Path"\n"SHA1","{SHA1.upper()}","a"',
        f"file, SHA1 hash\na, {SHA1}", f"sha1sum,path\n{SHA1},a",
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_what_programs_read_is_read(line: str, end: str) -> None:
    """Blanks, tabs, tags, cases, CRLF, comments, a byte-order mark, base64: one digest."""
    content = end.join([*line.split("\n"), ""]) if end else line
    assert names(content.encode()) == [(b"a", {"sha1": SHA1})]
    content = content.removeprefix("\ufeff")
    for stored in (
        gzip.compress(content.encode()), bz2.compress(content.encode()), content.encode("utf-16"),
        lzma.compress(content.encode()), content.encode("utf-16-le"), content.encode("utf-16-be"),
        gzip.compress(content.encode("utf-32")),
    ):  # fmt: skip
        assert names(stored) == [(b"a", {"sha1": SHA1})]


@pytest.mark.parametrize(
    ("line", "algorithm", "digest"),
    [
        (f"{SHA256}  a", "sha256", SHA256),
        (f"{MD5}  a", "md5", MD5),
        (f"{SHA512}  a", "sha512", SHA512),
        (f"SHA2-256(a)= {SHA256}", "sha256", SHA256),
        (f"SHA3-256(a)= {SHA256}", "sha3-256", SHA256),
        (f"SHA2-512/256(a)= {SHA256}", "sha512/256", SHA256),
        (f"HMAC-SHA1(a)= {SHA1}", "hmac-sha1", SHA1),
        (f"BLAKE2b (a) = {SHA512}", "blake2b", SHA512),
    ],
)
def test_digits_or_the_tag_say_the_algorithm(line: str, algorithm: str, digest: str) -> None:
    """A digest of another algorithm is never taken for one that happens to have its length."""
    assert names(line.encode()) == [(b"a", {algorithm: digest})]


@pytest.mark.parametrize(
    ("file", "digest", "algorithm"),
    [
        ("B2SUMS", SHA512, "b2"), ("x/SHA512SUMS", SHA512, "sha512"), ("a.sha1", SHA256, "sha256"),
        ("CHECKSUMS", SHA1, "sha1"), ("a.sha3-256", SHA256, "sha3-256"), ("a.b3", SHA256, "b3"),
        ("manifest-photos.txt", MD5, "md5"), ("MD5SUMS.txt", MD5, "md5"), ("a.md5sum", MD5, "md5"),
        ("a.rmd160", SHA1, "rmd160"), ("a.ripemd160", SHA1, "ripemd160"), ("a.k12", SHA256, "k12"),
        ("SM3SUMS", SHA256, "sm3"), ("a.sha512t256", SHA256, "sha512t256"),
        ("a.sha2", SHA256, "sha256"),
    ],
)  # fmt: skip
def test_the_files_name_says_what_digits_cannot(file: str, digest: str, algorithm: str) -> None:
    """B2SUMS has as many digits as SHA512SUMS; for the usual algorithms, digits decide."""
    assert names(f"{digest}  a".encode(), file) == [(b"a", {algorithm: digest})]


@pytest.mark.parametrize(
    "content",
    [
        f"key,md5,sha1\na,{MD5},{SHA1}\n", f'{{"key":"a","md5":"{MD5}","sha1":"{SHA1}"}}\n',
        f"%%%% HASHDEEP-1.0\n%%%% size,md5,sha1,filename\n1,{MD5},{SHA1},a\n",
        f"SHA1 (a) = {SHA1}\n",
    ],
)  # fmt: skip
def test_a_line_that_says_its_algorithm_needs_no_files_name(content: str) -> None:
    """A tag or the name of a column is nearer to the digest than the name of the file."""
    assert names(content.encode(), "a.b3") == names(content.encode())


@pytest.mark.parametrize("start", [f"{SHA1}  ", "#", "", f'{{"sha1":"{SHA1}","key":"'])
def test_a_line_of_more_than_1_mib_is_one_bad_line(start: str) -> None:
    """Its rest is not an entry, nor its beginning a name; the next lines keep their numbers."""
    long = start + "x" * ((1 << 20) - len(start)) + f"{SHA1}  a"
    first, bad, last = read(f"{SHA1}  a\n{long}\n{SHA1}  a\n".encode())
    assert isinstance(bad, BadLine)
    assert (bad.line, "1 MiB" in bad.reason) == (2, True)
    assert [first, last] == [Entry(b"a", {"sha1": SHA1}, line=n) for n in (1, 3)]
    assert all(isinstance(line, BadLine) for line in read(f"key,sha1\n{long}\n".encode()))


@pytest.mark.parametrize(
    "record",
    [
        f'{{"key":"a","sha1":"{SHA1}","size":1e999}}', f'{{"key":"a","sha1":"{SHA1}","size":-1}}',
        f'{{"key":"a","sha1":"{SHA1}","size":{2**70}}}', f'{{"key":"","sha1":"{SHA1}"}}',
        f'{{"key":"a","key":"b","sha1":"{SHA1}"}}',
        f'{{"key":"a","sha1":"{"0" * 40}","SHA1":"{SHA1}"}}',
        f"key,sha1,SHA-1\na,{SHA1},{'0' * 40}", f"key,sha1\na\0,{SHA1}", f"key,sha1\n,{SHA1}",
        f'"key"x,sha1\na,{SHA1}', f"key,size,sha1\na,{2**63},{SHA1}",
    ],
)  # fmt: skip
def test_a_record_that_can_be_read_in_two_ways_is_none(record: str) -> None:
    """Sizes that no object has, no name, two names or two digests: a bad line with a reason."""
    format_ = "jsonl" if record.startswith("{") else "csv"
    listed = read(record.encode(), format_=format_)
    assert listed
    assert all(isinstance(line, BadLine) for line in listed)


@pytest.mark.parametrize("format_", ["sum", "rclone", "bagit", "hashdeep"])
def test_a_cr_that_the_first_line_has_not_is_no_name(format_: str) -> None:
    """It is the end of the line in a list made of two, or the name's, as `shasum` prints it."""
    line = written(format_, [Entry(b"a", {"sha1": SHA1}, 1)], "sha1")
    last = line.splitlines()[-1]
    first, bad, kept = read(b"%s%s\r\n%s\n" % (line, last, last), format_=format_)
    assert (isinstance(first, Entry), isinstance(kept, Entry)) == (True, True)
    assert isinstance(bad, BadLine)
    assert "is not like the first, without CR" in bad.reason


def test_a_path_of_a_record_loses_one_dot() -> None:
    """A column of paths is read as a list of `sha1sum`; a key is exact."""
    for column, name in (("key", b"./a"), ("FileName", b"a"), ("path", b"a")):
        assert names(f"{column},sha1\n./a,{SHA1}\n".encode()) == [(name, {"sha1": SHA1})]
        assert names(f'{{"{column}":"./a","sha1":"{SHA1}"}}'.encode()) == [(name, {"sha1": SHA1})]


@pytest.mark.parametrize(
    "line",
    [
        b"x", SHA1.encode() + b"  ", SHA1[:39].encode() + b"  a", f"SHA1 (a) = {MD5}".encode(),
        f"\\{SHA1}  a\\x".encode(), f"\\{SHA1}  a\\".encode(), f"{SHA1}  a\0b".encode(),
        b" " * 40 + b"  a", b"%40s  a" % b"UNSUPPORTED", f"{SHA1}  ./".encode(), b"\xff\xfe\xfd",
    ],
)  # fmt: skip
def test_a_bad_line_has_its_number_and_ends_no_other(line: bytes) -> None:
    """The lines before and after it are read."""
    good = f"{SHA1}  a\n".encode()
    first, bad, last = read(good + line + b"\n" + good)
    assert isinstance(bad, BadLine)
    assert (bad.line, bad.reason.startswith("line 2 is not ")) == (2, True)
    assert [first, last] == [Entry(b"a", {"sha1": SHA1}, line=n) for n in (1, 3)]


@pytest.mark.parametrize(
    ("content", "bad"),
    [
        (f'key,sha1\na,{SHA1}\n"b"x,{SHA1}\na\nc,{SHA1[1:]}\nd,{SHA1}\n', [3, 4, 5]),
        ((f'{{"key":"a","sha1":"{SHA1}"}}\n[1]\n{{"key":"a","size":"x","sha1":"{SHA1}"}}\n'
         f'{{"key":"\\ud800","sha1":"{SHA1}"}}\n{{"key":"d","sha1":"{SHA1}"}}\n'), [2, 3, 4]),
        ((f"%%%% HASHDEEP-1.0\n%%%% size,sha1,filename\n1,{SHA1},a\n1,x,a\nx\nx,{SHA1},a\n"
          f"1,{SHA1},d\n"), [4, 5, 6]),
    ],
)  # fmt: skip
def test_a_bad_record_ends_no_other(content: str, bad: list[int]) -> None:
    """A damaged digest, size, quote or name: its line alone."""
    first, *between, last = read(content.encode())
    assert isinstance(first, Entry)
    assert isinstance(last, Entry)
    assert (first.name, last.name) == (b"a", b"d")
    assert [line.line for line in between if isinstance(line, BadLine)] == bad


def test_a_list_without_modes_keeps_blanks() -> None:
    """`sha1sum --check` decides by the first line whether a second blank belongs to the name."""
    without = f"{SHA1} a\n{SHA1} *b\n{SHA1}  c\n".encode()
    assert [name for name, _ in names(without)] == [b"a", b"*b", b" c"]
    assert [name for name, _ in names(b"%b  *x\n%b   y" % ((SHA1.encode(),) * 2))] == [b"*x", b" y"]


@pytest.mark.parametrize(
    "head", ["-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\n", "; made by x\n", "x y\n",
             f"SHA1 (c) = {SHA1} \n"],
)  # fmt: skip
def test_a_line_without_a_digest_decides_no_mode(head: str) -> None:
    """A title, or a signature's head, before the first digest does not say what a blank is."""
    listed = names(f"{head}{SHA1}  a\n{SHA1} *b\n".encode())
    assert [name for name, _ in listed if name] == [b"a", b"b"]


def test_a_bag_is_another_format() -> None:
    """The file's name says it: %0A, %0D and %25 are escapes there, and blanks are any."""
    lines = "\t \tdata/100%25 a\n", "   *data/c%0d%0A\n", " data/d \n"
    manifest = "".join(f"{SHA1}{line}" for line in lines).encode()
    assert [name for name, _ in names(manifest, "bag/manifest-sha1.txt")] == [
        b"data/100% a", b"data/c\r\n", b"data/d ",
    ]  # fmt: skip


def test_a_bag_whose_percent_signs_are_no_escapes_has_none() -> None:
    """bagit-python escapes line breaks alone: a bare % says that %25 is a name's own too."""
    manifest = f"{SHA1}  data/100%25\n{SHA1}  data/100%\n{SHA1}  data/a%0Ab\n".encode()
    assert [name for name, _ in names(manifest, "manifest-sha1.txt")] == [
        b"data/100%25", b"data/100%", b"data/a\nb",
    ]  # fmt: skip


def test_digests_alone_are_a_list() -> None:
    """`cut -c1-40` leaves them; they can be found, not compared."""
    assert names(f"{SHA1}\r\n{SHA256} \n".encode()) == [
        (b"", {"sha1": SHA1}), (b"", {"sha256": SHA256}),
    ]  # fmt: skip


def test_csv_needs_no_names() -> None:
    """Hash sets have digests alone, and comments; an empty name beside others is damage."""
    expected = [(b"", {"md5": MD5, "sha1": SHA1})]
    assert names(f"md5,sha1\n{MD5},{SHA1.upper()}\n".encode()) == expected
    assert names(f'{{"md5": "{MD5}", "sha1": "{SHA1}"}}'.encode()) == expected
    assert names(f"# list\n\n{SHA1}\n#\n".encode()) == [(b"", {"sha1": SHA1})]


@pytest.mark.parametrize("content", [
    f"key,sha1\n#,{SHA1}", f"key,sha1\n# a,{SHA1[1:]}", f'sha1,key\n#,"{SHA1}\n{SHA1},a',
    f"tag,sha1,key\n#x,{SHA1},a",
])  # fmt: skip
def test_what_may_be_an_entry_is_no_comment(content: str) -> None:
    """A record of CSV is left out only if no entry can begin so, and never with lines after it."""
    assert len(read(content.encode())) == 1


def test_the_algorithm_can_be_given() -> None:
    """A list of `b2sum` has as many digits as one of `sha512sum`: nothing in it tells."""
    for algorithm, file, expected in (
        ("blake2b", "list", "blake2b"), ("sha512", "B2SUMS", "sha512"), (None, "B2SUMS.gz", "b2"),
    ):  # fmt: skip
        content = gzip.compress(f"{SHA512}  a\n".encode())
        [entry] = entries_in(io.BytesIO(content), file, algorithm=algorithm)
        assert isinstance(entry, Entry)
        assert entry.digests == {expected: SHA512}


@pytest.mark.parametrize("content", [
    gzip.compress(b"a" * 99, mtime=0)[:-4], gzip.compress(b"a" * 9, mtime=0) + b"x",
    bz2.compress(b"a" * 99)[:-4], lzma.compress(b"a" * 99)[:-9], b"\xff\xfea",
    b"PK\3\4", b"\x28\xb5\x2f\xfd",
])  # fmt: skip
def test_a_list_that_cannot_be_read_to_its_end_is_refused(content: bytes) -> None:
    """The lines that a damaged file still has are not its list."""
    with pytest.raises(CannotDoError, match=r"list (cannot be read to its end|is )"):
        read(content)


class Pipe(io.BytesIO):
    """A pipe whose writer writes a byte at a time."""

    def read(self, size: int | None = -1) -> bytes:
        """Return a byte."""
        return super().read(min(size or 1, 1))


@pytest.mark.parametrize("stored", [bytes, gzip.compress])
def test_a_pipe_may_give_a_byte_at_a_time(stored: Callable[[bytes], bytes]) -> None:
    """The first bytes say how a list is stored, whenever they come."""
    pipe = Pipe(stored(f"{SHA1}  a\n".encode()))
    assert [*entries_in(pipe, "list")] == [Entry(b"a", {"sha1": SHA1}, line=1)]


@pytest.mark.parametrize("format_", ["jsonl", "digests"])
def test_a_nul_is_left_out_only_where_no_format_can_have_it(format_: str) -> None:
    """JSON has an escape for it, and a list of digests no names."""
    entry = Entry(b"a\0b", {"sha1": "0" * 40}, 1)
    [line] = FORMATS[format_].lines([entry], "sha1")
    assert isinstance(line, bytes)
    [copy] = read(line, format_=format_)
    assert isinstance(copy, Entry)
    assert copy.name == (b"a\0b" if format_ == "jsonl" else b"")


@pytest.mark.parametrize("name", FORMATS)
@given(names=st.lists(st.binary(min_size=1) | st.sampled_from(HOSTILE), min_size=1, unique=True))
def test_what_is_written_is_read(name: str, names: list[bytes]) -> None:
    """Every name comes back byte for byte, or is refused: none becomes another."""
    entries = [Entry(name, {"sha1": SHA1}, 1) for name in names]
    written = [*FORMATS[name].lines(entries, "sha1")]
    refused = {line.line for line in written if isinstance(line, BadLine)}
    listed = read(b"".join(line for line in written if isinstance(line, bytes)), format_=name)
    expected = [entry.name for number, entry in enumerate(entries, 1) if number not in refused]
    if name == "digests":
        expected = [b""] * len(expected)
    assert [entry.name if isinstance(entry, Entry) else entry for entry in listed] == expected


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, list[Entry]]:
    """Files with names that a file system allows, each in a folder of its own."""
    entries = []
    for number, name in enumerate(name for name in HOSTILE if not name.startswith(b"\xef")):
        content = b"%d" % number
        key = b"data/%d/" % number + name
        path = tmp_path / key.decode("utf-8", "surrogateescape")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        digests = {
            name: hashlib.new(name, content).hexdigest() for name in ("sha1", "sha256", "md5")
        }
        entries.append(Entry(key, digests, len(content)))
    return tmp_path, entries


def ended(
    folder: Path, *command: str, answer: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a program in *folder*."""
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run(command, cwd=folder, input=answer, capture_output=True, check=False)


def keep(folder: Path, entries: Sequence[Entry], kept: Sequence[Entry]) -> None:
    """Delete the files of the *entries* that are not *kept*."""
    for entry in entries:
        if entry not in kept:
            (folder / entry.name.decode("utf-8", "surrogateescape")).unlink()


def written(format_: str, entries: Sequence[Entry], algorithm: str) -> bytes:
    """The manifest of all *entries* that the format can name."""
    lines = FORMATS[format_].lines(entries, algorithm)
    return b"".join(line for line in lines if isinstance(line, bytes))


@pytest.mark.parametrize("format_", ["sum", "tag"])
@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "md5"])
def test_sums_are_checked_and_read(
    files: tuple[Path, list[Entry]], format_: str, algorithm: str
) -> None:
    """`sha1sum --check` finds every file by our list, and we every name in its."""
    folder, entries = files
    program = f"{algorithm}sum"
    checked = ended(
        folder, program, "--check", "--strict", answer=written(format_, entries, algorithm)
    )
    assert (checked.returncode, checked.stdout.count(b": OK")) == (0, len(entries))
    tag = ("--tag",) if format_ == "tag" else ()
    paths = [entry.name.decode("utf-8", "surrogateescape") for entry in entries]
    listed = ended(folder, program, *tag, *paths).stdout
    assert [
        (entry.name, dict(entry.digests)) for entry in read(listed) if isinstance(entry, Entry)
    ] == [(entry.name, {algorithm: entry.digests[algorithm]}) for entry in entries]


@pytest.mark.parametrize(
    "command", [("shasum",), ("openssl", "dgst", "-r", "-sha1"), ("openssl", "dgst", "-sha1")]
)
def test_other_programs_sums_are_read(
    files: tuple[Path, list[Entry]], command: tuple[str, ...]
) -> None:
    """OpenSSL prints a line break as it is: such a name is two bad lines, not another name."""
    folder, entries = files
    paths = [entry.name.decode("utf-8", "surrogateescape") for entry in entries]
    listed = {
        entry.name
        for entry in read(ended(folder, *command, *paths).stdout)
        if isinstance(entry, Entry)
    }
    known = {entry.name for entry in entries}
    assert listed <= known
    assert {name for name in known if not set(name) & set(b"\r\n\\")} <= listed


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "md5"])
def test_hashdeep_audits_and_is_read(files: tuple[Path, list[Entry]], algorithm: str) -> None:
    """`hashdeep -a` finds every file that our list can name, and we every name in its."""
    folder, entries = files
    nameable = [e for e in entries if not set(e.name) & set(b"\r\n") and normpath(e.name) == e.name]
    keep(folder, entries, nameable)
    known = folder.parent / "known"
    known.write_bytes(written("hashdeep", nameable, algorithm))
    audit = ("hashdeep", "-c", algorithm, "-l", "-r")
    assert b"Audit passed" in ended(folder, *audit, "-a", "-k", str(known), ".").stdout
    listed = read(ended(folder, *audit, ".").stdout)
    assert sorted((e.name, e.size_bytes) for e in listed if isinstance(e, Entry)) == sorted(
        (e.name, e.size_bytes) for e in nameable
    )


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "md5"])
def test_rclone_checks_and_is_read(files: tuple[Path, list[Entry]], algorithm: str) -> None:
    """`rclone checksum` finds every file that our list can name, and we every name in its."""
    folder, entries = files
    nameable = [
        e
        for e in entries
        if isinstance(next(FORMATS["rclone"].lines([e], algorithm)), bytes)
        and normpath(e.name) == e.name
    ]
    assert nameable
    keep(folder, entries, nameable)
    known = folder.parent / "known"
    known.write_bytes(written("rclone", nameable, algorithm))
    checked = ended(folder, "rclone", "checksum", algorithm, str(known), ".", "--combined", "-")
    equal = [line for line in checked.stdout.splitlines() if line.startswith(b"= ")]
    assert (checked.returncode, len(equal)) == (0, len(nameable)), checked
    listed = read(ended(folder, "rclone", "hashsum", algorithm, ".").stdout, format_="rclone")
    assert {
        (entry.name, entry.digests[algorithm]) for entry in listed if isinstance(entry, Entry)
    } == {(entry.name, entry.digests[algorithm]) for entry in nameable}


def test_a_bag_is_valid_and_read(files: tuple[Path, list[Entry]]) -> None:
    """`bagit.py --validate` accepts our manifest; it reads no %25, which RFC 8493 demands."""
    folder, entries = files
    bag = [
        e
        for e in entries
        if b"%" not in e.name and e.name.strip() == e.name and b"\xe9" not in e.name
    ]
    keep(folder, entries, bag)
    (folder / "bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n")
    manifest = written("bagit", bag, "sha256")
    (folder / "manifest-sha256.txt").write_bytes(manifest)
    gone = "class DistributionNotFound(Exception): ...\ndef get_distribution(_): raise {}\n"
    text = gone.format("DistributionNotFound")
    (folder / "pkg_resources.py").write_text(text)  # setuptools has it no longer
    validated = ended(folder, sys.executable, "-m", "bagit", "--validate", ".")
    assert validated.returncode == 0, validated.stderr
    assert [e.name for e in read(manifest, "manifest-sha256.txt") if isinstance(e, Entry)] == [
        e.name for e in bag
    ]
