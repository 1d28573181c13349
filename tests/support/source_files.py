"""Python files as syntax trees."""

import ast
import gc
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file, parsed once for all tests.

    Looking for garbage among trees, which stay, would take as long as the parsing.
    """
    gc.disable()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    gc.freeze()
    gc.enable()
    return tree


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of the file's tree: `ast.walk` takes a third of the parsing."""
    return tuple(ast.walk(tree_of(path)))
