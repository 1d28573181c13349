"""The names and the docstrings of all Python code say what they are about."""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.source_files import nodes_of

ROOT: Final = Path(__file__).parents[2]

NO_NAMES: Final = frozenset(
    {"each", "one", "ones", "some", "told", "asked", "made", "found", "said", "taken"}
)
FIRST_LINE_WORDS: Final = 20
FIRST_LINE_WORDS_MIN: Final = 4
NO_FIRST_WORD: Final = re.compile(r"(What|How|Which|Whoever|Whatever)\b")

MESSAGES: Final = frozenset({"note", "say", "CannotDoError"})
OWN_COMMAND: Final = re.compile(r"`bucketsum (?!local\b)")

MODULE_LINES_MAX: Final = 320
"""CONTRIBUTING.md says so."""

IS_NO: Final = re.compile(r"(?<!there )\b(?:is|are) no (?!longer\b)\w+", re.IGNORECASE)
"""English says "is not a" of a thing; "there is no" is another sentence."""

WRITTEN: Final = ("*.py", "*.md", "*.yaml", "*.sql", "*.toml")
NOT_OURS: Final = ("tests/template/asl/", "tests/template/test_names.py")

_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def tracked(*patterns: str) -> list[str]:
    """The paths of the files of this repository that match."""
    listed = subprocess.run(
        ["git", "ls-files", *patterns],  # noqa: S607 - wherever git is
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [path for path in listed.stdout.splitlines() if (ROOT / path).exists()]


@cache
def python_files() -> dict[str, tuple[ast.AST, ...]]:
    """Path → nodes of the syntax tree, of every tracked file."""
    return {path: nodes_of(ROOT / path) for path in tracked("*.py")}


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
    """A variable called `one`, `each` or `made` does not say which thing it holds."""
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


def test_a_thing_is_not_another() -> None:
    """No text says "is no snapshot" for "is not a snapshot"."""
    texts = {path: " ".join((ROOT / path).read_text("utf-8").split()) for path in tracked(*WRITTEN)}
    wrong = [f"{path}: {words}" for path, text in texts.items() for words in IS_NO.findall(text)]
    assert [text for text in wrong if not text.startswith(NOT_OURS)] == []


def test_a_module_has_at_most_320_lines() -> None:
    """Product, lab, command, bench and tools: what is longer has two subjects."""
    lines = {
        path: len((ROOT / path).read_text("utf-8").splitlines())
        for path in python_files()
        if not path.startswith("tests/")
    }
    assert {path: count for path, count in lines.items() if count > MODULE_LINES_MAX} == {}
