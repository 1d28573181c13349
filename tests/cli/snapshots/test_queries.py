"""Each question answers what plain Python answers, over hostile, deleted and damaged rows."""

import io
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest
from tests.cli.snapshots.hostile_rows import STRANGE, Hostile, damaged, shared_sample
from tests.cli.snapshots.oracle import Oracle

from bucketsum.algorithms import ALGORITHMS, EXTRA_ALGORITHMS
from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.items import item_of, shown_rows
from bucketsum.table.row_parts import FailedReading, ReadByS3
from bucketsum.table.rows import Row, Status
from bucketsum.table.stored_fields import names_of
from bucketsum_cli.commands.find_list import WANTED, algorithms_of, wanted_in
from bucketsum_cli.commands.lists import ListForm
from bucketsum_cli.manifests.entries import Entry
from bucketsum_cli.manifests.formats import FORMATS
from bucketsum_cli.snapshots import database
from bucketsum_cli.snapshots.database import Database, DuckDb
from bucketsum_cli.snapshots.folder import ROWS, Listed, Snapshot
from bucketsum_cli.snapshots.manifest_lines import lines_of
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.snapshots.storage_prices import put_prices
from bucketsum_cli.snapshots.tables import open_snapshot, open_snapshots

LISTINGS: Final[dict[str, tuple[int, tuple[Listed, ...]]]] = {
    "without a listing": (1, ()),
    "with a listing": (1, (Listed("photos", ""), Listed("films", ""))),
    "10,000 rows in small groups, with a listing of prefixes": (
        5,
        (Listed("photos", "a"), Listed("films", "")),
    ),
}
"""Name of a case → how often it has each row, and what is listed."""
_GROUP_ROWS: Final = 122_880
"""The rows that DuckDB reads at a time, in parallel with others."""


def _copied(copies: int) -> Hostile:
    """The rows under as many keys each, with a mark where there are several."""
    marks = [f"#{number}" for number in range(copies)] if copies > 1 else [""]
    return replace(shared_sample(), marks=marks)


class Case:
    """A snapshot with what is to be answered."""

    def __init__(self, database: Database, oracle: Oracle) -> None:
        self.database = database
        self.oracle = oracle


def open_in_groups(snapshot: Snapshot) -> Database:
    """Open *snapshot*, of whose tables DuckDB reads 2,048 rows at a time."""
    opened = open_snapshot(snapshot)
    if not isinstance(opened.engine, DuckDb):  # Trino has files
        return opened
    opened.engine.close()
    [tables] = snapshot.folder.glob("tables-*.duckdb")
    copied = tables.rename(tables.with_name("copied"))
    with duckdb.connect() as plain:
        plain.execute(f"ATTACH '{copied}' AS copied (READ_ONLY)")
        plain.execute(f"ATTACH '{tables}' AS tables (ROW_GROUP_SIZE 2048)")
        plain.execute("COPY FROM DATABASE copied TO tables")
    opened = open_snapshot(snapshot)
    groups = "SELECT count(DISTINCT row_group_id) > 3 FROM pragma_storage_info('versions')"
    assert [*opened.engine.run(groups)] == [(True,)]
    return opened


@pytest.fixture(scope="module", params=[*LISTINGS.values()], ids=[*LISTINGS])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The snapshot with each of the listings."""
    copies, listed = request.param
    rows = _copied(copies)
    snapshot = rows.write(tmp_path_factory.mktemp("snapshots") / "s", listed)
    opened = open_in_groups(snapshot) if copies > 1 else open_snapshot(snapshot)
    put_prices(opened)
    return Case(opened, Oracle(rows, listed))


def test_the_views_have_every_row_once(case: Case) -> None:
    """Objects, members and deletions are those that the table's own reader finds."""
    got = case.database.engine.run(
        "SELECT bucket, key, version, status, sha1, size_bytes FROM objects"
    )
    expected = Counter(
        (*place, row.status.value, row.sha1, None if row.status == "damaged" else row.size_bytes)
        for place, row in case.oracle.objects.items()
    )
    assert Counter(got) == expected
    assert {row.status for row in case.oracle.objects.values()} == {
        "hashed",
        "unreadable",
        "archived",
        "damaged",
    }
    members = case.database.engine.run(
        "SELECT bucket, key, state, status, sha1, deleted_at IS NOT NULL FROM members"
    )
    assert Counter(members) == Counter(
        (row.bucket, row.key, state, row.status.value, row.sha1, row.deletion is not None)
        for row, state in case.oracle.archived()
    )
    deletions = case.database.engine.run("SELECT bucket, key, version, deleted_by FROM deletions")
    assert Counter(deletions) == case.oracle.deletions()


def test_tables_of_many_rows_are_those_of_few(tmp_path: Path) -> None:
    """Rows of more than one group are loaded and joined as those of one are."""
    copies = _GROUP_ROWS // len(shared_sample().items) + 1
    many = _copied(copies)
    listed = (Listed("photos", "a"), Listed("films", ""))
    snapshots = {"few": shared_sample().write(tmp_path / "few", listed),
                 "many": many.write(tmp_path / "many", listed)}  # fmt: skip
    engine = open_snapshots(snapshots).engine
    for table in ("versions", "members", "deletions"):
        unmarked = "* REPLACE (regexp_replace(key, '#[0-9]+$', '') AS key), count(*) AS copies"
        query = (  # names of ours
            f"SELECT {unmarked} FROM many.{table} GROUP BY ALL "  # noqa: S608
            f"EXCEPT SELECT *, count(*) * {copies} FROM few.{table} GROUP BY ALL"
        )
        assert [*engine.run(query)] == []
        counts = "SELECT (SELECT count(*) FROM many.{0}), (SELECT count(*) FROM few.{0})"
        [(all_rows, rows)] = engine.run(counts.format(table))
        assert all_rows == rows * copies > 0


def test_the_state_of_each_version_is_that_of_the_function(case: Case) -> None:
    """Every question finds it in one column; a version that S3 alone has is not recorded."""
    got = case.database.engine.run("SELECT bucket, key, version, state FROM objects")
    expected = {place: str(state) for place, state in case.oracle.states.items()}
    assert {(b, k, v): state for b, k, v, state in got} == expected
    states = {"hashed", "differs", "repaired", "unreadable", "archived", "deleted", "damaged"}
    listed = {"lost", "not recorded"} if case.oracle.listed else set()
    assert set(expected.values()) == states | listed
    versions = case.database.engine.run("SELECT bucket, key, version FROM versions WHERE present")
    present = {p for p, row in case.oracle.objects.items() if case.oracle.is_present(row)}
    assert Counter(versions) == Counter({*present, *case.oracle.listing})


def test_the_current_object_of_a_key_is_the_listed_one_or_the_newest(case: Case) -> None:
    """A manifest has what a GET returns, with its digest if that is recorded."""
    got = {
        (bucket, key): (version, sha1)
        for bucket in ("photos", "films")
        for bucket, key, version, member, sha1 in [
            (r["bucket"], r["key"], r["version"], r["member"], r["sha1"])
            for r in case.database.ask(
                "export", bucket=bucket, prefix="", with_members=False
            ).records()
        ]
    }
    assert got == {
        place: (version, row.sha1 if row else None)
        for place, (version, row, _) in case.oracle.current.items()
    }


@pytest.mark.parametrize("with_members", [True, False])
def test_duplicates(case: Case, with_members: bool) -> None:  # noqa: FBT001 - a parameter
    """Groups, their copies, bytes and dollars are those of a loop over the rows."""
    answer = case.database.ask(
        "duplicates", bucket="", prefix="", least_bytes=1, with_members=with_members, groups=10_000
    )
    rows = list(answer.records())
    got = {
        r["sha1"]: (r["copies"], r["wasted_bytes"], pytest.approx(r["wasted_usd_per_month"]))
        for r in rows
    }
    assert case.oracle.duplicates(1, with_members=with_members) == got
    assert len(got) == rows[0]["all_groups"] > 10
    assert Counter(r["sha1"] for r in rows) == {sha1: group[0] for sha1, group in got.items()}
    assert sum(group[1] for group in got.values()) == rows[0]["all_wasted_bytes"]


def test_coverage(case: Case) -> None:
    """Each listed version, and each row without one, is counted once, with its reason."""
    got: Counter[tuple[Any, ...]] = Counter()
    for r in case.database.ask("coverage", bucket="", prefix="").records():
        got[r["bucket"], r["folder"], r["storage_class"], r["state"]] += r["objects"]
    assert got == case.oracle.coverage()


def test_find(case: Case) -> None:
    """Every place of a digest of any algorithm is shown, and a digest that nothing has is named."""
    digests = sorted(
        {
            d
            for r in case.oracle.objects.values()
            for d in (r.sha1, *r.digests.values())
            if d and algorithms_of(d)
        }
    )
    digests.append("0" * 40)
    wanted = (
        {"place": n, "name": "\n'\"", "digest": d, **dict.fromkeys(algorithms_of(d), d)}
        for n, d in enumerate(digests)
    )
    case.database.local.put_table("wanted", WANTED, wanted)
    got: Counter[tuple[Any, ...]] = Counter()
    for _, _, digest, bucket, key, *_, deleted_at in case.database.ask("find", bucket=""):
        got[digest, bucket, key, deleted_at is not None] += 1
    expected: Counter[tuple[Any, ...]] = Counter()
    for (digest, bucket, key, _, deleted), count in case.oracle.find(digests).items():
        expected[digest, bucket, key, deleted] += count
    assert got == expected


def test_find_asks_for_all_digests_of_an_entry(case: Case) -> None:
    """A content whose other digest is not that of the list is another content."""
    row = next(r for r in case.oracle.objects.values() if r.sha1 and "sha256" in r.digests)
    lines = [f"{row.sha1},{sha256}\n".encode() for sha256 in ("", row.digests["sha256"], "0" * 64)]
    lines = [b"key,sha1,sha256\n", *(b"a," + line for line in lines)]
    wanted, _ = wanted_in(io.BytesIO(b"".join(lines)), "list", ListForm())
    case.database.local.put_table("wanted", WANTED, wanted)
    places = {(place, key) for place, _, _, _, key, *_ in case.database.ask("find", bucket="")}
    assert [(place, row.key) in places for place in range(3)] == [True, True, False]


def test_plain_queries_need_little_memory(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The join is made at the load, and what does not fit is spilled."""
    [(path,)] = case.database.local.run("SELECT path FROM duckdb_databases() WHERE path <> ''")
    local = DuckDb()
    local.execute(f"ATTACH '{shutil.copy(path, tmp_path / 'copy.duckdb')}' AS copy; USE copy")
    monkeypatch.setattr(database, "_MEMORY_MB", 100)
    monkeypatch.setattr(database, "memory_mb", lambda: 0)
    local.lock()
    counts = set()
    for query in ("FROM objects", "FROM objects WHERE present", "FROM objects ORDER BY sha1, key",
                  "FROM objects a SEMI JOIN objects b ON a.sha1 = b.sha1 AND a.key <> b.key",
                  "SELECT DISTINCT bucket, key, version FROM objects"):  # fmt: skip
        [(count,)] = local.select(f"SELECT count(*) FROM ({query})")  # noqa: S608 - a query of ours
        counts.add(count)
    assert max(counts) == len(case.oracle.objects)


@pytest.mark.parametrize("case", [LISTINGS["with a listing"]], ids=["listed"], indirect=True)
@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("prefix", ["", "k"])
def test_a_line_is_that_of_its_format(case: Case, format_: str, prefix: str) -> None:
    """DuckDB writes those of plain names, which are the same."""
    question: dict[str, Any] = {"bucket": "photos", "prefix": prefix, "with_members": True}
    rows = [
        (row["key"].encode(), (row["member"] or "").encode(), row)
        for row in case.database.ask("export", **question).records()
        if row["sha1"] is None or row["state"] == "hashed"
    ]
    entries = [
        Entry(
            (b"data/" if format_ == "bagit" else b"")
            + (key + (b"!/" + member if member else b"")).removeprefix(prefix.encode()),
            {name: row[name] for name in ALGORITHMS if row[name]},
            row["size_bytes"],
            checksum=(row["s3_checksum"] or "", row["s3_checksum_result"] or ""),
        )
        for key, member, row in sorted(rows, key=itemgetter(0, 1))
    ]
    assert any(entry.name.removeprefix(b"data/").isalnum() for entry in entries)
    lines = [*lines_of(case.database, question, format_, "sha1", prefix)]
    assert lines == [*FORMATS[format_].lines(entries, "sha1")]


def test_totals(case: Case) -> None:
    """Existing objects are counted by bucket, state and storage class."""
    rows = case.database.ask("totals").records()
    got = {
        (r["bucket"], r["state"], r["storage_class"]): r["objects"] for r in rows if r["present"]
    }
    assert got == case.oracle.totals()


def test_a_key_is_data_wherever_a_question_has_one(case: Case) -> None:
    """A prefix that is SQL, or a pattern, selects the keys that begin with it."""
    for prefix in ("'; DROP TABLE items; --", "%", "$prefix", "a\n"):
        answer = case.database.ask("export", bucket="photos", prefix=prefix, with_members=False)
        keys = {r["key"] for r in answer.records()}
        expected = {k for b, k in case.oracle.current if b == "photos" and k.startswith(prefix)}
        assert keys == expected


def is_damaged(item: dict[str, Any]) -> bool:
    """Whether the table's reader cannot read *item*."""
    return any(row.status is Status.DAMAGED for row in shown_rows([item]))


def kinds_of(items: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of *items* with a status or attribute beside, or without, another as none before."""
    combinations: dict[tuple[str, ...], dict[str, Any]] = {}
    for item in sorted(items, key=is_damaged):  # what was damaged before shows least
        combinations.setdefault((str(item.get("status")), *sorted(item)), item)
    names = {name for item in combinations.values() for name in item}
    kinds, known = [], set[tuple[str, str, bool]]()
    for marks, item in combinations.items():
        pairs = {(mark, name, name in item) for mark in marks for name in names}
        if not pairs <= known:
            kinds.append(item)
            known |= pairs
    return kinds


def test_each_way_to_damage_a_row_is_seen(tmp_path: Path) -> None:
    """An attribute of another type or value damages a row exactly where the table's reader says."""
    kinds = kinds_of(shared_sample().items)
    failed_reading = FailedReading("2026-11-24T00:00:00.000Z", "access denied")
    sample = next(row for row in shown_rows(shared_sample().items) if row.status is Status.HASHED)
    compared = Compared(ChecksumResult.DIFFERS, "crc32:AA==", "read as AB==")
    archived = replace(
        sample,
        storage_class="GLACIER",
        failed_reading=failed_reading,
        compared=compared,
        read_by_s3=ReadByS3("job", "2026-11-25T00:00:00.000Z"),
    )
    kinds.append(item_of(archived))
    cases = [
        damaged(item, name, value) | {"object": {"S": f"b/{number}-{name}-{place}"}}
        for number, item in enumerate(kinds)
        for name in sorted(item.keys() - {"object", "entry", "sha1_shard"})
        for place, value in enumerate(STRANGE)
    ]
    expected = {row.key: row.status.value for row in shown_rows(cases)}
    snapshot, local = Hostile(cases).write(tmp_path / "s", ()), DuckDb()
    files = [str(snapshot.folder / file.name) for file in snapshot.of_kind(ROWS)]
    local.execute(query_text("load"), {"files": files})
    got = local.run("SELECT key, status FROM items WHERE kind IN ('object', 'member')")
    assert dict(got) == expected
    names = {key.split("-")[1] for key, status in expected.items() if status == "damaged"}
    attributes = {"object", "entry", *names_of(Row), *(f"digest_{a}" for a in EXTRA_ALGORITHMS)}
    assert attributes - names == {"object", "entry"}
