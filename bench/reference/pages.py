"""Every page of docs/ with text that is generated from the code or from the template."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bench.reference import commands, documents, permissions, registries, template
from bench.tables.document import written_between
from bucketsum_cli.commands.root import cli

DOCS: Final = Path(__file__).parents[2] / "docs"

_GENERATED: Final = {
    "parameters": template.parameters,
    "monitoring": template.alarms,
    "permissions": permissions.policies,
    "sweeps": registries.workload_fields,
    "selftest": registries.checks,
}
"""Page → its generated part, which stands between markers."""
_MARKERS: Final = {"monitoring": "alarms", "sweeps": "workload-fields", "selftest": "checks"}


def pages() -> dict[Path, str]:
    """Return each page as it has to be."""
    schema = documents.schema_of(commands.contexts(cli))
    written = {
        DOCS / "commands.md": commands.page(),
        DOCS / "json.md": documents.page(schema),
        DOCS / "json.schema.json": documents.text_of(schema),
    }
    for name, text in _GENERATED.items():
        path = DOCS / f"{name}.md"
        page = path.read_text(encoding="utf-8")
        written[path] = written_between(page, _MARKERS.get(name, name), text())
    return written
