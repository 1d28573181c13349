"""The names and the docstrings of all Python code say what they are about."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.support.source_files import nodes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT: Final = Path(__file__).parents[2]

NO_NAMES: Final = frozenset(
    {"one", "ones", "some", "told", "asked", "made", "found", "said", "taken"}
)
FIRST_LINE_WORDS: Final = 20
FIRST_LINE_WORDS_MIN: Final = 4
NO_FIRST_WORD: Final = re.compile(r"(What|How|Which|Whoever|Whatever)\b")

MESSAGES: Final = frozenset({"note", "say", "CannotDoError"})
OWN_COMMAND: Final = re.compile(r"`bucketsum (?!local\b)")

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def python_files() -> dict[str, tuple[ast.AST, ...]]:
    """Path → nodes of the syntax tree, of every tracked file."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"],  # noqa: S607 - wherever git is
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return {
        path: nodes_of(ROOT / path) for path in listed.stdout.splitlines() if (ROOT / path).exists()
    }


def bound_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and name of every variable, parameter and attribute that the module gives a value."""
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name


def first_lines(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and first paragraph of every docstring of the module."""
    for node in nodes:
        if isinstance(node, _Documented) and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text.partition("\n\n")[0]


def test_names_are_of_things() -> None:
    """A variable called `one`, `told` or `made` does not say which thing it holds."""
    vague = [
        f"{path}:{line}: {name}"
        for path, nodes in python_files().items()
        for line, name in bound_names(nodes)
        if name.lstrip("_") in NO_NAMES
    ]
    assert vague == []


def test_no_two_classes_have_one_name() -> None:
    """A class that is not private to its file has a name of its own."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, nodes in python_files().items():
        if not path.startswith("tests/"):
            for node in nodes:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_messages_ask_for_their_commands() -> None:
    """`command_line` gives a command in a message the stack and the bucket that were named."""
    written = [
        f"{path}:{node.lineno}: {text.value!r}"
        for path, nodes in python_files().items()
        if path.startswith("cli/")
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in MESSAGES
        for text in ast.walk(node)
        if isinstance(text, ast.Constant) and OWN_COMMAND.search(str(text.value))
    ]
    assert written == []


def test_docstrings_begin_with_a_short_statement() -> None:
    """The first line does not begin with a question word, and outside of tests has four words."""
    wrong = [
        f"{path}:{line}: {text}"
        for path, nodes in python_files().items()
        for line, text in first_lines(nodes)
        if NO_FIRST_WORD.match(text)
        or len(text.split()) > FIRST_LINE_WORDS
        or (len(text.split()) < FIRST_LINE_WORDS_MIN and not path.startswith("tests/"))
    ]
    assert wrong == []
