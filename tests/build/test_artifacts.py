"""The built folders hold what Lambda needs and nothing else."""

import importlib.metadata
import re
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from tests.build.artifacts import Built, function_ids, ids_of, interpreter
from tests.support.sam_template import TEMPLATE, load_template
from tests.support.settings import VARIABLES

ROOT: Final = TEMPLATE.parent
LIBRARY: Final = ROOT / "layers" / "bucketsum"
ENTRY_POINT: Final = "import lambda_handler"
"""Code has this where a layer has the handler."""

UNZIPPED_LIMIT_BYTES: Final = 250 * 1024 * 1024  # function and layers together


def pins(text: str) -> dict[str, str]:
    """Normalised distribution name → exact version, of a requirements file's ``==`` lines."""
    pins = re.findall(r"^([A-Za-z0-9_.-]+)(?:\[[^]]*])?==([^\s;\\]+)", text, re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pins}


def layer_pins() -> dict[str, str]:
    """The versions that the layer is pinned to."""
    return pins((LIBRARY / "requirements.txt").read_text())


def curl_pin() -> dict[str, str]:
    """The compiled package that lies beside the library: pycurl alone."""
    every = pins((LIBRARY / "requirements-binary.txt").read_text())
    return {"pycurl": every["pycurl"]}


def imported(*folders: Path) -> subprocess.CompletedProcess[str]:
    """Import ``app`` where only the standard library and *folders* can be imported from."""
    return run_with(folders, "import app; app.lambda_handler")


def run_with(folders: Sequence[Path], script: str) -> subprocess.CompletedProcess[str]:
    """Run *script* where only the standard library and *folders* can be imported from."""
    script = f"import sys; sys.path[:0] = sys.argv[1:]; {script}"
    return subprocess.run(
        [interpreter().path, "-B", "-I", "-S", "-c", script, *folders],
        check=False,
        capture_output=True,
        text=True,
        env=VARIABLES,
    )


def git(*arguments: str) -> str:
    """The output of git; nothing where there is no history."""
    done = subprocess.run(
        ["git", *arguments],  # noqa: S607 - wherever git is
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.mark.parametrize("function", function_ids())
def test_handler_imports_in_lambda(function: str, built: Built, lambda_packages: Path) -> None:
    """A built handler imports from its folder, its layers and Lambda's own packages alone."""
    done = imported(built.function(function), *built.layers_of(function), lambda_packages)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("function", function_ids())
def test_earlier_code_starts_with_the_layer_of_now(
    function: str, built: Built, lambda_packages: Path, tmp_path: Path
) -> None:
    """While a stack is updated, code of an earlier version runs with the new layer, or the reverse.

    This holds from the version on whose code is one import from the layer.
    """
    path = f"{load_template()['Resources'][function]['Properties']['CodeUri']}/app.py"
    commits = git("log", "--format=%h", "--diff-filter=AM", "--", path).split()
    versions = {git("show", f"{commit}:{path}") for commit in commits}
    suitable = {text for text in versions if ENTRY_POINT in text}
    if not suitable:
        pytest.skip(f"the history has no {path}")
    for text in suitable - {(ROOT / path).read_text()}:  # this has the test above
        (tmp_path / "app.py").write_text(text)
        done = imported(tmp_path, *built.layers_of(function), lambda_packages)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("function", function_ids())
def test_function_folder_is_one_file(function: str, built: Built) -> None:
    """A function's folder holds its handler; what is shared is in the layer."""
    assert {path.name for path in built.function(function).iterdir()} == {"__init__.py", "app.py"}


def test_layer_holds_the_library(built: Built) -> None:
    """The layer's library is the repository's, byte for byte and module for module."""
    source, shipped = LIBRARY / "bucketsum", built.layer / "bucketsum"
    expected = {path.name: path.read_bytes() for path in source.iterdir() if path.is_file()}
    present = {path.name: path.read_bytes() for path in shipped.iterdir() if path.is_file()}
    assert present.pop("layer.json")  # the manifest is the build's own
    assert present == expected


def test_layer_holds_exactly_what_is_pinned(built: Built) -> None:
    """The layer's distributions are those of its requirements, in exactly these versions."""
    shipped = importlib.metadata.distributions(path=[str(built.layer)])
    versions = {
        re.sub(r"[-_.]+", "-", distribution.name).lower(): distribution.version
        for distribution in shipped
    }
    assert versions == layer_pins() | curl_pin()


def test_layer_is_what_the_tests_run_with() -> None:
    """The locked environment has the versions that the layer pins."""
    locked = pins((ROOT / "requirements.lock").read_text())
    pinned = layer_pins() | pins((LIBRARY / "requirements-binary.txt").read_text())
    assert {name: locked[name] for name in pinned} == pinned


def test_powertools_is_pinned_alike() -> None:
    """pyproject.toml asks for the version of Powertools that the layer ships."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = {
        requirement.name: requirement
        for requirement in map(Requirement, project["dependency-groups"]["dev"])
    }
    version = layer_pins()["aws-lambda-powertools"]
    assert wanted["aws-lambda-powertools"].specifier == SpecifierSet(f"=={version}")


def test_layer_serves_every_runtime_and_architecture(built: Built) -> None:
    """Each runtime has its compiled modules where Lambda searches, and nowhere else."""
    suffixes = {".so", ".pyd", ".dylib"}
    compiled = {
        path.relative_to(built.layer) for path in built.layer.rglob("*") if path.suffix in suffixes
    }
    runtimes = load_template()["Resources"]["BucketsumLayer"]["Properties"]["CompatibleRuntimes"]
    binaries = set()
    for runtime in runtimes:
        tag = "cpython-" + runtime.removeprefix("python").replace(".", "")
        for machine in ("x86_64", "aarch64"):
            here = {
                path
                for path in compiled
                if path.parts[:3] == ("lib", runtime, "site-packages")
                and f".{tag}-{machine}-linux-gnu." in path.name
            }
            names = {path.name.partition(".")[0] for path in here}
            zstd = set() if runtime == "python3.14" else {"_zstd"}
            assert names == {"_isal", "igzip_lib", "isal_zlib", "_inflate64", "crc"} | zstd
            binaries |= here
    assert {path for path in compiled if "curl" not in path.parts[0]} == binaries


def test_layer_brings_libcurl_to_every_runtime(built: Built) -> None:
    """Pycurl is there for every runtime and both architectures, libcurl twice."""
    runtimes = load_template()["Resources"]["BucketsumLayer"]["Properties"]["CompatibleRuntimes"]
    versions = [runtime.removeprefix("python").replace(".", "") for runtime in runtimes]
    expected = {
        f"_pycurl.cpython-{version}-{machine}-linux-gnu.so"
        for version in versions
        for machine in ("x86_64", "aarch64")
    }
    assert {path.name for path in (built.layer / "pycurl").glob("*.so")} == expected
    assert len(list((built.layer / "pycurl.libs").glob("libcurl-*"))) == 2
    assert not (built.layer / "curl").exists()


def test_layer_reads_with_its_own_libcurl(built: Built, lambda_packages: Path) -> None:
    """Where Lambda looks, the interpreter finds pycurl and reads over libcurl."""
    script = "from bucketsum.s3 import chosen_reader; import pycurl; print(pycurl.__file__)"
    done = run_with([built.layer, lambda_packages], script)
    assert (done.stdout.strip(), done.stderr) == (str(built.layer / "pycurl/__init__.py"), "")


def test_layer_decodes_with_its_own_wheels(built: Built) -> None:
    """Where Lambda looks, this interpreter finds ISA-L, Deflate64, Zstandard and S3's CRCs."""
    site = built.layer / "lib" / interpreter().runtime / "site-packages"
    script = (
        "from bucketsum.archives import decoders as d;"
        "print(d.ENGINES[0], bool(d._optional('inflate64')),"
        " bool(d._optional('compression.zstd') or d._optional('backports.zstd')));"
        "from bucketsum.checksums.running import running;"
        "print(running('crc64nvme').digest().hex(), running('crc32c').digest().hex())"
    )
    done = run_with([built.layer, site], script)
    expected = ["isal", "True", "True", "0" * 16, "0" * 8]
    assert (done.stdout.split(), done.stderr) == (expected, "")


def test_layer_suits_every_runtime(built: Built) -> None:
    """Each distribution in the layer admits each runtime that the template offers."""
    runtimes = load_template()["Parameters"]["PythonRuntime"]["AllowedValues"]
    for distribution in importlib.metadata.distributions(path=[str(built.layer)]):
        admitted = SpecifierSet(distribution.metadata["Requires-Python"] or "")
        refused = [
            runtime for runtime in runtimes if f"{runtime.removeprefix('python')}.0" not in admitted
        ]
        assert refused == [], distribution.name


def test_layer_has_what_its_packages_need(built: Built) -> None:
    """Every requirement of the layer's distributions is in the layer or in Lambda."""
    at_hand = {*layer_pins(), "boto3", "botocore"}
    for distribution in importlib.metadata.distributions(path=[str(built.layer)]):
        needs = map(Requirement, distribution.requires or ())
        plain = {
            need.name for need in needs if not need.marker or need.marker.evaluate({"extra": ""})
        }
        assert {re.sub(r"[-_.]+", "-", name).lower() for name in plain} <= at_hand


@pytest.mark.parametrize(
    "unwanted",
    [
        "bin",  # programs name the interpreter of the machine that built them
        "tests", "test", "conftest.py",
        ".env", ".aws", ".git", "credentials", "*.pem", "*.key",
    ],
)  # fmt: skip
def test_layer_has_no(unwanted: str, built: Built) -> None:
    """No programs, no tests and no secrets travel in the layer."""
    files = [path for path in built.layer.rglob(unwanted) if "dist-info" not in str(path)]
    assert files == []


def test_layer_has_no_second_sdk(built: Built) -> None:
    """The layer shadows none of Lambda's own boto3: it would cost memory and start-up time."""
    shipped = {path.name for path in built.layer.iterdir()}
    assert shipped & {"boto3", "botocore", "s3transfer", "urllib3"} == set()


def test_size_fits_lambda(built: Built) -> None:
    """Function and layer unpack to a third of Lambda's 250 MiB, which it checks at deploy."""
    files = [*built.layer.rglob("*"), *built.function("HasherFunction").rglob("*")]
    total = sum(path.stat().st_size for path in files if path.is_file())
    assert 0 < total < UNZIPPED_LIMIT_BYTES / 3


def test_build_resolves_the_layer(built: Built) -> None:
    """The built template points at the folders that were looked at here."""
    text = built.template.read_text()
    content: list[Any] = re.findall(r"(?:CodeUri|ContentUri): (\S+)", text)
    assert sorted(content) == sorted([*function_ids(), *ids_of("AWS::Serverless::LayerVersion")])
