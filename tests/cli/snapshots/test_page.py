"""The page of a snapshot: its answers, hostile keys, its size, and its publication."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

import pytest
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, hashed, put_and_record
from tests.cli.snapshots.changes_oracle import sql_time
from tests.cli.snapshots.hostile_rows import NAMES, Hostile, hostile, shared_sample
from tests.cli.snapshots.oracle import Oracle, place_of

from bucketsum.table.checksum_values import ChecksumResult, Compared
from bucketsum.table.items import item_of
from bucketsum.table.row_parts import Difference, FailedReading
from bucketsum.table.rows import Row, RowKey, Status
from bucketsum.table.state import ObjectState
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.html.markup import coded
from bucketsum_cli.page.answers import answers_of
from bucketsum_cli.page.figures import Figures, figures_of
from bucketsum_cli.page.history import keep, pages_before, totals_of
from bucketsum_cli.page.page import _shares_text, page_of
from bucketsum_cli.snapshots.folder import Listed, Snapshot
from bucketsum_cli.snapshots.storage_prices import put_prices
from bucketsum_cli.snapshots.tables import open_snapshot
from bucketsum_cli.terminal.formatting import tally_text
from bucketsum_cli.terminal.output import printable

LISTED: Final = (Listed("photos", ""), Listed("films", ""))
READ_AGAIN: Final = (ObjectState.DIFFERS, ObjectState.REPAIRED)
TAGS: Final = (
    "html head meta title style body header main section p span h1 h2 dl div dt dd a bdi table "
    "thead tbody tr th td figure svg rect details summary code"
)
ATTRIBUTES: Final = (
    "lang charset name content http-equiv class id href role aria-label tabindex scope viewbox "
    "preserveaspectratio x y width height"
)


class ParsedPage(HTMLParser):
    """The page as a browser's parser sees it: elements, answers, and the rows of each section."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str | None] = set()
        self.rows: defaultdict[str, list[list[str]]] = defaultdict(list)
        self.answers: list[str] = []
        self.commands: list[str] = []
        self.headline = ""
        self._section = self._tag = ""
        self._is_isolated = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep it."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value for name, value in attrs if name == "href"}
        if tag == "section":
            self._section = str(dict(attrs)["id"])
        elif tag == "tr":
            self.rows[self._section].append([])
        elif tag == "td":
            self.rows[self._section][-1].append("")
        elif tag == "bdi":
            self._is_isolated = True
            self.answers += [""] * (not self._section)
        self._tag = tag

    def handle_data(self, data: str) -> None:
        """Add it to the cell or to the answer."""
        if self._tag == "h1":
            self.headline += data
        elif self._is_isolated and self._section:
            self.rows[self._section][-1][-1] += data
        elif self._is_isolated:
            self.answers[-1] += data
            self.commands += [data] * (self._tag == "code")

    def handle_endtag(self, tag: str) -> None:
        """A cell or an answer ends."""
        self._is_isolated = self._is_isolated and tag != "bdi"
        self._tag = ""


def figures(snapshot: Snapshot) -> Figures:
    """Everything that the page shows."""
    database = open_snapshot(snapshot)
    put_prices(database)
    return figures_of(database, snapshot)


def html_of(snapshot: Snapshot, shown: Figures) -> str:
    """The page, which has none before it."""
    totals = totals_of(snapshot, shown)
    return page_of(snapshot, shown, [*answers_of(shown, totals, ())], [totals])


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> tuple[Snapshot, Figures]:
    """A snapshot of hostile rows, and its figures."""
    snapshot = shared_sample().write(tmp_path_factory.mktemp("snapshots") / "s", LISTED)
    return snapshot, figures(snapshot)


def counted(rows: Sequence[Any], name: str, count: str = "objects") -> dict[str, int]:
    """The rows by one column."""
    return {str(row[name]): row[count] for row in rows}


def test_the_figures_are_those_of_a_loop_over_the_rows(case: tuple[Snapshot, Figures]) -> None:
    """States, verifications, days and sizes are counted over all versions."""
    sections, oracle = case[1], Oracle(shared_sample(), LISTED)
    whole = [row for row in oracle.objects.values() if row.status != "damaged"]
    states = Counter(str(state) for *_, state in oracle.coverage().elements())
    states["deleted"] = sum(state == "deleted" for state in oracle.states.values())
    states["unreadable member"] = sum(
        row.status != "hashed" and row.deletion is None for row, _ in oracle.archived()
    )
    assert counted(sections.problems, "state", "state_objects") == states - Counter(
        hashed=states["hashed"]
    )
    verified = Counter(
        any(
            reading and sql_time(reading.at)
            for reading in (
                row.verified,
                row.difference if oracle.states[place_of(row)] in READ_AGAIN else None,
            )
        )
        for row in whole
        if oracle.is_present(row) and row.sha1
    )
    ages = counted(sections.verification, "verified")
    assert (ages["never"], sum(ages.values())) == (verified[False], verified.total())
    days = Counter(row.arrived_at[:10] for row in whole)
    assert {day: n for day, n in counted(sections.arrivals, "day").items() if n} == days
    listed = [v["size_bytes"] for v in shared_sample().listing]
    assert [row["size_bytes"] for row in sections.list_of("largest")] == sorted(listed)[:-11:-1]


def test_what_differs_or_is_unreadable_has_a_digest(tmp_path: Path) -> None:
    """Digests, readings and checksums are counted by themselves, not by the state."""
    differing: dict[str, Any] = {"difference": Difference("sha1:00", "2026-11-24T00:00:00Z")}
    refused: dict[str, Any] = {
        "failed_reading": FailedReading("2026-11-24T00:00:00Z", "denied"),
        "compared": Compared(ChecksumResult.EQUAL, "crc32:AA=="),
    }
    rows = [
        hashed(RowKey("p", "repaired", "1"), b"x", **differing),
        hashed(RowKey("p", "repaired", "2"), b"x", "02"),
        hashed(RowKey("p", "unreadable", "1"), b"y", **refused),
        hashed(RowKey("p", "differs", "1"), b"z", **differing),
    ]

    def answers(*shown: Row) -> dict[str, str]:
        snapshot = Hostile([*map(item_of, shown)]).write(tmp_path / str(len(shown)), ())
        sections = figures(snapshot)
        given = answers_of(sections, totals_of(snapshot, sections), ())
        return {answer.question: answer.answer for answer in given}

    archived = replace(rows[0], key="a", status=Status.ARCHIVED, sha1=None, difference=None)
    assert answers(*rows, archived)["Does every object have a digest?"].startswith(
        "No: 80.00 % have a digest; 1 archived;"
    )
    four = answers(*rows)
    assert four["Does every object have a digest?"].startswith("Yes: 100 % have a digest;")
    assert "50.00 % were read again" in four["When was this last verified?"]
    assert "compare: 25.00 % of the digests" in four["Do S3's own checksums agree?"]
    assert "`bucketsum repair s3://p/differs` " in four["What is worst, and what to do?"]
    changed = answers(*rows[:2])["Has any content changed since it was recorded?"]
    assert changed == "Yes, of 1 object: a newer version has the recorded one"


def test_the_page_shows_the_figures(case: tuple[Snapshot, Figures]) -> None:
    """A bucket is a line, the largest first; the worst answer stands first; no copy is the last."""
    sections, page = case[1], ParsedPage(html_of(*case))
    lengths = {"problems": len(sections.problems), "largest": 10, "newest": 10, "gone": 15}
    for name, count in lengths.items():
        assert len([row for row in page.rows[name] if row]) == count > 0, name
    buckets = {row["bucket"]: row["objects"] for row in sections.buckets()}
    assert buckets == Counter(version["bucket"] for version in shared_sample().listing)
    sizes = [row["size_bytes"] for row in sections.buckets()]
    assert sizes == sorted(sizes, reverse=True)
    shown = [(row[0], row[1]) for row in page.rows["stored"] if row]
    assert shown == [(bucket, f"{count:,}") for bucket, count in buckets.items()]
    states = Oracle(shared_sample(), LISTED).states.values()
    gone = {state: sum(of == state for of in states) for state in (ObjectState.LOST, "deleted")}
    assert all(sections.states[state] == count > 0 for state, count in gone.items())
    assert sections.is_listed
    differing = sections.problems[0]["state_objects"]
    problems = f"{differing} differ, {gone[ObjectState.LOST]} lost,"
    assert f"Yes: {problems}" in page.answers[1]
    assert page.headline.startswith(problems)
    assert [command.split()[1] for command in page.commands] == ["show", "repair"]
    assert f"the last reading of {differing} objects differed" in page.answers[3]
    for group in sections.duplicates:
        assert len({row["sha1"] for row in group}) == 1
        assert len({(row["bucket"], row["key"], row["version"]) for row in group}) == len(group) > 1
    copies = sum(len(group) - 1 for group in sections.duplicates)
    assert len([row for row in page.rows["duplicates"] if row]) == copies > 0


def test_a_page_says_what_changed_since_the_one_before(
    case: tuple[Snapshot, Figures], tmp_path: Path
) -> None:
    """Pages of the same table are kept, once for each time; a damaged line is not one."""
    snapshot, sections = case
    now = totals_of(snapshot, sections)
    old = replace(now, ended_at="2026-11-01T00:00:00Z", objects=now.objects - 1200,
                  size_bytes=now.size_bytes + 5, states={"hashed": 1, "gone by": 2})  # fmt: skip
    for totals in (old, old, now, replace(old, ended_at="2026-10-01T00:00:00Z")):
        keep(snapshot, totals)
    (file,) = (tmp_path / "home/pages").iterdir()
    form = '{"ended_at": "", "objects": %s, "size_bytes": 0, "states": %s}'
    damaged = ('{"ended_at": 1}', "[]", "{", form % ('"x"', "{}"), form % (1, "[]"), "[" * 50_000)
    with file.open("a") as lines:
        lines.writelines(f"{line}\n" for line in damaged)
    before = pages_before(snapshot)
    assert [page.ended_at[:10] for page in before] == ["2026-11-01", "2026-10-01"]
    assert before[0] == old
    assert pages_before(replace(snapshot, stack="other")) == []
    answers = {a.section: a.answer for a in answers_of(sections, now, before)}
    lost = sections.states["lost"]
    for change in (
        "+1,200 objects, ",
        f" +{lost} lost,",
        " -2 gone by,",
        ", -5 B, since 2026-11-01",
    ):
        assert change in answers["trend"]


def test_keys_are_inert(case: tuple[Snapshot, Figures]) -> None:
    """No key makes an element or an attribute, runs backwards or hides; the page needs nothing."""
    sections, row = case[1], case[1].list_of("newest")[0]
    attacks = [
        *NAMES,
        "`bucketsum ls`",
        "'\"><script>alert(1)</script><img src=x onerror=alert(2)>",
    ]
    newest = [{**row, "bucket": "b", "key": name, "state": name} for name in attacks]
    problem = {**sections.problems[0], "reason": attacks[-1], "first_key": attacks[-1]}
    named = [*newest, *({**row, "list": "largest"} for row in newest[::-1])]
    shown = replace(sections, named=named, problems=[problem])
    html = html_of(case[0], shown)
    page = ParsedPage(html)
    assert page.tags <= {*TAGS.split()}
    assert page.attributes <= {*ATTRIBUTES.split()}
    assert page.links <= {f"#{name}" for name in (*page.rows, "arrivals", "gone")}
    assert printable(html.replace("\n", "")) == html.replace("\n", "")
    keys = [cells[0] for cells in page.rows["newest"] if cells]
    expected = [printable(f"s3://b/{name}") for name in attacks]
    assert [s for s, e in zip(keys, expected, strict=True) if s != e] == [
        f"{expected[11][:270]} … {'k' * 50}"
    ]


def test_a_page_is_small_whatever_the_rows_hold(tmp_path: Path) -> None:
    """The longest names, in any number, stay below 300 kB."""
    sample = Hostile()
    for number, item in enumerate(hostile(1500).items):
        sample.items.append(item)
        if "status" in item and item["status"].get("S") == "unreadable":
            item["reason"] = {"S": f"{'&' * 2000}{number}"}
        item["object"] = {"S": f"{'&' * 63}{number}/{'&' * 900}"}
    snapshot = sample.write(tmp_path / "s", ())
    sections = figures(snapshot)
    assert len(sections.buckets()) > 100
    html = html_of(snapshot, sections)
    assert len(html.encode()) < 300_000
    assert " more</td>" in html


def test_an_empty_stack_has_a_page(run: Run, stack: Stack, tmp_path: Path) -> None:
    """Nothing is broken, and nothing is known that was not looked for."""
    file = tmp_path / "page.html"
    assert run("page", "--output", file).out == f"{file}\n"
    page = ParsedPage(file.read_text("utf-8"))
    assert page.answers[:2] == [
        "0 objects, 0 B, in 0 buckets",
        "No: nothing differs, is lost or unreadable",
    ]
    assert page.headline == "There are no objects"
    put_and_record(stack, "a", b"x")
    run("snapshot")
    unlisted = run("page", "--snapshot", "last", "--output", file, "--json").document
    good = {answer["question"]: answer["is_good"] for answer in unlisted["answers"]}
    assert good["Is anything broken?"] is good["Does every object have a digest?"] is None
    headline = ParsedPage(file.read_text("utf-8")).headline
    assert headline == "Nothing broken is known; not all of S3 was listed"
    assert stack.name in file.read_text("utf-8")
    run("page", "--output", file)
    assert ParsedPage(file.read_text("utf-8")).headline == "Nothing is broken"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("do `bucketsum ls` or `bucketsum ls x`", ["bucketsum ls", "bucketsum ls x"]),
        ("do `bucketsum show 's3://b/a`b`c'`: d`e", ["bucketsum show 's3://b/a`b`c'"]),
        ("""`bucketsum show 's3://b/`'"'"'`'` f""", ["""bucketsum show 's3://b/`'"'"'`'"""]),
        ("4 B: s3://b/a`b`c", []),
        ("cut off: `bucketsum show 's3://b/a", []),
    ],
)
def test_commands_are_code_and_keys_stay_as_they_are(text: str, code: list[str]) -> None:
    """A backtick of a key is neither lost nor the end of a command."""
    parts = [*coded(text)]
    assert [part.text for part in parts if isinstance(part, ET.Element)] == code
    marked = "".join(part if isinstance(part, str) else f"`{part.text}`" for part in parts)
    assert marked == text


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ({"A": 1, "B": 1, "C": 1}, "A 34 %, B 33 %, C 33 %"),
        ({"A": 665, "B": 335}, "A 67 %, B 33 %"),
        ({"A": 10**12, "B": 1}, "A >99 %, B <1 %"),
        ({"A": 600, "B": 398, "C": 2}, "A 60 %, B 40 %, C <1 %"),
        ({"A": 5, "B": 0}, "A 100 %"),
        ({None: 5}, "unknown"),
    ],
)
def test_the_shares_of_classes_add_up(sizes: dict[str | None, int], text: str) -> None:
    """Whole percents are 100 together; a part that is there is neither nothing nor everything."""
    assert _shares_text(sizes) == text


def test_a_page_says_that_it_is_of_the_local_emulator(case: tuple[Snapshot, Figures]) -> None:
    """Nobody mistakes its numbers for those of an account."""
    snapshot, sections = case
    assert "the local emulator" not in html_of(snapshot, sections)
    assert "the local emulator" in html_of(replace(snapshot, account="0" * 12), sections)


def test_a_published_page_has_a_link_that_expires(run: Run, stack: Stack) -> None:
    """The link is signed for the chosen time and the bucket's Region, and its end is said."""
    put_and_record(stack, "a<b>", b"x")
    place: Any = {"LocationConstraint": "eu-west-1"}
    s3 = stack.client("s3")
    s3.create_bucket(Bucket="elsewhere", CreateBucketConfiguration=place)
    ended = run("page", "--publish", "s3://elsewhere/reports/p.html", "--days", 2).assert_done()
    link = urlsplit(ended.out.strip())
    values = parse_qs(link.query)
    assert link.path.endswith("reports/p.html")
    assert values["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert "/eu-west-1/s3/" in values["X-Amz-Credential"][0]
    assert values["X-Amz-Expires"] == [str(2 * 24 * 3600)]
    assert "the link ends on 20" in ended.err
    stored = s3.get_object(Bucket="elsewhere", Key="reports/p.html")
    assert stored["ContentType"] == "text/html; charset=utf-8"
    assert b"s3://inbox/a&lt;b&gt;" in stored["Body"].read()
    document = run("page", "--publish", f"s3://{BUCKET}/p", "--snapshot", "last", "--json").document
    assert (document["file"], document["url_expires_at"] > "2026") == (None, True)
    run("page", "--publish", f"s3://{BUCKET}").assert_refused("has no key, as in s3://BUCKET/KEY")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of snapshots, and the current folder."""
    monkeypatch.setenv("BUCKETSUM_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def test_a_tally_agrees_with_its_numbers() -> None:
    """Verbs and nouns have the number that stands before them."""
    assert tally_text({"differs": 1, "unreadable member": 2}) == "1 differs, 2 unreadable members"
    assert tally_text({"differs": 2, "unreadable member": 1}) == "2 differ, 1 unreadable member"
