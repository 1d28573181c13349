"""Tables of registries in the code: fields of workloads, and checks of the self-test."""

from __future__ import annotations

from bucketsum_cli.commands.selftest import CHECKS
from bucketsum_cli.selftest.stack_checks import CLEAN_UP
from bucketsum_lab.workloads import WORKLOADS


def workload_fields() -> str:
    """Return a row for each parameter of each workload."""
    rows = [
        f"| `{name}` | `{parameter.name}` | {parameter.meaning.format(parameter.choices)} "
        f"| `{parameter.default_value}` |"
        for name, workload in WORKLOADS.items()
        for parameter in workload.parameters
    ]
    return "\n".join(("| workload | field | meaning | default |", "|---|---|---|---|", *rows))


def checks() -> str:
    """Return a row for each check of the self-test."""
    rows = [f"| `{check.name}` | {check.proves} |" for check in (*CHECKS, CLEAN_UP)]
    return "\n".join(("| check | what it shows |", "|---|---|", *rows))
