"""Tables that are asked: DuckDB keeps them, and answers unless another engine does."""

from __future__ import annotations

import atexit
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import IO, TYPE_CHECKING, Any, Final, Protocol

from bucketsum.algorithms import ALGORITHMS
from bucketsum_cli.machine.hardware import memory_mb
from bucketsum_cli.snapshots.queries import query_text
from bucketsum_cli.snapshots.queries.schema import Dialect
from bucketsum_cli.snapshots.statements import exact_query, query_in
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import spinner

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, Statement

_MEMORY_MB: Final = 800
"""For a question of ours, which spills beyond it."""
_MEMORY_MB_MAX: Final = 8000
_PAGE_ROWS: Final = 5000
_ANSWERS: Final = "answers"
_THREAD: Final = ThreadPoolExecutor(1, "duckdb")
"""Where DuckDB works; in a new thread, a statement takes 0.5 ms more."""
_ENCODED: Final = json.JSONEncoder().encode
"""A row as JSON; `json.dumps` takes twice the time."""


class Answer:
    """The rows of a question, which are read once.

    Attributes:
        columns: Their names.
    """

    def __init__(self, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
        self.columns = columns
        self._rows = rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Yield each row as it comes; times are in UTC."""
        return iter(self._rows)

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield each row by the names of the columns."""
        return (dict(zip(self.columns, row, strict=True)) for row in self)


Question = Mapping[str, str | int | bool]
"""The only row of the table ``question``."""


class QueryEngine(Protocol):
    """DuckDB, or another that answers from the same tables."""

    dialect: Dialect

    def run(self, sql: str, question: Question | None = None) -> Answer:
        """Run one query of ours."""

    def keep(self, name: str, sql: str, question: Question | None = None) -> None:
        """Make the table *name*, of this process alone, of the answer to a query of ours."""

    def select(self, sql: str) -> Answer:
        """Run a person's query; raises `CannotDoError` if it is not one."""

    def lock(self) -> None:
        """Prepare for queries of a person."""


class DuckDb:
    """A connection to DuckDB: it keeps tables, and is a `QueryEngine`."""

    dialect = Dialect()

    def __init__(self) -> None:
        """Open a database in memory; it spills into `own_folder`."""
        import duckdb  # noqa: PLC0415 - as `require_engine`

        config: dict[str, Any] = {
            "memory_limit": f"{_MEMORY_MB}MB",
            "preserve_insertion_order": False,
            "temp_directory": str(own_folder()),
            "python_enable_replacements": False,
            "autoload_known_extensions": False,
            "autoinstall_known_extensions": False,
        }
        with explained():
            self.connection: DuckDBPyConnection = duckdb.connect(config=config)
        self.execute("SET TimeZone = 'UTC'")

    def close(self) -> None:
        """End the connection, and let its files go."""
        self.connection.close()

    def execute(self, sql: str | Statement, values: Mapping[str, Any] | None = None) -> None:
        """Run a statement that has no answer; DuckDB parses a text of 15 kB for 11 ms."""
        with explained():
            self._interruptible(partial(self.connection.execute, sql, values))

    def _interruptible(self, ask: Callable[[], Any]) -> Any:  # noqa: ANN401 - as DuckDB's
        """Call *ask* in a thread: DuckDB itself looks for Ctrl-C now and then, or never."""
        running = _THREAD.submit(ask)
        try:
            return running.result()
        except KeyboardInterrupt:
            self.connection.interrupt()
            wait([running])
            raise
        finally:
            del running  # its error refers to this frame: the cycle would keep the file open

    def run(self, sql: str, question: Question | None = None) -> Answer:
        """Run one statement; progress is shown on a terminal."""
        self.put_question(question or {})
        with spinner("asking ..."):
            self.execute(sql)
        columns = [column[0] for column in self.connection.description or ()]
        return Answer(columns, self._rows())

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        description = self.connection.description or ()
        times = [n for n, column in enumerate(description) if str(column[1]) in _TIMES]
        with explained():
            while page := self._interruptible(partial(self.connection.fetchmany, _PAGE_ROWS)):
                yield from _in_utc(page, times) if times else page

    def select(self, sql: str) -> Answer:
        """Run a person's query.

        Raises:
            CannotDoError: It is not one query, or DuckDB refuses it.
        """
        query = self._query(sql)
        with explained():
            query = exact_query(self.connection, query)
        return self.run(query)

    def select_parquet(self, sql: str, file: IO[bytes]) -> None:
        """Write the answer to a person's query to *file*, in Parquet; errors are as above."""
        query, written = self._query(sql), own_folder() / _ANSWERS / "answer"
        with spinner("asking ..."):
            self.write_parquet(query, written)
        with written.open("rb") as content:
            shutil.copyfileobj(content, file)
        written.unlink()

    def _query(self, sql: str) -> str:
        text = sql.encode(errors="surrogateescape").decode(errors="replace")
        with explained():
            return query_in(self.connection, text)

    def lock(self) -> None:
        """Let no query reach a file, the network, an extension or a setting, from now on.

        A query may have half of the machine's memory, and spill into `own_folder`; its answer may
        be written to a folder there.
        """
        self.allow_memory(memory_mb() // 2, _MEMORY_MB_MAX)
        answers = own_folder() / _ANSWERS
        answers.mkdir(exist_ok=True)
        folder = str(answers).replace("'", "''")
        self.execute(
            f"SET allowed_directories = ['{folder}/']; SET enable_external_access = false; "
            "SET lock_configuration = true"
        )

    def allow_memory(self, wanted_mb: int, most_mb: int) -> None:
        """Spill beyond *wanted_mb*, which is made at most *most_mb*, and enough for a question."""
        self.execute(f"SET memory_limit = '{min(max(wanted_mb, _MEMORY_MB), most_mb)}MB'")

    def keep(self, name: str, sql: str, question: Question | None = None) -> None:
        """Make the temporary table *name* of the answer to a query."""
        self.put_question(question or {})
        self.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")

    def put_question(self, question: Question) -> None:
        """Make the table ``question`` of one row."""
        for value in question.values():
            str(value).encode()  # DuckDB would refuse it in words of Python
        if question:
            columns = ", ".join(f"${name} AS {name}" for name in question)
            self.execute(f"CREATE OR REPLACE TEMP TABLE question AS SELECT {columns}", question)

    def put_table(self, name: str, types: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Make the temporary table *name* of *rows*, whose columns have *types*."""
        with TemporaryDirectory(prefix="bucketsum-") as folder:
            file = Path(folder, "rows.json")
            with file.open("w", encoding="utf-8") as array:
                array.writelines(_json_array(rows))
            self.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({types})")
            self.execute(
                f"INSERT INTO {name} BY NAME SELECT * FROM read_json($file, format = 'array', "  # noqa: S608 - a name of ours
                "records = 'true', columns = $columns)",
                {"file": str(file), "columns": dict(map(str.split, types.split(", ")))},
            )

    def write_parquet(self, sql: str, file: Path) -> dict[str, str]:
        """Write the answer to *file*, in Parquet; returns the types of its columns."""
        with explained():
            answer = self.connection.sql(sql)
            self._interruptible(partial(answer.write_parquet, str(file)))
            return dict(zip(answer.columns, map(str, answer.types), strict=True))


def _json_array(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """An array of *rows* in JSON, encoded by pages: by rows, it takes twice the time."""
    rows, begin = iter(rows), "["
    while page := [*map(dict, islice(rows, _PAGE_ROWS))]:
        yield f"{begin}{_ENCODED(page)[1:-1]}"
        begin = ","
    yield "[]" if begin == "[" else "]"


class Database:
    """Tables that *local* keeps, and that *engine* answers from, by default itself."""

    def __init__(self, local: DuckDb, engine: QueryEngine | None = None) -> None:
        self.local = local
        self.engine = engine or local

    def ask(self, query: str, **question: str | int | bool) -> Answer:
        """Ask the *query* of that name; *question* has the values of its table ``question``."""
        return self.engine.run(query_text(query, self.engine.dialect), question)

    def algorithms(self, table: str) -> list[str]:
        """The algorithms of the digests in a table."""
        columns = ", ".join(f"count({name})" for name in ALGORITHMS)
        [counts] = self.engine.run(f"SELECT {columns} FROM {table}")  # noqa: S608 - names of ours
        return [name for name, count in zip(ALGORITHMS, counts, strict=True) if count]


_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - DuckDB's times have no zone
_EPOCH_UTC: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""A time is the sum of it and of what has passed: `replace` would take ten times as long."""
_TIMES: Final = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")


def _in_utc(rows: Iterable[tuple[Any, ...]], times: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield *rows* with UTC at the places *times*; a time that Python cannot have is a text."""
    for row in rows:
        values = [*row]
        for place in times:
            if isinstance(values[place], datetime):
                values[place] = _EPOCH_UTC + (values[place] - _EPOCH)
        yield (*values,)


@cache
def own_folder() -> Path:
    """A temporary folder that only this process uses, and deletes at its end."""
    folder = mkdtemp(prefix="bucketsum-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def require_engine() -> None:
    """Refuse to begin what could not be ended.

    The packages of the extra `sql` take their time, so that functions import them.

    Raises:
        CannotDoError: One of them is not installed.
    """
    if not all(find_spec(package) for package in ("duckdb", "prompt_toolkit")):
        raise CannotDoError(
            "this command needs DuckDB and prompt-toolkit; in a clone of bucketsum, `make setup` "
            "installs them, else `pipx inject bucketsum duckdb prompt-toolkit`, or pip in the "
            "environment of this command"
        )


@contextmanager
def explained() -> Iterator[None]:
    """Explain an error of DuckDB."""
    import duckdb  # noqa: PLC0415 - as `require_engine`

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise CannotDoError(
            "the query needs more memory than half of this machine's, and more space for temporary "
            "files than there is: ask for fewer rows or columns, or set TMPDIR to a folder on a "
            f"larger disk (DuckDB: {str(error).splitlines()[0]})"
        ) from error
    except duckdb.Error as error:
        raise CannotDoError(f"DuckDB: {error}") from error
