"""Recorded runs in a folder: a file of JSON lines for each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from bucketsum.events.message_fields import shown
from bucketsum_cli.machine.folders import kept_files
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.output_files import append_line
from bucketsum_cli.tune.machine import machine_of
from bucketsum_lab.protocol.run_records import Run
from bucketsum_lab.results.record_values import item_values
from bucketsum_lab.results.run_store import Record, RunStore

if TYPE_CHECKING:
    from pathlib import Path

_FOLDER: Final = "runs"
_RUN_ID: Final = re.compile(r"[\w-]{1,100}", re.ASCII)


def runs_folder() -> Path:
    """The folder of runs; see `kept_files`."""
    return kept_files(_FOLDER)


class RunFiles(RunStore):
    """The runs in a folder: a line of a file is an item.

    Of the lines of an item, the last counts. A line that has no end is not read: a process was
    killed while it wrote it.

    Raises:
        CannotDoError: A file cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def runs(self) -> Iterator[Run]:
        """Every run, the newest first."""
        runs = filter(None, (self.run(file.stem) for file in self._folder.glob("*.jsonl")))
        yield from sorted(runs, key=lambda run: run.started_at, reverse=True)

    def run(self, run_id: str) -> Run | None:
        """The run, or None. Its machine is one that can be shown."""
        run = super().run(run_id)
        with self._intact("run", run_id):
            if run:
                machine_of(run)
        return run

    def _put(self, run_id: str, item: str, record: Record) -> None:
        append_line(self._file(run_id), json.dumps({**item_values(record), "item": item}))

    def _items(self, run_id: str, prefix: str) -> Iterator[Mapping[str, Any]]:
        if not _RUN_ID.fullmatch(run_id) or not self._file(run_id).exists():
            return iter(())
        *lines, _ = self._file(run_id).read_text("utf-8").split("\n")
        items = {values["item"]: values for values in map(_values_of, lines)}
        return (items[name] for name in sorted(items) if name.startswith(prefix))

    def _file(self, run_id: str) -> Path:
        return self._folder / f"{run_id}.jsonl"

    @contextmanager
    def _intact(self, kind: str, run_id: str) -> Iterator[None]:  # noqa: ARG002 - all are in it
        """Name the file in the error if its content is not that of a run."""
        file = self._file(run_id)
        try:
            yield
        except OSError as error:
            raise CannotDoError(f"{file} cannot be read as a run: {error}") from error
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise CannotDoError(
                f"{file} is not a run that `tune run` saved: {reason}; move it to another folder"
            ) from error


def _values_of(line: str) -> dict[str, Any]:
    values: Any = json.loads(line)
    if not isinstance(values, dict):
        raise TypeError(f"a line is {shown(values)}, but each of a run is a JSON object")
    return values
