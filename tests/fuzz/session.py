"""Runs of one parser with changed inputs, and the inputs that break a rule."""

import hashlib
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from tests.fuzz.coverage import Coverage
from tests.fuzz.mutation import mutated

CORPUS: Final = Path(__file__).parent / "corpus"
_HANG_SECONDS: Final = 30
"""CPU time of one input, so that a busy machine makes no findings."""

_TEXT_CHARACTERS_MAX: Final = 4000


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """A parser, and the rules that hold for any input of it.

    Attributes:
        name: Name of the subcommand, and of the folder of the corpus.
        check: Parses an input; raises if a rule is broken.
        seeds: Inputs to begin with, in addition to the corpus.
        quick_cases: Number of changed inputs that the test suite checks.
    """

    name: str
    check: Callable[[bytes], None]
    seeds: tuple[bytes, ...] = ()
    quick_cases: int = 0

    def inputs(self, folder: Path | None = None) -> list[bytes]:
        """The seeds, and the files of the corpus or of another *folder*."""
        files = sorted((folder or CORPUS / self.name).glob("*"))
        return [*self.seeds, *(file.read_bytes() for file in files)]


def check_refusal(error: Exception) -> None:
    """An error's text goes into logs, queues and terminals: it is short and printable."""
    text = str(error)
    assert len(text) <= _TEXT_CHARACTERS_MAX, "an error's text is short"
    assert text.isprintable(), "an error's text is safe for a terminal"


@dataclass(frozen=True, slots=True)
class Finding:
    """An input that breaks a rule, and the error that shows it."""

    data: bytes
    error: Exception

    @property
    def file_name(self) -> str:
        """A name for the corpus."""
        return f"finding-{hashlib.sha256(self.data).hexdigest()[:12]}"


def cases(inputs: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """Every input, then changed ones for ever; the same for one *seed*."""
    chance = random.Random(seed)  # noqa: S311 - inputs, not secrets
    yield from inputs
    while True:
        yield mutated(chance.choice(inputs), inputs, chance)


def findings(target: FuzzTarget, inputs: Sequence[bytes], seed: int) -> Iterator[Finding | None]:
    """Check changed inputs for ever; an input that reaches new code is changed further."""
    pool = list(inputs)
    chance = random.Random(seed)  # noqa: S311 - inputs, not secrets
    coverage = Coverage()
    for data in inputs:
        with coverage.recorded():
            finding = finding_of(target, data)
        yield finding
    while True:
        data = mutated(chance.choice(pool), inputs, chance)
        with coverage.recorded():
            finding = finding_of(target, data)
        if coverage.grew:
            pool.append(data)
        yield finding


def finding_of(target: FuzzTarget, data: bytes) -> Finding | None:
    """The rule that *data* breaks, if any; no end, or no memory left, is one."""
    try:
        with _cpu_limit(_HANG_SECONDS):
            target.check(data)
    except Exception as error:  # noqa: BLE001 - every error that the parser does not name
        return Finding(data, error)
    return None


@contextmanager
def _cpu_limit(seconds: int) -> Iterator[None]:
    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"no end after {seconds} s of CPU time")

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
