"""Runs of a function in the sandbox; every digest that it writes is compared."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.function import harness, small_objects
from bench.function.artefacts import VARIABLES, Artefacts
from bench.sandbox import fake_dynamodb
from bench.sandbox.network import SERVER_ADDRESS
from bench.sandbox.objects import COMPARED, StoredObject
from bench.sandbox.profiles import Profile
from bench.sandbox.requirements import SYSTEM_PATH
from bench.sandbox.sandbox import Sandbox
from bench.sandbox.server import FOLDER, PROJECT, Server, serving
from bucketsum_cli.machine.json_lines import NoAnswerError
from bucketsum_cli.machine.proxy import LINK_MBIT_PER_S
from bucketsum_cli.terminal import output
from bucketsum_lab.workloads.transfer.model import FILE_BYTES_MEAN

WRITE_DELAY_S: Final = 0.005
"""[?] Assumed time of a PutItem; AWS says single-digit milliseconds."""

_ROOT: Final = FOLDER / "objects"
_ANSWER_SECONDS: Final = 600.0

_DYNAMODB: Final = f"{SERVER_ADDRESS}:8000"


@dataclass(frozen=True, slots=True)
class Variant:
    """``hasher`` or ``baseline`` with a batch size; the hasher compares S3's checksums, or not."""

    function: str
    batch_size: int
    compares: bool = True

    @property
    def name(self) -> str:
        """The variant's name in tables."""
        rest = "" if self.compares else ", CompareChecksums=no"
        return f"{self.function}, batches of {self.batch_size}{rest}"


@dataclass(frozen=True, slots=True)
class FunctionSample:
    """One run of one variant, and the wall and CPU seconds of each of its invocations."""

    variant: str
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    gets: int
    writes: int
    invocations: list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class FunctionRunner:
    """Runs functions in one sandbox."""

    sandbox: Sandbox
    server: Server
    folder: Path
    artefacts: Artefacts
    objects: list[StoredObject]

    def __post_init__(self) -> None:
        table = [sys.executable, "-m", fake_dynamodb.__name__, _DYNAMODB, str(WRITE_DELAY_S)]
        self.sandbox.serve(
            [*table, str(self._requests), str(self.server.certificates.with_name("server.pem"))],
            {"PATH": SYSTEM_PATH, "PYTHONPATH": str(PROJECT)},
            self.folder / "dynamodb.log",
        )

    @property
    def _requests(self) -> Path:
        return self.folder / "requests"

    def _certificates(self) -> Path:
        """Botocore's certificate authorities and the sandbox's; loading them takes time."""
        bundle = self.folder / "certificates.pem"
        botocore = next(self.artefacts.python.parents[1].glob("lib/*/site-packages/botocore"))
        own = self.server.certificates.read_bytes()
        bundle.write_bytes((botocore / "cacert.pem").read_bytes() + own)
        return bundle

    def run(self, variant: Variant) -> FunctionSample:
        """One run in a fresh process.

        Raises:
            RuntimeError: The function failed, or a digest is wrong or missing.
        """
        self._requests.write_bytes(b"")
        earlier_gets = self.server.request_count()
        log = self.folder / "function.log"
        log.write_bytes(b"")
        command = [str(self.artefacts.python), "-B", "-s", "-m", harness.__name__]
        environment = self._environment()
        if not variant.compares:
            environment["COMPARE_CHECKSUMS"] = "no"
        inside = self.sandbox.start(command, environment, log)
        try:
            inside.ask(self._job(variant), _ANSWER_SECONDS)
            inside.limit_cpu()
            measured = inside.ask("go", _ANSWER_SECONDS)
        except NoAnswerError as error:
            kills = self.sandbox.finish(inside)
            end = log.read_text()[-2000:]
            raise RuntimeError(f"{variant.name} {error} (out of memory: {kills}): {end}") from None
        self.sandbox.finish(inside)
        if measured.pop("failed"):
            raise RuntimeError(f"{variant.name} failed messages: {log.read_text()[-2000:]}")
        writes = self._compare(variant)
        gets = self.server.request_count() - earlier_gets
        return FunctionSample(variant.name, **measured, gets=gets, writes=writes)

    def _environment(self) -> dict[str, str]:
        return VARIABLES | {
            "PATH": SYSTEM_PATH,
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(self.sandbox.profile.memory_mb),
            "AWS_CA_BUNDLE": str(self._certificates()),
            "AWS_ENDPOINT_URL_S3": self.server.endpoint,
            "AWS_ENDPOINT_URL_DYNAMODB": f"https://{_DYNAMODB}",
        }

    def _job(self, variant: Variant) -> dict[str, Any]:
        # as `sam build` leaves them: bucketsum's layer is compiled, the baseline's is not
        layer = self.artefacts.layer if variant.function == "hasher" else self.artefacts.uncompiled
        key = COMPARED if variant.function == "hasher" else ""
        events = small_objects.events(_ROOT, self.objects, variant.batch_size, key)
        return {
            "search": self.artefacts.search(variant.function, layer),
            "events": list(events),
        }

    def _compare(self, variant: Variant) -> int:
        """Return the number of rows written; raise RuntimeError if a digest is wrong."""
        written = [json.loads(line)["Item"] for line in self._requests.read_bytes().splitlines()]
        digests = {
            item["object"]["S"].partition("/")[2].removeprefix(COMPARED): item["sha1"]["S"]
            for item in written
        }
        if digests != {known.key: known.sha1 for known in self.objects}:
            raise RuntimeError(f"{variant.name} wrote wrong digests")
        return len(written)


def measure(
    artefacts: Artefacts, memory_mb: int, variants: tuple[Variant, ...], runs: int
) -> list[FunctionSample]:
    """Run every variant *runs* times, in turns, in one sandbox.

    Raises:
        CannotMakeSandboxError: The sandbox cannot be created here.
    """
    profile = Profile(f"{memory_mb}", memory_mb, LINK_MBIT_PER_S, FILE_BYTES_MEAN)
    samples = []
    objects = small_objects.make(_ROOT)
    with serving(profile, _ROOT) as (sandbox, server, folder):
        runner = FunctionRunner(sandbox, server, folder, artefacts, objects)
        for number in range(runs):
            for variant in variants:
                sample = runner.run(variant)
                samples.append(sample)
                rate = small_objects.COUNT / sample.seconds
                output.note(
                    f"  {memory_mb} MB, run {number + 1} of {runs}: {variant.name}: {rate:.1f}/s"
                )
    return samples
