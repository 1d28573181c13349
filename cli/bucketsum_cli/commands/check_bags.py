"""`bucketsum check --bag`: BagIt bags, validated where they lie."""

from __future__ import annotations

from itertools import islice
from typing import Final

from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.bags.bags_in_bucket import validate_bag, validate_bags
from bucketsum_cli.bags.results import BagResult, Verdict
from bucketsum_cli.terminal.columns import Cell, Column
from bucketsum_cli.terminal.errors import CannotDoError, end_if
from bucketsum_cli.terminal.formatting import count_text, size_text
from bucketsum_cli.terminal.hints import command_line
from bucketsum_cli.terminal.output import note, print_json_array
from bucketsum_cli.terminal.tables import RowTexts, print_items

_SHOWN: Final = 20
_STYLES: Final = {
    Verdict.VALID: "green", Verdict.INVALID: "bold red", Verdict.CANNOT_TELL: "yellow",
}  # fmt: skip
_TEXTS: Final[RowTexts[BagResult]] = {
    Column("bag", shrinks=True): lambda result: result.bag,
    Column("result"): lambda result: Cell(result.verdict, _STYLES[result.verdict]),
    Column("files", right=True): lambda result: f"{result.payload_files:,}",
    Column("size", right=True): lambda result: size_text(result.payload_bytes),
    Column("digests"): lambda result: ", ".join(result.algorithms),
}


def check_bags(stack: Stack, bag: str | None, bags: str | None, *, as_json: bool) -> None:
    """Show whether the bag in a folder, or those below one, are valid.

    Raises:
        SystemExit: With 1, unless all are.
    """
    folder = (bag if bag is not None else bags) or ""
    root = folder if folder.endswith("/") or not folder else f"{folder}/"
    results = [*validate_bags(stack, root)] if bag is None else [validate_bag(stack, root)]
    if not results:
        raise CannotDoError(f"there is no bag below s3://{stack.bucket}/{root}")
    if as_json:
        print_json_array(results)
    else:
        print_items(_TEXTS, results)
        for result in results:
            _note_problems(result)
    states = {result.verdict for result in results}
    if Verdict.CANNOT_TELL in states:
        coverage, verify = command_line("coverage", stack.bucket), command_line("verify")
        note(f"cannot tell: `{coverage}` shows what is not recorded; `{verify} {stack.bucket} "
             "--missing ALGORITHM` adds digests of the stack's ExtraAlgorithms")  # fmt: skip
    end_if(states != {Verdict.VALID})


def _note_problems(result: BagResult) -> None:
    """Note what is wrong by file, and what cannot be told by reason: often it is that of all."""
    lines: dict[tuple[str, str], list[str]] = {}
    for problem in result.problems:
        path = "" if problem.verdict is Verdict.CANNOT_TELL else problem.path
        lines.setdefault((path, problem.reason), []).append(problem.path)
    for (_, reason), (first, *others) in islice(lines.items(), _SHOWN):
        more = f" and {count_text(len(others), 'other file')}" if others else ""
        note(f"{result.bag}{first}{more}: {reason}")
    if (rest := len(lines) - _SHOWN) > 0:
        note(f"{result.bag}: and {count_text(rest, 'other problem')}; --json has all")
