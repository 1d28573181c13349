"""`python -m tests.fuzz`: look for inputs that break a rule of a parser."""

import inspect
import resource
import time
import traceback
from pathlib import Path
from typing import Final

import click
from bench.tables.options import count
from tests.fuzz.session import CORPUS, Finding, FuzzTarget, findings
from tests.fuzz.targets import TARGETS

from bucketsum_cli.emulator.process import signals_held
from bucketsum_cli.terminal.errors import INTERRUPTED

_MEMORY_BYTES: Final = 2 * 1024**3


@click.group()
def main() -> None:
    """Feed mutated inputs to a parser until it breaks a rule or the time is up."""


def _command_of(target: FuzzTarget) -> click.Command:
    @click.command(
        target.name, help=(inspect.getdoc(target.check) or "").partition("\n\nRaises:")[0]
    )
    @count(
        "--seconds",
        60,
        "CPU time in seconds, so that a busy machine checks as many inputs as an idle one.",
    )
    @count("--seed", 0, "Seed of the random changes.", least=0)
    @click.option(
        "--corpus",
        type=click.Path(path_type=Path, file_okay=False),
        default=CORPUS / target.name,
        metavar="FOLDER",
        help=f"Folder of inputs, by default tests/fuzz/corpus/{target.name}; an input with which "
        "the parser breaks a rule is saved there.",
    )
    def command(seconds: int, seed: int, corpus: Path) -> None:
        _run(target, seconds, seed, corpus)

    return command


def _run(target: FuzzTarget, seconds: int, seed: int, corpus: Path) -> None:
    """Exits with 1 at the first finding, and with 130 after Ctrl-C."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    started = time.process_time()
    cases, status = 0, 0
    results = findings(target, target.inputs(corpus), seed)
    try:
        while time.process_time() - started <= seconds:
            with signals_held():  # an exception could be lost in a generator's clean-up
                finding = next(results)
                cases += 1
            if finding:
                click.echo(f"{target.name}: case {cases} breaks a rule; {_kept(finding, corpus)}")
                raise SystemExit(1)
    except KeyboardInterrupt:
        status = INTERRUPTED
    duration = f"{time.process_time() - started:,.0f} s of CPU time"
    click.echo(f"{target.name}: {cases} cases from seed {seed}: no rule broken ({duration})")
    raise SystemExit(status)


def _kept(finding: Finding, corpus: Path) -> str:
    corpus.mkdir(parents=True, exist_ok=True)
    file = corpus / finding.file_name
    file.write_bytes(finding.data)
    click.echo("".join(traceback.format_exception(finding.error)), err=True)
    return f"it is kept in {file}"


for _target in TARGETS:
    main.add_command(_command_of(_target))

if __name__ == "__main__":
    main()
