"""Every page of docs/ with text that is generated from the code or from the template."""

import json
from pathlib import Path
from typing import Final

from bench.tables.document import rows_of, written_between

from bucketsum_cli.commands.root import cli
from bucketsum_cli.commands.selftest import CHECKS
from bucketsum_cli.selftest.stack_checks import CLEAN_UP
from bucketsum_lab.plan.input_fields import FIELDS, PARAMETER_OF, WEIGHT, StrategyName
from bucketsum_lab.workloads import WORKLOADS
from tools.reference import documents, monitoring, permissions, snapshot_views, template

_STRATEGIES: Final = {
    StrategyName.CHEAPEST: ("the least USD per TB", ""),
    StrategyName.FASTEST: ("the most MB/s", ""),
    StrategyName.BALANCED: (
        "the least of `weight` × (cost ÷ lowest cost) + (1 − `weight`) × (highest speed ÷ speed)",
        f", from 0 (speed alone) to 1 (cost alone); {WEIGHT.default:g} by default",
    ),
    StrategyName.CHEAPEST_AT_LEAST: ("the cheapest that reaches a speed", ""),
    StrategyName.FASTEST_BELOW: (
        "the fastest that does not exceed a cost",
        " (the option is `--usd-per-tb`)",
    ),
}
"""Strategy → what it recommends, and the values of its parameter."""


def sweep_fields() -> str:
    """Return a row for each field that every workload has."""
    return rows_of(
        ("field", "type", "default", "meaning"),
        (
            (f"`{field.name}`", field.kind, _json(field.default or ""), field.meaning)
            for field in FIELDS
            if field.kind
        ),
    )


def workload_objects() -> str:
    """Return a row for each workload, with the sizes that it generates."""
    return rows_of(
        (
            "workload",
            "object",
            "`object_bytes`",
            "default of `object_bytes`",
            "default of `chunk_bytes`",
        ),
        (
            (
                f"`{name}`",
                workload.noun,
                f"{workload.object_bytes[0]:,} to {workload.object_bytes[-1]:,}",
                _json(workload.default_object_bytes or ""),
                _json(workload.chunk_bytes or ""),
            )
            for name, workload in WORKLOADS.items()
        ),
    )


def strategies() -> str:
    """Return a row for each strategy.

    Raises:
        KeyError: A strategy has no meaning here.
    """
    rows = []
    for name in StrategyName:
        meaning, values = _STRATEGIES[name]
        needed = f"`{PARAMETER_OF[name].leaf}`{values}" if name in PARAMETER_OF else ""
        rows.append((f"`{name}`", meaning, needed))
    return rows_of(("strategy", "recommends", "needs"), rows)


def _json(value: object) -> str:
    return "" if value == "" else f"`{json.dumps(value)}`"


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


_COMMANDS: Final = """\
# Commands

`make reference` writes this page from the help texts. Most commands take these options:

| option | environment | meaning |
|---|---|---|
| `--stack NAME` | `BUCKETSUM_STACK` | the stack; `bucketsum` by default |
| `--region NAME` | `AWS_DEFAULT_REGION` | its Region |
| `--profile NAME` | `AWS_PROFILE` | the AWS profile with the credentials |
| `--local` | `BUCKETSUM_HOME` | the local emulator of the clone that you are in, or else of the \
clone that the command was installed from. `BUCKETSUM_HOME` names the folder of another emulator, \
such as `.bucketsum/demo` |
| `--json` | | one [JSON document](json.md) on stdout; everything else on stderr |
| `--yes`, `-y` | | do not ask for confirmation. Without it, a missing answer counts as "no" (exit \
status 1) |
"""


def commands_page() -> str:
    """Return the page: a section for each command, in the order of the help."""
    sections = []
    for context in documents.contexts(cli):
        text = "\n".join(map(str.rstrip, context.command.get_help(context).splitlines()))
        sections.append(f"\n## {context.command_path}\n\n```text\n{text}\n```\n")
    return _COMMANDS + "".join(sections)


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
        "sweep-fields": sweep_fields,
        "workload-objects": workload_objects,
        "workload-fields": workload_fields,
        "strategies": strategies,
    },
    "how-to/test-a-stack": {"checks": checks},
    "how-to/ask-questions": {"snapshot-views": snapshot_views.views},
}
"""Page → its generated parts, which stand between markers."""


def pages() -> dict[Path, str]:
    """Return the correct text of each page."""
    schema = documents.schema_of(cli)
    written = {
        _REFERENCE / "commands.md": commands_page(),
        _REFERENCE / "json.md": documents.page(schema),
        _REFERENCE / "json.schema.json": json.dumps(schema, indent=1, ensure_ascii=False) + "\n",
    }
    for name, parts in _GENERATED.items():
        path = _DOCS / f"{name}.md"
        page = path.read_text(encoding="utf-8")
        for marker, text in parts.items():
            page = written_between(page, marker, text())
        written[path] = page
    return written
