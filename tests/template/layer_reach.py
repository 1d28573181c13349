"""The modules of the hasher's layer that a handler can import, now or when it needs them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tests.support.sam_template import TEMPLATE
from tests.support.source_files import tree_of
from tests.template.roles import LIBRARY

_ROOT: Final = TEMPLATE.parent / "layers" / "bucketsum"
_FILES: Final = {
    ".".join(path.relative_to(_ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in LIBRARY
}


def reached(handlers: Iterable[Path]) -> set[Path]:
    """The files of the layer that *handlers* import, late imports included, those of types not."""
    files: set[Path] = set()
    waiting = list(handlers)
    while waiting:
        for name in _imported(tree_of(waiting.pop())):
            parts = name.split(".")
            for length in range(1, len(parts) + 1):
                path = _FILES.get(".".join(parts[:length]))
                if path and path not in files:
                    files.add(path)
                    waiting.append(path)
    return files


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imported(child)
