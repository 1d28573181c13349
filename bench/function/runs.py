"""A function in the box: started, given its batches, measured, and its rows compared."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench.box.box import Box
from bench.box.network import SERVER_ADDRESS
from bench.box.profiles import Profile
from bench.box.requirements import SYSTEM_PATH
from bench.box.server import PROJECT, Server, start_server
from bench.function import artefacts as built
from bench.function import small_objects
from bucketsum_cli import output

if TYPE_CHECKING:
    from bench.box.objects import KnownObject
    from bench.function.artefacts import Artefacts

FOLDER: Final = PROJECT / ".bucketsum" / "bench"

WRITE_DELAY_S: Final = 0.005
"""[?] What DynamoDB takes for a PutItem: AWS says single-digit milliseconds."""

_LOG_IS_LATE_S: Final = 1.3
"""nginx writes its log up to a second late."""

_DYNAMODB: Final = f"{SERVER_ADDRESS}:8000"
_LINK_MBIT_PER_S: Final = 625
_OBJECT_BYTES: Final = small_objects.AVERAGE_BYTES


@dataclass(frozen=True, slots=True)
class Way:
    """One function and its setting.

    Attributes:
        function: ``hasher`` or ``naive``.
        batch_size: Messages of an invocation.
        threads: Objects that are read side by side at most; 0 is the hasher's own rule.
        split: Whether the hasher's parts are timed, which makes it slower.
    """

    function: str
    batch_size: int
    threads: int = 0
    split: bool = False

    @property
    def name(self) -> str:
        """What the table calls it."""
        threads = f", threads {self.threads}" if self.threads else ""
        split = ", parts timed" if self.split else ""
        return f"{self.function}, batches of {self.batch_size}{threads}{split}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of one way.

    Attributes:
        way: Its name.
        seconds: Wall time of all invocations.
        cpu_seconds: Processor time in them.
        peak_bytes: Most memory that was resident.
        gets: Requests to S3.
        writes: Requests to DynamoDB.
        invocations: Wall and processor seconds of each.
        parts: Processor seconds of the hasher's parts, where they were timed.
    """

    way: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    gets: int
    writes: int
    invocations: list[tuple[float, float]]
    parts: dict[str, float]


class Bench:
    """Runs functions in one box."""

    def __init__(self, box: Box, artefacts: Artefacts, folder: Path) -> None:
        self._box = box
        self._artefacts = artefacts
        self._folder = folder
        self._items = folder / "items"
        self._root = FOLDER / "objects"
        self._objects: list[KnownObject] = small_objects.make(self._root)
        self._server = self._serve()
        self._trusted = self._certificates()

    def _serve(self) -> Server:
        folder = self._folder / "server"
        folder.mkdir()
        server = start_server(self._box, folder, self._root)
        self._box.serve(
            [
                *(sys.executable, "-m", "bench.box.fake_dynamodb", _DYNAMODB),
                *(str(folder / "server.pem"), str(WRITE_DELAY_S), str(self._items)),
            ],
            {"PATH": SYSTEM_PATH, "PYTHONPATH": str(PROJECT)},
            self._folder / "dynamodb.log",
            cwd=PROJECT,
        )
        return server

    def _certificates(self) -> Path:
        """What botocore trusts by itself, and the box's authority: loading them takes its time."""
        bundle = self._folder / "certificates.pem"
        botocore = next(self._artefacts.python.parents[1].glob("lib/*/site-packages/botocore"))
        own = self._server.certificates.read_bytes()
        bundle.write_bytes((botocore / "cacert.pem").read_bytes() + own)
        return bundle

    def run(self, way: Way) -> Sample:
        """One run in a fresh process.

        Raises:
            RuntimeError: A digest is wrong or missing, or the function failed.
        """
        self._items.write_bytes(b"")
        asked = len(self._server.requests.read_bytes().splitlines())
        log = self._folder / "function.log"
        log.write_bytes(b"")
        inside = self._box.start(self._command(), self._environment(), log, cwd=PROJECT)
        stdin, stdout = inside.process.stdin, inside.process.stdout
        assert stdin is not None  # noqa: S101 - made with pipes
        assert stdout is not None  # noqa: S101 - made with pipes
        print(json.dumps(self._job(way)), file=stdin, flush=True)
        ready = stdout.readline()
        inside.limit_cpu()
        if ready:
            print("go", file=stdin, flush=True)
        told = stdout.readline()
        kills = self._box.finish(inside)
        if not told:
            raise RuntimeError(
                f"{way.name} ended (out of memory: {kills}): {log.read_text()[-2000:]}"
            )
        measured: dict[str, Any] = json.loads(told)
        if measured.pop("failed"):
            raise RuntimeError(f"{way.name} gave messages back: {log.read_text()[-2000:]}")
        writes = self._compare(way)
        time.sleep(_LOG_IS_LATE_S)
        gets = len(self._server.requests.read_bytes().splitlines()) - asked
        return Sample(way.name, **measured, gets=gets, writes=writes)

    def _command(self) -> list[str]:
        harness = PROJECT / "bench" / "function" / "harness.py"
        return [str(self._artefacts.python), "-B", "-s", str(harness)]

    def _environment(self) -> dict[str, str]:
        return built.VARIABLES | {
            "PATH": SYSTEM_PATH,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(self._box.profile.memory_mb),
            "AWS_CA_BUNDLE": str(self._trusted),
            "AWS_ENDPOINT_URL_S3": self._server.endpoint,
            "AWS_ENDPOINT_URL_DYNAMODB": f"https://{_DYNAMODB}",
        }

    def _job(self, way: Way) -> dict[str, Any]:
        # each as `sam build` leaves it: the layer compiled for the one, not for the other
        layer = self._artefacts.layer if way.function == "hasher" else self._artefacts.uncompiled
        return {
            "search": self._artefacts.search(way.function, layer),
            "threads": way.threads,
            "split": way.split,
            "events": list(small_objects.events(self._root, self._objects, way.batch_size)),
        }

    def _compare(self, way: Way) -> int:
        """How many writes there were; every digest is compared."""
        written = [json.loads(line)["Item"] for line in self._items.read_bytes().splitlines()]
        found = {item["object"]["S"].partition("/")[2]: item["sha1"]["S"] for item in written}
        if found != {one.key: one.sha1 for one in self._objects}:
            raise RuntimeError(f"{way.name} wrote other digests than those of the objects")
        return len(written)


def measure(artefacts: Artefacts, memory_mb: int, ways: tuple[Way, ...], runs: int) -> list[Sample]:
    """Every way *runs* times, in turns, in one box.

    Raises:
        CannotMakeBoxError: This machine does not let us.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    shape = Profile(f"{memory_mb}", memory_mb, _LINK_MBIT_PER_S, _OBJECT_BYTES)
    samples = []
    with tempfile.TemporaryDirectory(prefix="function-", dir=FOLDER) as folder, Box(shape) as box:
        bench = Bench(box, artefacts, Path(folder))
        for number in range(runs):
            for way in ways:
                sample = bench.run(way)
                samples.append(sample)
                rate = small_objects.COUNT / sample.seconds
                output.note(
                    f"  {memory_mb} MB, run {number + 1} of {runs}: {way.name}: {rate:.1f}/s"
                )
    return samples
