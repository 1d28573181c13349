"""Every page of docs/ with text that is generated from the code or from the template."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench.tables.document import rows_of, written_between

from bucketsum_cli.commands.root import cli
from bucketsum_cli.commands.selftest import CHECKS
from bucketsum_cli.selftest.stack_checks import CLEAN_UP
from bucketsum_lab.workloads import WORKLOADS
from tools.reference import (
    commands,
    documents,
    monitoring,
    permissions,
    snapshot_views,
    sweep_input,
    template,
)


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


_DOCS: Final = Path(__file__).parents[2] / "docs"
_REFERENCE: Final = _DOCS / "reference"

_GENERATED: Final = {
    "reference/parameters": {
        "configurations": template.configurations,
        "parameters": template.parameters,
    },
    "reference/monitoring": {
        "alarms": template.alarms,
        "metrics": monitoring.metrics,
        "log-lines": monitoring.log_lines,
    },
    "reference/permissions": {"permissions": permissions.policies},
    "reference/sweeps": {
        "sweep-fields": sweep_input.fields,
        "workload-objects": sweep_input.objects,
        "workload-fields": workload_fields,
        "strategies": sweep_input.strategies,
    },
    "how-to/test-a-stack": {"checks": checks},
    "how-to/ask-questions": {"snapshot-views": snapshot_views.views},
}
"""Page → its generated parts, which stand between markers."""


def pages() -> dict[Path, str]:
    """Return the correct text of each page."""
    schema = documents.schema_of(commands.contexts(cli))
    written = {
        _REFERENCE / "commands.md": commands.page(),
        _REFERENCE / "json.md": documents.page(schema),
        _REFERENCE / "json.schema.json": documents.text_of(schema),
    }
    for name, parts in _GENERATED.items():
        path = _DOCS / f"{name}.md"
        page = path.read_text(encoding="utf-8")
        for marker, text in parts.items():
            page = written_between(page, marker, text())
        written[path] = page
    return written
