"""Every command answers for every state of an object, as docs/reference/rows.md says."""

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

import click
import pytest
from bench.tables.document import rows_of
from tests.cli.conftest import Run
from tests.cli.deployed import (
    BUCKET,
    change,
    hashed,
    put_object,
    record_archive,
    record_deletion,
)
from tests.cli.reporting import reporting
from tests.cli.snapshots.hostile_rows import Hostile

from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.items import item_of, key_of
from bucketsum.table.row_parts import Difference, FailedReading, Verified
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.sequencer import NO_SEQUENCER, comparable_sequencer
from bucketsum.table.state import ObjectState
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.commands.root import cli
from bucketsum_cli.snapshots.folder import Listed

Answers: TypeAlias = Mapping[str, str]

AT: Final = "2098-01-01T00:00:00.000Z"
"""Since every run of the test, however long that takes."""
LATER: Final = "2099-01-01T00:00:00.000Z"
PAGE: Final = Path(__file__).parents[3] / "docs" / "reference" / "rows.md"
NOTHING: Final = "–"
GOOD: Final = {"hashed", "equal", "copy", "listed", "verified"}
UNSOUND: Final = frozenset(ObjectState) - {ObjectState.HASHED, ObjectState.HIDDEN}
"""States in which the content of the version is not there, or not known to be the recorded one."""

FACTS: Final[dict[str, dict[str, Any]]] = {
    "hashed/verified": {},
    "hashed/tag": {"etag": "of another program"},
    "differs/read": {"difference": Difference("sha1:00", LATER)},
    "differs/checksum": {
        "compared": Compared(ChecksumResult.DIFFERS, "crc32:AA==", "crc32:AB== as read")
    },
    "repaired/read": {"difference": Difference("sha1:00", LATER)},
    "unreadable/never": {
        "status": Status.UNREADABLE,
        "sha1": None,
        "reason": "no key",
        "verified": None,
    },
    "unreadable/tag": {
        "status": Status.UNREADABLE,
        "sha1": None,
        "reason": "no right",
        "verified": None,
        "etag": "of another program",
    },
    "unreadable/since": {"failed_reading": FailedReading(LATER, "denied")},
    "archived/class": {
        "status": Status.ARCHIVED,
        "sha1": None,
        "storage_class": "GLACIER",
        "verified": None,
    },
    "lost/gone": {"verified": None},
    "deleted/known": {},
    "hidden/marker": {},
    "not recorded/put": {},
    "damaged/size": {},
}
"""Key → what its row has, beside a digest that was verified; its state is the first folder."""
NO_ROW: Final = ("not recorded/put",)
REPAIRED: Final = ("repaired/read",)
"""What is asked about the key is answered about its newer version."""
DELETED: Final = ("deleted/known",)
GONE: Final = (*DELETED, "lost/gone")
HIDDEN: Final = ("hidden/marker",)
DAMAGED: Final = ("damaged/size",)

OTHERS: Final = frozenset({
    "attach", "backfill", "buckets", "delete", "detach", "estimate", "failures", "import",
    "local", "put", "redrive", "selftest", "snapshot", "status", "stop", "tune",
})  # fmt: skip
"""Commands that neither judge objects nor print their states."""


def planted(stack: Stack) -> dict[str, Row]:
    """Plant a sound object for each key, and a copy of it; key → row."""
    rows = {}
    for key, facts in FACTS.items():
        for name in (key, f"hashed/copy of {key}"):
            class_: Any = facts.get("storage_class", "STANDARD")
            put = stack.client("s3").put_object(
                Bucket=BUCKET, Key=name, Body=key.encode(), StorageClass=class_
            )
            place = RowKey(BUCKET, name, put["VersionId"])
            rows[name] = hashed(place, key.encode(), verified=Verified(AT, 1))
            stack.digests_table().record(rows[name])
    return {key: rows[key] for key in FACTS}


def spoil(stack: Stack, key: str, row: Row) -> None:
    """Let the object *key* come into its state."""
    s3, dynamodb = stack.client("s3"), stack.client("dynamodb")
    changed, at = replace(row, **FACTS[key]), RowKey(BUCKET, key, row.entry)
    if changed != row:
        dynamodb.put_item(TableName=stack.table, Item=item_of(changed))
    if key in NO_ROW:
        dynamodb.delete_item(TableName=stack.table, Key=key_of(at))
    if key in REPAIRED:
        newer = put_object(stack, key, key.encode())
        stack.digests_table().record(replace(row, entry=newer.entry, sequencer="02"))
    if key in DELETED:
        record_deletion(stack, row)
    if key in GONE:
        s3.delete_object(Bucket=BUCKET, Key=key, VersionId=row.entry)
    if key in HIDDEN:
        s3.delete_object(Bucket=BUCKET, Key=key)
    if key in DAMAGED:
        change(stack, key_of(at), "size_bytes", {"S": "x"})


@dataclass(frozen=True, slots=True)
class World:
    """The planted objects, and a snapshot of them after one when all were sound."""

    run: Run
    stack: Stack
    versions: Mapping[str, str]
    before: Path
    after: Path
    sums: Path
    report: Callable[[], str]

    def of_versions(self, entries: Iterable[Mapping[str, Any]], name: str) -> Answers:
        """Key → what *entries* say about its planted version."""
        return {
            entry["key"]: entry[name]
            for entry in entries
            if self.versions.get(entry["key"]) == entry["version"]
        }

    def ask(self, *arguments: object) -> Any:  # noqa: ANN401 - JSON
        """The document that a question of the snapshot answers."""
        return self.run(*arguments, "--snapshot", self.after, "--json").document

    def compare(self, *sides: object) -> Answers:
        """Key → result of a comparison; what is not shown, and exists, is equal."""
        document = self.ask("compare", *sides, "--limit", 100)
        shown = {d["right_name"] or d["left_name"]: d["result"] for d in document["differences"]}
        listed = self.stack.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]
        equal = {entry["Key"] for entry in listed} - shown.keys()
        assert len(equal) == document["counts"]["equal"]
        return shown | dict.fromkeys(equal - set(REPAIRED), "equal")


def ls(world: World) -> Answers:
    """All versions, by their status."""
    return world.of_versions(world.run("ls", "--all-versions", "--json").document, "status")


def show(world: World) -> Answers:
    """Each key by itself."""
    shown = [world.run("show", key, "--json").document["versions"] for key in world.versions]
    return world.of_versions(chain.from_iterable(shown), "state")


def find(world: World) -> Answers:
    """All digests at once, by the index."""
    digests = [hashlib.sha1(key.encode()).hexdigest() for key in world.versions]
    answered = world.run("find", *digests, "--json").document
    return world.of_versions(chain.from_iterable(f["objects"] for f in answered), "state")


def find_list(world: World) -> Answers:
    """All digests of a list, in the snapshot."""
    answered = world.ask("find", "--list", world.sums)
    return world.of_versions(chain.from_iterable(f["objects"] for f in answered), "state")


def check(world: World) -> Answers:
    """A list of what was uploaded, with the objects that are there now."""
    files = world.run("check", "--sums", world.sums, "--json").document["files"]
    return {file["key"]: file["result"] for file in files if file["key"] not in REPAIRED}


def coverage(world: World) -> Answers:
    """The states of a folder; but for the newer version of a repaired object."""
    parts = world.ask("coverage", BUCKET)["parts"]
    states = [(p["folder"][:-1], p["state"]) for p in parts]
    return {
        key: state
        for key in world.versions
        for folder, state in states
        if key.startswith(f"{folder}/") and (folder, state) != ("repaired", "hashed")
    }


def duplicates(world: World) -> Answers:
    """An object beside its sound copy."""
    groups = world.ask("duplicates", "--limit", 100)["groups"]
    copies = chain.from_iterable(group["objects"] for group in groups)
    return dict.fromkeys(world.of_versions(copies, "version"), "copy")


def export(world: World) -> Answers:
    """The lines of a list."""
    lines = world.run("export", BUCKET, "--snapshot", world.after).out.splitlines()
    return dict.fromkeys({line.partition("  ")[2] for line in lines} - set(REPAIRED), "listed")


def changes(world: World) -> Answers:
    """Since all were sound."""
    document = world.run("changes", world.before, world.after, "--limit", 100, "--json").document
    answered = [
        version | {"change": p["change"]} for p in document["parts"] for version in p["first"]
    ]
    return world.of_versions(answered, "change")


def page(world: World) -> Answers:
    """The rows of its table of problems, each with the first key of a reason."""
    html = world.run("page", "--snapshot", world.after, "-o", "-").out
    section = re.split(r'<section id="', html)[2]
    rows = [re.findall(r"<bdi>([^<]*)", row) for row in section.split("<tr>")]
    place = f"s3://{BUCKET}/"
    return {row[3].removeprefix(place): row[0] for row in rows if row and place in row[3]}


def sql(world: World) -> Answers:
    """The column `state` of versions."""
    return world.of_versions(world.ask("sql", "SELECT key, version, state FROM versions"), "state")


def verify(world: World) -> Answers:
    """The findings of a report, and what it counts without a name."""
    world.report()
    [bucket] = world.run("verify", "report", "last", "--json").document["buckets"]
    counts = {line["standing"]: line["rows"] for line in bucket["balance"]}
    sound = [key for key in FACTS if key.startswith(("hashed", "hidden"))]
    assert counts["verified"] == len(FACTS) + len(sound) + len(REPAIRED)
    archived = [key for key in FACTS if key.startswith("archived")]
    assert counts["archived"] == len(archived)
    counted = dict.fromkeys(sound, "verified") | dict.fromkeys(archived, "archived")
    answered = csv.DictReader(io.StringIO(world.run("verify", "report", "last", "--csv").out))
    return {**counted, **world.of_versions(answered, "kind")}


def repair(world: World) -> Answers:
    """The version of each key that a copy would repair."""
    ended = [
        world.run("repair", key, "--dry-run", "--overwrite", "--json") for key in world.versions
    ]
    return world.of_versions((run.document for run in ended if run.out), "state")


COMMANDS: Final[Mapping[str, Callable[[World], Answers]]] = {
    "ls": ls,
    "show": show,
    "find": find,
    "find --list": find_list,
    "check": check,
    "compare": lambda world: world.compare(BUCKET, BUCKET),
    "compare LIST": lambda world: world.compare(BUCKET, world.sums),
    "coverage": coverage,
    "duplicates": duplicates,
    "export": export,
    "changes": changes,
    "page": page,
    "sql": sql,
    "verify": verify,
    "repair": repair,
}
"""Commands that judge objects, or print their states."""


@pytest.fixture
def world(run: Run, stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Objects, first all sound, then in each state."""
    before, after, sums = tmp_path / "before", tmp_path / "after", tmp_path / "list.sha1"
    rows = planted(stack)
    run("snapshot", "--listing", "--to", before)
    for key, row in rows.items():
        spoil(stack, key, row)
    versions = {key: row.entry for key, row in rows.items()}
    run("snapshot", "--listing", "--to", after)
    lines = (
        f"{hashlib.sha1(key.encode()).hexdigest()}  {name}\n"
        for key in versions
        for name in (key, f"hashed/copy of {key}")
    )
    sums.write_text("".join(lines))
    return World(run, stack, versions, before, after, sums, reporting(stack, monkeypatch))


def test_every_command_answers_for_every_state(world: World) -> None:
    """All objects of a state have one answer, which the table has; none that is unsound is good."""
    answers = {name: ask(world) for name, ask in COMMANDS.items()}
    table: dict[ObjectState, list[str]] = {state: [] for state in ObjectState}
    for state in ObjectState:
        keys = [key for key in world.versions if key.startswith(f"{state}/")]
        for command, of_command in answers.items():
            answered = {of_command.get(key, NOTHING) for key in keys}
            assert len(answered - {NOTHING}) <= 1, (state, command, answered)
            assert state not in UNSOUND or not answered & GOOD, (state, command, answered)
            table[state].append(" or ".join(sorted(answered, reverse=True)))
    rows = [(f"`{state}`", *cells) for state, cells in table.items()]
    shown = rows_of(("state", *COMMANDS), rows)
    assert f"<!-- bench states -->\n{shown}\n<!-- /bench" in PAGE.read_text("utf-8"), f"\n{shown}"


def test_every_command_judges_or_does_not() -> None:
    """A new command has its column, or is named among those that do not look at objects."""
    judging = {name.partition(" ")[0] for name in COMMANDS}
    assert judging | OTHERS == set(cli.list_commands(click.Context(cli)))
    assert not judging & OTHERS


def test_the_page_names_each_status() -> None:
    """A new status of rows reaches the reader."""
    [line] = re.findall(r"\| `status` \|.*", PAGE.read_text("utf-8"))
    assert set(Status) - {Status.DAMAGED} <= set(re.findall(r"`(\w+)`", line))


def test_a_member_is_known_only_as_well_as_its_archive(run: Run, stack: Stack) -> None:
    """A copy in a rotten archive is not one to keep, and its digest is not answered to hold."""
    place = put_object(stack, "copy", b"same")
    stack.digests_table().record(hashed(place, b"same"))
    record_archive(stack, {"m": b"same", "n": b"n"}, difference=Difference("sha1:00", LATER))
    assert run("duplicates", "--members", "--json").document["groups"] == []
    [member] = run("show", "a.zip!/m", "--json").document["versions"]
    assert member["state"] == "differs"
    digest = hashlib.sha1(b"n").hexdigest()
    listing = ("ls", "a.zip", "--members")
    finding = ("find", digest)
    for command in (finding, (*finding, "--snapshot", "last"), listing, (*listing, "--json")):
        answered = run(*command).assert_no()
        assert "differs" in answered.out


@pytest.mark.parametrize(
    ("name", "value", "state"),
    [
        ("sequencer", comparable_sequencer("0A"), "hashed"),
        ("sequencer", "weird", "damaged"),
        ("etag", "of another program", "hashed"),
    ],
)
def test_members_of_a_version_are_its_own(
    run: Run, stack: Stack, tmp_path: Path, name: str, value: str, state: str
) -> None:
    """It was listed before its event, which has verified it since; or another program came."""
    version = record_archive(stack, {"m": b"m"}, NO_SEQUENCER)
    change(stack, key_of(RowKey(BUCKET, "a.zip", version)), name, {"S": value})
    [member] = run("show", "a.zip!/m", "--json").document["versions"]
    digest = hashlib.sha1(b"m").hexdigest()
    [indexed] = run("find", digest, "--json").document["objects"]
    run("snapshot", "--listing", "--to", tmp_path / "rows")
    [stored] = run("find", digest, "--snapshot", tmp_path / "rows", "--json").document
    [at] = stored["objects"]
    assert (member["state"], indexed["state"], at["state"]) == (state, state, state)


def test_what_was_not_listed_is_not_judged(run: Run, tmp_path: Path) -> None:
    """Rows alone do not say what S3 has now; nothing selected is not complete."""
    row = hashed(RowKey("pix", "good", "null"), b"x", comparable_sequencer("1"))
    bare = Hostile([item_of(row)]).write(tmp_path / "bare", ()).folder
    lines = tmp_path / "list.sha1"
    lines.write_text(f"{row.sha1}  good\n")
    for command in (
        ("compare", f"{bare}#pix", lines),
        ("coverage", "--snapshot", bare),
        ("export", "pix", "--snapshot", bare),
        ("duplicates", "--snapshot", bare),
    ):
        run(*command).assert_refused("has no listing of s3://pix/")
    answered = run("find", "--list", lines, "--snapshot", bare).assert_no()
    assert "S3 was not listed: what is shown in pix may be gone" in answered.err
    empty = Hostile().write(tmp_path / "empty", [Listed("pix", "")]).folder
    run("coverage", "--snapshot", empty).assert_refused("there is no object")
