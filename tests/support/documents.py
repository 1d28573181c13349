"""The documents as tests read them: their code, their links, their tables."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT: Final = Path(__file__).parents[2]

DOCUMENTS: Final = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        ROOT / "events" / "README.md",
    ]
)

MEASUREMENTS: Final = sorted(ROOT.glob("bench/measured/*.md"))
"""Pages of generated tables."""

_GENERATED: Final = re.compile(r"(?s)<!-- bench (\S+) -->.*?<!-- /bench \1 -->")
_GENERATED_PAGES: Final = ("commands.md", "json.md")
_SHELLS: Final = ("sh", "console")
_MARKDOWN: Final = MarkdownIt("commonmark").enable("table")
_PUNCTUATION: Final = ";&<>()"
_END_OF_COMMAND: Final = frozenset(f"|{_PUNCTUATION}")  # a|b is an alternative, a | b a pipe


def words_by_hand(path: Path) -> int:
    """The number of words of a document that a person wrote."""
    if path.name in _GENERATED_PAGES:
        return 0
    words = _GENERATED.sub("", path.read_text(encoding="utf-8")).split()
    return sum(any(map(str.isalnum, word)) for word in words)


@dataclass(frozen=True, slots=True)
class Document:
    """One document, parsed.

    Attributes:
        path: Where it is.
        tokens: Its blocks and what is in them, in order.
    """

    path: Path
    tokens: list[Token]

    @classmethod
    @cache
    def read(cls, path: Path) -> Document:
        """Parse the document at *path*."""
        blocks = _MARKDOWN.parse(path.read_text(encoding="utf-8"))
        return cls(path, [token for block in blocks for token in (block, *(block.children or ()))])

    def code_spans(self) -> Iterator[str]:
        """Every `inline code`."""
        return (token.content for token in self.tokens if token.type == "code_inline")

    def links(self) -> Iterator[str]:
        """Where every link and every picture leads."""
        for token in self.tokens:
            target = token.attrs.get("href") or token.attrs.get("src")
            if isinstance(target, str):
                yield target

    def anchors(self) -> set[str]:
        """The names of its headings in links, as GitHub makes them."""
        texts = [
            self.tokens[number + 1].content
            for number, token in enumerate(self.tokens)
            if token.type == "heading_open"
        ]
        return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}

    def table(self, first_heading: str) -> list[list[str]]:
        """The rows, without the heading, of the table whose first column is *first_heading*."""
        rows: list[list[str]] = []
        for number, token in enumerate(self.tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in ("td_open", "th_open"):
                rows[-1].append(self.tokens[number + 1].content)
            elif token.type == "table_close":
                if rows[0][0] == first_heading:
                    return rows[1:]
                rows = []
        raise LookupError(f"{self.path} has no table that begins with {first_heading}")

    def commands(self, program: str) -> Iterator[list[str]]:
        """The arguments of every call of *program*, in shell blocks and in inline code."""
        lines = [*self.code_spans()]
        for token in self.tokens:
            if token.type == "fence" and token.info in _SHELLS:
                lines += token.content.replace("\\\n", " ").split("\n")
        for line in lines:
            for call in _calls(line):
                if Path(call[0]).name == program:
                    yield call[1:]


@cache
def _calls(line: str) -> list[list[str]]:
    """The simple commands of one line of shell; other text has none that tests look for."""
    calls: list[list[str]] = []
    lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if set(word) <= _END_OF_COMMAND:
                calls.append(words)
                words = []
            else:
                words.append(word)
    except ValueError:  # a quotation over several lines
        return [*filter(None, calls)]
    return [*filter(None, [*calls, words])]
