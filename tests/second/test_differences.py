"""The list of differences names what exists, all of it, and pages of AWS."""

import ast
import re
from pathlib import Path
from typing import Final

from tests.second.differences import DIFFERENCES, NOT_RUN
from tests.support.source_files import nodes_of, tree_of

ROOT: Final = Path(__file__).parents[2]
FILES: Final = sorted((ROOT / "tests" / "e2e").glob("test_*.py"))
PAGE: Final = re.compile(r"https://docs\.aws\.amazon\.com/[\w/.-]+|https://github\.com/aws-[\w/-]+")


def test_what_is_not_run_exists() -> None:
    """A name that a test had once would leave out nothing, or a test without its reason."""
    nodes = [node for path in FILES for node in nodes_of(path)]
    tests = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    assert NOT_RUN.keys() <= tests | {path.name for path in FILES}


def test_each_correction_has_its_page() -> None:
    """AWS's word decides, not what makes a test pass."""
    functions = [
        node
        for node in tree_of(Path(__file__).with_name("corrections.py")).body
        if isinstance(node, ast.FunctionDef)
    ]
    corrections = [difference.correction for difference in DIFFERENCES if difference.correction]
    assert ["apply", *dict.fromkeys(corrections)] == [function.name for function in functions]
    assert [ast.unparse(line) for line in functions[0].body[1:]] == [
        f"{name}()" for name in dict.fromkeys(corrections)
    ]
    assert all(PAGE.fullmatch(difference.page) for difference in DIFFERENCES)
    assert all(bool(difference.correction) != bool(difference.tests) for difference in DIFFERENCES)
