"""The folders import each other in the directions that the project has decided."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final

import pytest
from tests.support.source_files import nodes_of
from tests.template.layer_reach import reached
from tests.template.roles import LIBRARY

ROOT: Final = Path(__file__).parents[2]

SUITES: Final = sorted(path.name for path in (ROOT / "tests").iterdir() if path.is_dir())
PROGRAMS: Final = {"e2e": "soak"}
"""Suite → the program in tests/ that it runs."""

SEARCH: Final = (
    (ROOT / "layers" / "bucketsum", "bucketsum"), (ROOT / "layers" / "lab", "bucketsum_lab"),
    (ROOT / "cli", "bucketsum_cli"),
    (ROOT / "src", ""), (ROOT, "bench"), (ROOT, "tools"),
)  # fmt: skip
"""Folders on the import path, and the package there that is ours; in src/ each is."""

ROLES: Final = {
    "bucketsum.settings": "settings",  # above the values that they hold
    "bench.__main__": "benchmarks",
}
"""Modules that are above or below the rest of their folder → the part that they belong to."""

ARROWS: Final = """\
analyst: lab.functions
bench.cost: bench.readers bench.tables cli.backfill cli.terminal layer layer.hashing
bench.function: bench.sandbox bench.tables cli.emulator cli.machine cli.terminal \
lab.workloads.transfer
bench.readers: bench.sandbox bench.tables cli.emulator cli.machine cli.terminal layer \
layer.events layer.s3
bench.sandbox: bench cli.machine cli.terminal layer layer.checksums
bench.snapshot: bench.tables cli.commands cli.snapshots cli.terminal layer.table
bench.tables: cli.machine cli.terminal
bench.targets: bench.sandbox bench.tables cli.aws cli.commands.local cli.emulator cli.machine \
cli.objects cli.terminal layer.table
bench.unzip: bench.tables cli.terminal layer layer.archives layer.table
bench.workloads: bench bench.sandbox bench.tables bench.workloads.languages cli.machine \
cli.terminal cli.tune cli.tune.here cli.tune.workloads cli.tune.workloads.fetch lab.plan \
lab.protocol lab.results lab.workloads lab.workloads.transfer layer
bench.workloads.languages: bench bench.sandbox bench.tables bench.unzip cli.terminal \
cli.tune.workloads.transfer lab.workloads.records
benchmarks: bench.cost bench.function bench.readers bench.snapshot bench.targets bench.unzip \
bench.workloads
cli: cli.commands
cli.arguments: cli.aws cli.buckets cli.machine cli.terminal layer
cli.aws: cli.emulator cli.terminal layer layer.backfill layer.hashing layer.invocation \
layer.long_objects layer.table
cli.backfill: cli.aws cli.buckets cli.html cli.terminal layer layer.backfill layer.hashing \
layer.s3 layer.table
cli.bags: cli.aws cli.manifests cli.objects cli.terminal layer.table
cli.buckets: cli.aws cli.terminal layer layer.events
cli.buckets.attachments: cli.aws cli.buckets cli.objects cli.terminal layer.events
cli.commands: cli.arguments cli.aws cli.backfill cli.bags cli.buckets cli.buckets.attachments \
cli.dead_letters cli.emulator cli.machine cli.manifests cli.objects cli.page cli.selftest \
cli.snapshots cli.snapshots.queries cli.stacks cli.terminal layer layer.archives layer.hashing \
layer.long_objects layer.table
cli.commands.backfill: cli.arguments cli.aws cli.backfill cli.buckets cli.commands cli.terminal \
layer layer.backfill
cli.commands.local: cli.arguments cli.aws cli.commands cli.emulator cli.machine cli.objects \
cli.selftest cli.terminal layer.table
cli.commands.snapshot: cli.arguments cli.buckets cli.commands cli.snapshots cli.terminal
cli.commands.tune: cli.arguments cli.aws cli.commands cli.emulator cli.selftest cli.terminal \
cli.tune cli.tune.here cli.tune.report lab.protocol lab.results layer
cli.commands.verify: cli.arguments cli.aws cli.backfill cli.commands cli.commands.backfill \
cli.terminal layer layer.backfill layer.hashing
cli.dead_letters: cli.aws cli.terminal layer layer.backfill layer.events layer.long_objects \
layer.queue
cli.emulator: cli.machine cli.terminal
cli.html: cli.terminal
cli.manifests: cli.terminal layer
cli.objects: cli.aws cli.dead_letters cli.manifests cli.terminal layer layer.archives \
layer.backfill layer.events layer.hashing layer.long_objects layer.table
cli.page: cli.backfill cli.html cli.snapshots cli.terminal layer
cli.selftest: cli.aws cli.backfill cli.buckets cli.buckets.attachments cli.dead_letters \
cli.objects cli.stacks cli.terminal layer layer.archives layer.backfill layer.events \
layer.hashing layer.long_objects layer.table
cli.snapshots: cli.aws cli.buckets cli.machine cli.manifests cli.snapshots.queries cli.terminal \
layer layer.archives layer.backfill layer.events layer.table
cli.snapshots.queries: layer layer.table
cli.stacks: cli.aws cli.backfill cli.buckets cli.objects cli.terminal layer layer.backfill \
layer.hashing layer.queue layer.table
cli.terminal: layer
cli.tune: cli.arguments cli.aws cli.machine cli.terminal lab lab.plan lab.protocol lab.results \
lab.workloads layer layer.events layer.s3 layer.table
cli.tune.here: cli.arguments cli.aws cli.buckets cli.buckets.attachments cli.emulator cli.machine \
cli.terminal cli.tune cli.tune.workloads lab lab.measure lab.plan lab.protocol lab.results \
lab.workloads layer layer.s3
cli.tune.plots: cli.terminal cli.tune lab.protocol lab.workloads layer
cli.tune.report: cli.html cli.terminal cli.tune cli.tune.plots cli.tune.workloads lab.protocol \
lab.results layer
cli.tune.workloads: cli.tune cli.tune.plots cli.tune.workloads.fetch cli.tune.workloads.records \
cli.tune.workloads.transfer cli.tune.workloads.unzip lab.workloads
cli.tune.workloads.fetch: cli.terminal cli.tune cli.tune.plots lab.protocol lab.workloads.fetch \
layer
cli.tune.workloads.records: cli.terminal cli.tune cli.tune.plots lab.protocol \
lab.workloads.records layer
cli.tune.workloads.transfer: cli.terminal cli.tune cli.tune.plots lab.protocol \
lab.workloads.transfer layer
cli.tune.workloads.unzip: cli.tune lab.workloads.unzip
enqueuer: layer.functions
hasher: layer.functions
lab: layer
lab.functions: lab lab.measure lab.plan lab.protocol lab.results lab.workloads layer \
layer.invocation layer.s3
lab.measure: lab.protocol lab.workloads layer layer.s3
lab.plan: lab lab.protocol lab.workloads layer layer.s3
lab.protocol: lab layer layer.events layer.s3 layer.table
lab.results: lab.plan lab.protocol lab.workloads layer layer.s3 layer.table
lab.workloads: lab lab.protocol lab.workloads.fetch lab.workloads.hash lab.workloads.records \
lab.workloads.transfer lab.workloads.unzip layer.events
lab.workloads.fetch: lab lab.protocol lab.workloads.unzip layer layer.archives layer.events \
layer.s3 layer.table
lab.workloads.hash: lab.protocol layer
lab.workloads.records: lab lab.protocol layer layer.events layer.s3
lab.workloads.transfer: lab lab.protocol layer layer.archives layer.s3
lab.workloads.unzip: lab lab.protocol layer layer.archives layer.s3 layer.table
layer.archives: layer layer.events layer.invocation layer.s3 layer.table settings
layer.backfill: layer layer.events layer.hashing layer.invocation layer.long_objects layer.queue \
layer.s3 layer.table settings
layer.checksums: layer.events layer.table
layer.events: layer
layer.functions: layer layer.archives layer.backfill layer.hashing layer.invocation \
layer.long_objects layer.queue layer.s3 layer.table
layer.hashing: layer layer.archives layer.checksums layer.events layer.invocation layer.queue \
layer.s3 layer.table settings
layer.invocation: layer
layer.long_objects: layer layer.checksums layer.events layer.hashing layer.invocation layer.s3 \
layer.table settings
layer.queue: layer settings
layer.s3: layer layer.checksums layer.events layer.invocation layer.table
layer.table: layer layer.events
planner: lab.functions
prober: lab.functions
publisher: lab.functions
settings: layer layer.s3 layer.table
slicer: layer.functions
tools: layer.long_objects layer.table
tools.pictures: bench.cost bench.tables cli.buckets cli.commands cli.dead_letters cli.terminal \
cli.tune cli.tune.report lab.protocol layer.archives layer.table tools.reference
tools.reference: bench.tables cli.arguments cli.commands cli.emulator cli.objects cli.selftest \
cli.snapshots cli.terminal lab.plan lab.workloads layer layer.hashing layer.queue layer.table
"""
"""Part: the parts that it may import from. A part without a row imports from none."""


def imported_modules(path: Path) -> Iterator[str]:
    """The modules and names that the file imports, wherever in it."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{path}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def modules() -> dict[str, Path]:
    """Module or package → its file."""
    listed = {}
    for folder, package in SEARCH:
        for path in (folder / package).rglob("*.py"):
            parts = path.relative_to(folder).with_suffix("").parts
            listed[".".join(parts).removesuffix(".__init__")] = path
    return listed


def part_of(module: str) -> str:
    """The part that a module, or a name of a module, belongs to."""
    while module not in modules():
        module = module.rpartition(".")[0]
    if module in ROLES:
        return ROLES[module]
    folder = module if modules()[module].name == "__init__.py" else module.rpartition(".")[0]
    for package, short in (
        ("bucketsum_cli", "cli"),
        ("bucketsum_lab", "lab"),
        ("bucketsum", "layer"),
    ):
        folder = re.sub(rf"^{package}\b", short, folder)
    return folder


@cache
def is_ours(module: str) -> bool:
    """Whether it is a module of this project."""
    return module.partition(".")[0] in {name.partition(".")[0] for name in modules()}


@cache
def arrows() -> dict[str, set[str]]:
    """Part → the parts that it imports from."""
    imported: defaultdict[str, set[str]] = defaultdict(set)
    for module, path in modules().items():
        imported[part_of(module)] |= {
            part_of(name) for name in imported_modules(path) if is_ours(name)
        }
    return {part: others - {part} for part, others in imported.items() if others - {part}}


def test_each_part_imports_what_it_may() -> None:
    """A new arrow is a decision, and an arrow that is gone leaves the table."""
    assert arrows() == {
        part: set(others.split())
        for part, _, others in (row.partition(":") for row in ARROWS.splitlines())
    }


def test_no_parts_import_each_other() -> None:
    """Parts that need each other are one part."""
    TopologicalSorter(arrows()).prepare()  # raises CycleError


BESIDE: Final = {
    "prices.py": "one price list, for the command and the lab",
}
"""Modules of the hasher's layer that no function of the hash path needs → the reason."""


def test_the_hashers_layer_has_nothing_that_its_functions_cannot_reach() -> None:
    """Modules that only sweeps or the command need stand with these, not in every cold start."""
    entry_points = [ROOT / "src" / name / "app.py" for name in ("hasher", "slicer", "enqueuer")]
    unreached = {path.name for path in set(LIBRARY) - reached(entry_points)}
    assert unreached == set(BESIDE)


def test_the_product_never_imports_the_lab() -> None:
    """The product needs nothing of the lab, whose paths are in layers/lab/paths.txt."""
    patterns = (ROOT / "layers" / "lab" / "paths.txt").read_text().splitlines()
    roots = [path for pattern in patterns if "#" not in pattern for path in ROOT.glob(pattern)]
    lab = {
        module
        for module, path in modules().items()
        if any(path.is_relative_to(root) for root in roots)
    }
    assert lab >= {"bucketsum_lab", "bench.cost", "planner", "bucketsum_cli.tune"}
    climbing = {
        f"{module} imports {name}"
        for module, path in modules().items()
        if module not in lab
        for name in imported_modules(path)
        if name in lab or name.rpartition(".")[0] in lab
    }
    assert not climbing


@pytest.mark.parametrize("suite", [name for name in SUITES if not name.startswith("__")])
def test_a_suite_imports_from_itself_and_from_support_alone(suite: str) -> None:
    """A suite that leans on another is broken by changes that have nothing to do with it."""
    allowed = {suite, "support", PROGRAMS.get(suite)}
    others = {
        f"{path.relative_to(ROOT)}: {module}"
        for path in (ROOT / "tests" / suite).rglob("*.py")
        for module in imported_modules(path)
        if module.startswith("tests.") and module.split(".")[1] not in allowed
    }
    assert not others
