"""The prompt of `bucketsum sql`: lines with history, help and completion of names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bucketsum_cli.machine.folders import kept_files
from bucketsum_cli.snapshots.database import DuckDb
from bucketsum_cli.snapshots.statements import statements_in
from bucketsum_cli.terminal.output import note

_HELP: Final = "help"
_HELP_TEXT: Final = (
    "SHOW TABLES; and DESCRIBE objects; have the names, which Tab completes. The arrows bring "
    "earlier queries back, Ctrl-R searches them. Ctrl-C drops a query, Ctrl-D ends the input."
)
_WORDS: Final = """
SELECT table_name FROM duckdb_tables() WHERE NOT internal
UNION SELECT view_name FROM duckdb_views() WHERE NOT internal
UNION SELECT column_name FROM duckdb_columns() WHERE NOT internal
UNION SELECT upper(keyword_name) FROM duckdb_keywords() WHERE keyword_category = 'reserved'
UNION SELECT database_name FROM duckdb_databases() WHERE NOT internal ORDER BY ALL"""


def typed_queries(local: DuckDb) -> Iterator[str]:
    """Yield each query that is typed at the prompt; Ctrl-C drops the one that is being typed."""
    words = [str(word) for (word,) in local.run(_WORDS)]
    note(f"queries end with a semicolon; `{_HELP}` says more; Ctrl-D ends the input")
    for text in _prompted(words):
        if text.strip(" ;").lower() == _HELP:
            note(_HELP_TEXT)
        else:
            queries, rest = statements_in(text)
            yield from (*queries, *filter(None, [rest]))


def _prompted(words: list[str]) -> Iterator[str]:
    """Yield what is typed, as whole queries."""
    from prompt_toolkit import PromptSession  # noqa: PLC0415 - an extra, which takes its time
    from prompt_toolkit.completion import WordCompleter  # noqa: PLC0415
    from prompt_toolkit.filters import Condition  # noqa: PLC0415
    from prompt_toolkit.history import FileHistory  # noqa: PLC0415
    from prompt_toolkit.output import create_output  # noqa: PLC0415
    from prompt_toolkit.shortcuts import CompleteStyle  # noqa: PLC0415

    session: PromptSession[str] = PromptSession(
        history=FileHistory(_history()),
        completer=WordCompleter(words, ignore_case=True),
        complete_style=CompleteStyle.READLINE_LIKE,
        complete_while_typing=False,
        multiline=Condition(lambda: _is_open(session.default_buffer.text)),
        output=create_output(stdout=sys.stderr),
    )
    while True:
        try:
            yield session.prompt("sql> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _is_open(text: str) -> bool:
    """Whether Enter begins a new line of *text*: a query has no semicolon yet."""
    return text.strip().lower() != _HELP and bool(statements_in(text)[1])


def _history() -> Path:
    """The file of earlier queries, beside the folder of snapshots, closed to others."""
    file = kept_files("sql-history")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch(mode=0o600)
    return file
