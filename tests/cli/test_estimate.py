"""`bucketsum estimate`: a price without a stack."""

import pytest
from tests.cli.conftest import Run
from tests.support.sam_template import load_template

ARCHIVE = ("--objects", "12000000", "--mean-size", "3.3MB")


def test_an_archive_has_a_price_without_a_stack(run: Run) -> None:
    """No credentials, no Region and no stack: nothing is asked."""
    shown = run(
        "estimate",
        *ARCHIVE,
        "--class",
        "STANDARD_IA=25%",
        "--class",
        "DEEP_ARCHIVE=15%",
        "--algorithms",
        "sha256,md5",
        "--verify",
        "90d",
    )  # fmt: skip.assert_done()
    text = " ".join(shown.out.split())
    assert "12,000,000 objects, 39.6 TB: 25 % STANDARD_IA, 15 % DEEP_ARCHIVE, 60 % STANDARD" in text
    assert "VerifySchedule='rate(7 days)' VerifyOlderThanDays=83 " in text
    assert "VerifyStorageClasses=STANDARD,STANDARD_IA" in text
    assert "with 256 MB, an invocation computes sha1, sha256, md5 at 36 MB/s" in text
    assert "left out: 5.9 TB in DEEP_ARCHIVE, which S3 cannot read" in text


def test_json_has_the_lines_and_the_first_reading(run: Run) -> None:
    """The document is the table, and the estimate of the backfill."""
    price = run("estimate", *ARCHIVE, "--verify", "4w", "--json").document
    assert [line["item"] for line in price["lines"]].count("sum") == 5
    assert price["first"]["limited_by"] == "BackfillConcurrency"
    once = run("estimate", *ARCHIVE, "--json").document
    assert sum(line["usd_per_year"] for line in once["lines"] if line["item"] != "sum") == (
        pytest.approx(12 * once["first"]["rows_usd_per_month"])
    )


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--class", "COLD=25%"), "STANDARD_IA=25%; the classes are STANDARD"),
        (("--class", "STANDARD_IA"), "STANDARD_IA=25%"),
        (("--class", "STANDARD_IA=0%"), "is not a share such as 1%"),
        (("--class", "STANDARD_IA=60%", "--class", "GLACIER=60%"), "at most 100%"),
        (("--class", "STANDARD_IA=6%", "--class", "STANDARD_IA=6%"), "once"),
        (("--algorithms", "sha3"), "not one of sha1, sha256, sha512, md5, crc32"),
        (("--algorithms", "md5,"), "not one of"),
        (("--verify", "1d"), "at least 2d"),
        (("--verify", "soon"), "is not an age such as 90d"),
        (("--mean-size", "large"), "is not a valid size"),
        (("--objects", "0"), "0 is not in the range"),
        (("--memory", "64"), "64 is not in the range"),
    ],
)
def test_bad_values_are_named(run: Run, arguments: tuple[str, ...], reason: str) -> None:
    """The error has the value and the allowed ones."""
    run("estimate", *ARCHIVE, *arguments).assert_refused(reason)


def test_the_defaults_are_the_templates(run: Run) -> None:
    """An estimate without a stack is that of a stack without parameters."""
    defaults = {name: p["Default"] for name, p in load_template()["Parameters"].items()}
    memory, concurrency = defaults["MemorySize"], defaults["BackfillConcurrency"]
    named = run("estimate", *ARCHIVE, "--memory", memory, "--concurrency", concurrency)
    assert run("estimate", *ARCHIVE).out == named.out
    assert defaults["BatchSize"] == 10
