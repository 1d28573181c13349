"""Thousands of runs: the books balance, reports are a chain, and planted bugs are found."""

import json

# ruff: noqa: SLF001 - bugs are planted in private parts
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

import pytest
from tests.simulation.evidence import simulate_evidence

from bucketsum.backfill import accounting, run
from bucketsum.backfill.accounting import Accountant
from bucketsum.backfill.balance import BalanceEntry, Standing
from bucketsum.backfill.evidence_table import EvidenceTable
from bucketsum.backfill.listed_versions import ListedVersion, ListedVersions

SEEDS: Final = 600
PAGE, APPEND = Accountant._page, EvidenceTable.append


def from_the_last(accountant: Accountant, segment: Any) -> Any:  # noqa: ANN401 - as the product's
    """A page that begins with the last row of the page before."""
    items, position = PAGE(accountant, segment)
    if segment.position:
        key = json.loads(segment.position)
        again = accountant.digests.dynamodb.get_item(TableName=accountant.digests.name, Key=key)
        items = [again["Item"], *items]
    return items, position


def until_a_short_page(accountant: Accountant, segment: Any) -> Any:  # noqa: ANN401 - as the product's
    """A short page is taken for the last one."""
    items, position = PAGE(accountant, segment)
    return items, position if len(items) == accounting.PAGE_ROWS else ""


def with_a_gap(records: EvidenceTable, report: Any) -> bool:  # noqa: ANN401 - as the product's
    """A number that another run has is left out."""
    if records.report(report.number):
        return APPEND(records, replace(report, number=report.number + 2))
    return APPEND(records, report)


@pytest.mark.parametrize("first_seed", range(0, SEEDS, 200))
def test_the_books_balance(first_seed: int) -> None:
    """Each row has one place in each report, whatever dies or comes twice."""
    broken = {seed: reasons for seed in range(first_seed, first_seed + 200)
              if (reasons := simulate_evidence(seed))}  # fmt: skip
    assert broken == {}


@pytest.mark.parametrize(
    ("target", "name", "bug"),
    [
        pytest.param(Accountant, "_page", from_the_last, id="a row is counted twice"),
        pytest.param(Accountant, "_page", until_a_short_page, id="a row is not counted"),
        pytest.param(Accountant, "_lost", lambda *_: BalanceEntry(Standing.VERIFIED),
                     id="a lost object is reported as verified"),
        pytest.param(run, "is_open", lambda _: False, id="a report before the end"),
        pytest.param(EvidenceTable, "append", with_a_gap, id="a chain with a gap"),
        pytest.param(ListedVersions, "of", lambda *_: ListedVersion("STANDARD", is_latest=True),
                     id="a lost object is taken for listed"),
        pytest.param(ListedVersions, "_has", lambda *_: True, id="a row is in every share"),
    ],
)  # fmt: skip
def test_a_planted_bug_is_found(target: object, name: str, bug: object) -> None:
    """A product with this bug breaks a promise."""
    with patch.object(target, name, bug):
        assert any(simulate_evidence(seed) for seed in range(SEEDS))
