"""Workloads: plug-ins that the rest of the project knows by their protocol alone."""

import ast
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.sam_template import TEMPLATE
from tests.support.source_files import tree_of

from bucketsum_lab.protocol.probe import ProbeContext
from bucketsum_lab.workloads import OWN_PARAMETERS, WORKLOADS, WorkloadName

PROJECT = TEMPLATE.parent
OWN_FOLDER = PROJECT / "layers/lab/bucketsum_lab/workloads"


def sources() -> Iterator[Path]:
    """Every module of the product outside the folder of the workloads."""
    for folder in ("layers", "src", "cli"):
        yield from (
            path for path in (PROJECT / folder).rglob("*.py") if OWN_FOLDER not in path.parents
        )


def decisions(tree: ast.AST) -> Iterator[str]:
    """The expressions in *tree* that compare something with one workload."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            operands: list[ast.AST] = [node.left, *node.comparators]
        elif isinstance(node, ast.match_case):
            operands = [node.pattern]
        else:
            continue
        for operand in operands:
            text = ast.unparse(operand)
            if any(f"WorkloadName.{name.name}" in text or text == repr(name.value)
                   for name in WorkloadName):  # fmt: skip
                yield ast.unparse(node)


def test_nothing_else_decides_by_a_workloads_name() -> None:
    """A new workload touches its own folders, the registries, tests and documents."""
    by_file = {str(path.relative_to(PROJECT)): list(decisions(tree_of(path))) for path in sources()}
    assert {path: texts for path, texts in by_file.items() if texts} == {}


@pytest.mark.parametrize(
    "text", ["x == WorkloadName.HASH", "x is WorkloadName.UNZIP", "'unzip' == x"]
)
def test_a_decision_is_found(text: str) -> None:
    """The check above would notice one."""
    assert list(decisions(ast.parse(text))) == [text]


def test_every_name_has_a_workload() -> None:
    """Every workload that the input accepts can be probed."""
    assert set(WORKLOADS) == set(WorkloadName)


def test_no_statistic_has_the_name_of_another_workloads_parameter() -> None:
    """Both are attributes of one item: such a statistic was read as a part of the setting."""
    for workload in WORKLOADS.values():
        own = {parameter.name for parameter in workload.parameters}
        assert (set(workload.sample_names) - own).isdisjoint(OWN_PARAMETERS)


def test_the_registry_imports_no_archive_code() -> None:
    """The planner's cold start does without the readers of archives."""
    program = "import sys, bucketsum_lab.workloads; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name for name in done.stdout.split() if name.startswith("bucketsum.archives.")}
    assert not loaded
    assert "isal" not in done.stdout.split()


@pytest.mark.parametrize("extra", [(), ("md5", "sha256")])
def test_a_probe_of_hashing_computes_the_deployed_digests(extra: tuple[str, ...]) -> None:
    """An answer is measured with all of them; one that does not exist ends it."""
    content = b"content"
    source: Any = SimpleNamespace(open=lambda _: SimpleNamespace(chunks=iter([content])))
    event: Any = {
        "bucket": "b",
        "key": "k",
        "size_bytes": len(content),
        "sha1": hashlib.sha1(content).hexdigest(),
    }
    nothing: Any = None
    probe = WORKLOADS[WorkloadName.HASH].probe
    assert probe(event, ProbeContext(nothing, source, nothing, extra))["status"] == "ok"
    with pytest.raises(KeyError, match="sha3"):
        probe(event, ProbeContext(nothing, source, nothing, (*extra, "sha3")))
