"""A question for each file of SQL that asks rows, to be asked of several engines."""

from typing import Any, Final

from bucketsum_cli.commands.find_list import WANTED, algorithms_of
from bucketsum_cli.snapshots.database import Database
from bucketsum_cli.snapshots.storage_prices import put_prices

OF_ROWS: Final[dict[str, dict[str, str | int | bool]]] = {
    "duplicates": {"bucket": "", "prefix": "", "least_bytes": 0, "with_members": True, "groups": 9},
    "coverage": {"bucket": "films", "prefix": ""},
    "export": {"bucket": "photos", "prefix": "a", "with_members": True},
    "export_states": {"bucket": "photos", "prefix": "", "with_members": True},
    "find": {"bucket": ""},
    "totals": {},
    "arrivals": {"since": "2026-11-10"},
    "problems": {"reasons": 3},
    "verification": {"day": "2026-12-20"},
    "named": {},
    "side": {"bucket": "photos", "prefix": "'; DROP", "pattern": ""},
    "changes_side": {"bucket": "", "prefix": "a", "until": "2026-11-10"},
    "names": {"bucket": "photos", "prefix": "", "pattern": "([0-9])", "algorithm": "md5"},
}
"""Query → its question. Those of `compare`, `changes`, sweeps and loading are not of rows."""
UNORDERED: Final = ("side", "changes_side", "names", "export", "export_states")


def put_tables(database: Database, digests: list[str]) -> None:
    """Put the tables of all questions beside a snapshot."""
    put_prices(database)
    wanted = [
        {"place": n, "name": "\n'\"", "digest": d, **dict.fromkeys(algorithms_of(d), d)}
        for n, d in enumerate([*filter(None, digests), "0"])
    ]
    database.local.put_table("wanted", WANTED, wanted)


def rounded(rows: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - an answer
    """The rows; dollars without the digits that depend on the order of an addition."""
    return [tuple(f"{v:.12g}" if isinstance(v, float) else v for v in row) for row in rows]
