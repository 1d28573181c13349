"""The folders import each other as the project has decided."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]

SUITES: Final = sorted(path.name for path in (ROOT / "tests").iterdir() if path.is_dir())


def imported_modules(path: Path) -> Iterator[str]:
    """The modules that the file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            yield node.module or ""


@pytest.mark.parametrize("suite", [name for name in SUITES if not name.startswith("__")])
def test_a_suite_imports_from_itself_and_from_support_alone(suite: str) -> None:
    """A suite that leans on another is broken by changes that have nothing to do with it."""
    allowed = {suite, "support"} if suite != "support" else {"support"}
    others = {
        f"{path.relative_to(ROOT)}: {module}"
        for path in (ROOT / "tests" / suite).rglob("*.py")
        for module in imported_modules(path)
        if module.split(".")[0] == "tests" and module.split(".")[1] not in allowed
    }
    assert not others
