"""Every test: no real AWS within reach, Hypothesis without a stopwatch, a worker for each suite."""

import gc
import os
import signal
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import botocore.session
import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.httpsession import URLLib3Session
from botocore.loaders import create_loader
from hypothesis import HealthCheck, is_hypothesis_test
from hypothesis import settings as hypothesis_settings
from tests.support.library_caches import share
from tests.support.programs import not_compared_with
from tests.support.uncovered import uncovered
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from bucketsum.s3.curl_connections import Connections, Transfer

_AWS_ENVIRONMENT: Final = {
    "AWS_ACCESS_KEY_ID": "testing",
    "AWS_SECRET_ACCESS_KEY": "testing",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_REGION": "us-east-1",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    "AWS_EC2_METADATA_DISABLED": "true",
}
_NOBODY: Final = "http://127.0.0.1:9/"  # the port that discards, where hardly anybody listens
_SUITE_OF_EVERY_WORKER: Final = "tests/simulation/"  # tests of seconds, which share nothing
_SUITES: Final = (
    "tests/e2e/test_sweep",  # one deployed stack for sweeps
    "tests/e2e/",  # another for all others
    _SUITE_OF_EVERY_WORKER,
    "tests/integration/table/",  # one DynamoDB Local
    "tests/integration/bench/",  # sandboxes, which are counted
    "tests/build/",  # one build
    "tests/template/",  # the syntax trees of all files
)
"""The first to begin. The stacks take longest, and wait for much of it; meanwhile the simulation
computes. All but the simulation have one worker each."""

_UNCOVERED_SUITES: Final = (
    "tests/build/",
    "tests/cli/snapshots/test_queries",
    "tests/fuzz/",
    "tests/integration/archives/",
    "tests/integration/bench/",
    "tests/simulation/",
    "tests/template/",
    "tests/unit/archives/test_odd_directories",
    "tests/unit/bench/",
)
"""Tests of files, or of code that other tests cover, for which the tracer takes longest."""

_UNCOVERED: Final = (
    ("botocore.client.BaseClient", "_make_api_call"),
    ("botocore.session.Session", "create_client"),
    ("boto3.session.Session", "__init__"),
    ("moto.core.models.MockAWS", "start"),
    ("moto.core.models.MockAWS", "stop"),
    ("matplotlib.figure.Figure", "savefig"),
    ("rich.console.Console", "print"),
)
"""Class and method of libraries; what they call of ours, other tests cover."""

_AWS_DOMAINS: Final = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".on.aws")

hypothesis_settings.register_profile(
    "bucketsum",
    deadline=None,  # the machine is shared: a slow example says nothing about the code
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,  # there, a red build must be red because of its change
)
hypothesis_settings.load_profile("bucketsum")


def pytest_configure() -> None:
    """Forget the person's own AWS and emulator before any test module makes a client at import.

    Nothing that tests import becomes garbage, so nobody looks for it meanwhile.

    Programs that tests start and interrupt must not inherit that Ctrl-C is ignored, as a shell has
    it for what runs in the background.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in [name for name in os.environ if name.startswith(("AWS_", "BUCKETSUM_"))]:
        del os.environ[name]
    os.environ.update(_AWS_ENVIRONMENT)
    botocore.session.create_loader = cache(create_loader)  # moto makes five sessions as it begins
    gc.disable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave these folders to `make`, which fetches their programs and names the folder."""
    tests = Path(__file__).parent
    is_apart = collection_path in (tests / "proofs", tests / "cli" / "trino")
    is_named = any(collection_path.name in name for name in config.args)
    return True if is_apart and not is_named else None


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Let each worker begin with other modules, for it keeps their rewritten assertions for all.

    In a new clone, to rewrite them takes as long as all else in a collection. Of three workers, the
    second goes backwards, and the third begins a third of the way.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    if worker == "gw0":
        return None
    folder = pytest.Dir.from_parent(parent, path=path)
    collect = folder.collect

    def turned() -> list[pytest.Item | pytest.Collector]:
        nodes = [*collect()]
        third = len(nodes) // 3
        return nodes[::-1] if worker == "gw1" else [*nodes[third:], *nodes[:third]]

    folder.collect = turned  # type: ignore[method-assign]
    return folder


class _BySuite(LoadScopeScheduling):  # type: ignore[misc] # xdist has no types
    """One worker runs a file's tests, and all files' tests of a suite that shares something."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        if path.startswith(_SUITE_OF_EVERY_WORKER):
            return nodeid
        return next((suite for suite in _SUITES if path.startswith(suite)), path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no worker waits for it at the end.

    Coverage is of examples: Hypothesis runs the same lines hundreds of times.
    """
    items.sort(key=lambda item: ([not item.nodeid.startswith(s) for s in _SUITES], item.path))
    for item in items:
        repeats = isinstance(item, pytest.Function) and is_hypothesis_test(item.function)
        if repeats or item.nodeid.startswith(_UNCOVERED_SUITES):
            item.add_marker(pytest.mark.no_cover)


def pytest_collection_finish() -> None:
    """Never look for garbage among what the tests have imported, a million objects."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000)  # what a schedule of the simulation makes is garbage at its end


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the programs that tests would compare with, were they here."""
    if missing := not_compared_with():
        terminalreporter.write_line(f"not installed, so not compared with: {', '.join(missing)}")


@pytest.hookimpl(optionalhook=True)  # without xdist there is no such hook
def pytest_xdist_auto_num_workers() -> int:
    """One more worker than CPUs: the end-to-end tests wait a third of their time."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(optionalhook=True)  # as above
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Distribute the tests among the workers."""
    config.option.loadscopereorder = False
    return _BySuite(config, log)


@pytest.fixture(scope="session", autouse=True)
def libraries_compute_once() -> Iterator[None]:
    """Share what does not differ among the sessions, clients and stacks of all tests."""
    with pytest.MonkeyPatch.context() as patch:
        share(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def libraries_are_uncovered() -> Iterator[None]:
    """Trace none of the libraries that take most of the time; moto answers botocore alone."""
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in _UNCOVERED:
            module, _, attribute = owner.rpartition(".")
            if module in sys.modules:  # only what a collected test has imported
                target = getattr(sys.modules[module], attribute)
                patch.setattr(target, name, uncovered(vars(target)[name]))
        if "moto.core.models" in sys.modules:  # nothing here sends requests with `requests`
            patch.setattr("moto.core.models.RESPONSES_METHODS", ())
        yield


@pytest.fixture(scope="session", autouse=True)
def no_real_aws() -> Iterator[None]:
    """Fail a test whose client turns to AWS's own hosts; moto answers before it comes to that.

    libcurl is not moto's to answer: it finds nobody there, and botocore reads instead.
    """
    send = URLLib3Session.send

    def send_unless_aws(session: URLLib3Session, request: AWSPreparedRequest) -> AWSResponse:
        host = urlsplit(request.url).hostname or ""
        if host.endswith(_AWS_DOMAINS):  # an Exception here would pass as a broken connection
            pytest.fail(f"a test turned to {host}; use moto or a local endpoint")
        return send(session, request)

    start = Connections._start  # noqa: SLF001 - where all requests begin

    def start_unless_aws(connections: Connections, request: Any, url: str, *rest: Any) -> Transfer:  # noqa: ANN401 - as they are
        host = urlsplit(url).hostname or ""
        return start(connections, request, _NOBODY if host.endswith(_AWS_DOMAINS) else url, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(URLLib3Session, "send", send_unless_aws)
        patch.setattr(Connections, "_start", start_unless_aws)
        yield
