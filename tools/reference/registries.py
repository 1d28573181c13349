"""Tables of registries in the code: fields of workloads, and checks of the self-test."""

from __future__ import annotations

from bench.tables.document import rows_of

from bucketsum_cli.commands.selftest import CHECKS
from bucketsum_cli.selftest.stack_checks import CLEAN_UP
from bucketsum_lab.workloads import WORKLOADS


def workload_fields() -> str:
    """Return a row for each parameter of each workload."""
    rows = (
        (f"`{name}`", f"`{p.name}`", p.meaning.format(p.choices), f"`{p.default_value}`")
        for name, workload in WORKLOADS.items()
        for p in workload.parameters
    )
    return rows_of(("workload", "field", "meaning", "default"), rows)


def checks() -> str:
    """Return a row for each check of the self-test."""
    rows = ((f"`{check.name}`", check.proves) for check in (*CHECKS, CLEAN_UP))
    return rows_of(("check", "what it shows"), rows)
