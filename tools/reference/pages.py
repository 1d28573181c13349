"""Every page of docs/ with text that is generated from the code or from the template."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench.tables.document import written_between

from bucketsum_cli.commands.root import cli
from tools.reference import (
    commands,
    documents,
    monitoring,
    permissions,
    registries,
    sweep_input,
    template,
)

DOCS: Final = Path(__file__).parents[2] / "docs"

_GENERATED: Final = {
    "parameters": {"parameters": template.parameters},
    "monitoring": {
        "alarms": template.alarms,
        "metrics": monitoring.metrics,
        "log-lines": monitoring.log_lines,
    },
    "permissions": {"permissions": permissions.policies},
    "sweeps": {
        "sweep-fields": sweep_input.fields,
        "workload-objects": sweep_input.objects,
        "workload-fields": registries.workload_fields,
        "strategies": sweep_input.strategies,
    },
    "selftest": {"checks": registries.checks},
}
"""Page → its generated parts, which stand between markers."""


def pages() -> dict[Path, str]:
    """Return the correct text of each page."""
    schema = documents.schema_of(commands.contexts(cli))
    written = {
        DOCS / "commands.md": commands.page(),
        DOCS / "json.md": documents.page(schema),
        DOCS / "json.schema.json": documents.text_of(schema),
    }
    for name, parts in _GENERATED.items():
        path = DOCS / f"{name}.md"
        page = path.read_text(encoding="utf-8")
        for marker, text in parts.items():
            page = written_between(page, marker, text())
        written[path] = page
    return written
