"""Build the Lambda layer: `python3 build.py TARGET`; the Makefile calls it for `sam build`.

`python3 build.py --check TARGET` fails if a built layer lacks wheels; `make check` calls that.

requirements.txt is pure Python and lies once in TARGET. requirements-binary.txt is compiled: its
wheels are installed for every runtime and both CPU architectures. The codecs lie in the folder
that Lambda searches for one Python version; pycurl lies in TARGET itself, because the libcurl that
it brings (17 MB for each architecture) is the same for every Python. File names carry version and
architecture, so no wheel overwrites another. So one layer serves every runtime, and building it
needs no interpreter of the runtime's version.

The build fails if a wheel is missing, except for the `KNOWN_GAPS`. With ALLOW_MISSING=1 in the
environment it goes on, and the manifest, `bucketsum/layer.json`, names what is missing; the hasher
logs that. With ONLY_RUNTIME (3.13-x86_64), as for the local emulator, the layer serves that runtime
alone. Only the standard library and pip are used. pip installs nothing whose SHA-256 is not in
requirements.lock, which `make lock` writes.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

RUNTIMES: Final = ("3.12", "3.13", "3.14")
ARCHITECTURES: Final = ("x86_64", "aarch64")

KNOWN_GAPS: Final = {
    # Python 3.14 has Zstandard in its standard library.
    ("3.14", "backports-zstd"),
}
"""Runtime and distribution of wheels that do not exist, and need not."""

_HERE: Final = Path(__file__).parent
_LOCK: Final = "requirements.lock"
_MANIFEST: Final = "layer.json"
_USAGE: Final = "usage: build.py FOLDER, or build.py --check FOLDER"
_SYSTEMS: Final = ("manylinux2014", "manylinux_2_28")
"""Systems that wheels may be built for, the preferred first."""

_PIP: Final = (
    sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
    "--no-compile", "--only-binary=:all:", "--root-user-action=ignore", "--require-hashes",
)  # fmt: skip

# Lambda's /opt is read-only and SAM's zip files carry no times. Bytecode that Python checks against
# a time would be compiled again at every cold start, so the layer's is marked as unchecked.
_COMPILE: Final = (
    "-m",
    "compileall",
    "-q",
    "--invalidation-mode",
    "unchecked-hash",
    "-p",
    "/opt/python",
)
# Parts of Powertools that no function imports get no bytecode.
_NOT_IMPORTED: Final = (
    "aws_lambda_powertools/(event_handler|utilities/(?!__init__|jmespath_utils|typing))"
)


def pins_in(requirements: Path) -> dict[str, str]:
    """Normalised distribution name → its requirement, of every ``==`` line."""
    lines = re.findall(r"^([A-Za-z0-9_.-]+)(==[^\s;]+)", requirements.read_text(), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): name + version for name, version in lines}


def locked(pins: Iterable[str]) -> str:
    """Return a requirements file for *pins*, with the SHA-256 of each file that may be installed.

    Raises:
        BuildError: requirements.lock does not have this version of a distribution.
    """
    blocks = {
        re.sub(r"[-_.]+", "-", block.split()[0]).lower(): block
        for block in re.split(r"^(?=\w)", (_HERE / _LOCK).read_text(), flags=re.MULTILINE)[1:]
    }
    keys = [re.sub(r"[-_.]+", "-", pin).lower() for pin in pins]
    if absent := [key for key in keys if key not in blocks]:
        raise BuildError(f"{_LOCK} has no {', '.join(absent)}: run `make lock`")
    return "".join(blocks[key] for key in keys)


class BuildError(Exception):
    """The layer cannot be built; the text says why and what to do."""


def compiled_for(version: str) -> list[str]:
    """The compiled requirements of the runtime of Python *version*, without `KNOWN_GAPS`."""
    pins = pins_in(_HERE / "requirements-binary.txt").items()
    return [pin for name, pin in pins if (version, name) not in KNOWN_GAPS]


def wanted_runtimes() -> list[tuple[str, str]]:
    """Python's version and the architecture of each runtime, or of the one in ONLY_RUNTIME.

    Raises:
        BuildError: There is no such runtime.
    """
    every = {"-".join(runtime): runtime for runtime in itertools.product(RUNTIMES, ARCHITECTURES)}
    only = os.environ.get("ONLY_RUNTIME")
    if only and only not in every:
        raise BuildError(f"ONLY_RUNTIME is {only}, not one of {', '.join(every)}")
    return [every[only]] if only else [*every.values()]


def install_pure(target: Path) -> None:
    """Install the distributions that are pure Python.

    Raises:
        BuildError: pip failed; its reason is on stdout.
    """
    options = ["--implementation", "py", "--abi", "none", "--platform", "any"]
    pins = pins_in(_HERE / "requirements.txt").values()
    if not _pip(target, [*options, "--python-version", "3.12"], pins):
        raise BuildError("requirements.txt could not be installed; pip's reason is above")
    shutil.rmtree(target / "bin", ignore_errors=True)  # programs that name this machine's Python


def install_compiled(runtime: tuple[str, str], part: Path) -> list[str]:
    """Install the wheels for Python's version and an architecture into the empty folder *part*.

    Returns those that could be installed.
    """
    version, architecture = runtime
    options = ["--implementation", "cp", "--python-version", version]
    options += [f"--platform={system}_{architecture}" for system in _SYSTEMS]
    pins = compiled_for(version)
    if _pip(part, options, pins):
        return pins
    return [pin for pin in pins if _pip(part, options, [pin])]


def place(part: Path, target: Path, runtime: tuple[str, str]) -> None:
    """Copy the wheels in *part* to where a runtime searches: pycurl to *target*, others below."""
    version, architecture = runtime
    shutil.rmtree(part / "curl", ignore_errors=True)  # pycurl's old module, unused
    tag = f".cpython-{version.replace('.', '')}-{architecture}-linux-gnu.so"
    for binary in [*part.rglob("*.abi3.so")]:  # its name is the same for both architectures
        binary.rename(binary.with_name(binary.name.replace(".abi3.so", tag)))
    site = target / f"lib/python{version}/site-packages"
    for entry in part.iterdir():
        folder = target if entry.name.startswith("pycurl") else site
        folder.mkdir(parents=True, exist_ok=True)
        if entry.is_dir():
            shutil.copytree(entry, folder / entry.name, dirs_exist_ok=True)
        else:
            shutil.copy2(entry, folder)


def compile_bytecode(target: Path) -> list[str]:
    """Compile for each runtime whose Python is on PATH, and return these runtimes."""
    compiled = []
    for version in dict(wanted_runtimes()):
        python = shutil.which(f"python{version}")
        if python is None or not _works(python):
            print(f"no python{version} on PATH: no bytecode for it, its cold starts are slower")
            continue
        skipped = f"lib/python(?!{version}/)|{_NOT_IMPORTED}"
        command = [python, *_COMPILE, "-x", skipped, "."]
        reproducible = {**os.environ, "PYTHONHASHSEED": "0"}
        subprocess.run(command, check=True, cwd=target, env=reproducible)
        compiled.append(version)
    return compiled


def build(target: Path) -> list[str]:
    """Fill *target* with the layer and its manifest, and return the wheels that are missing.

    Raises:
        BuildError: The pure distributions cannot be installed, or ONLY_RUNTIME is wrong.
    """
    runtimes = wanted_runtimes()
    target.mkdir(parents=True, exist_ok=True)
    install_pure(target)
    installed: dict[str, list[str]] = {}
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(4) as threads:
        parts = [Path(tempfile.mkdtemp(dir=folder)) for _ in runtimes]
        present = threads.map(install_compiled, runtimes, parts)  # pip mostly waits for the network
        for runtime, part, pins in zip(runtimes, parts, present, strict=True):
            name = "Python {} on {}".format(*runtime)
            installed[name] = pins
            missing += [f"{pin} for {name}" for pin in compiled_for(runtime[0]) if pin not in pins]
            place(part, target, runtime)
    library = target / "bucketsum"
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(_HERE / "bucketsum", library, dirs_exist_ok=True, ignore=without)
    bytecode = compile_bytecode(target)
    manifest = {"wheels": installed, "bytecode": bytecode, "missing": missing}
    (library / _MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return missing


def _pip(target: Path, options: Sequence[str], pins: Iterable[str]) -> bool:
    """Install *pins* into *target*; pip's messages go to stdout, which SAM shows."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as requirements:
        requirements.write(locked(pins))
        requirements.flush()
        command = [*_PIP, "--target", str(target), *options, "--requirement", requirements.name]
        return subprocess.run(command, check=False, stderr=subprocess.STDOUT).returncode == 0


def _works(python: str) -> bool:
    """Return whether *python* runs: a version manager's shim may be there without its Python."""
    return not subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode


def missing_in(target: Path) -> list[str]:
    """Return the missing wheels that the manifest of a built layer names.

    Raises:
        BuildError: There is no manifest: an older bucketsum has built it, or the build failed.
    """
    try:
        manifest = json.loads((target / "bucketsum" / _MANIFEST).read_bytes())
    except FileNotFoundError:
        raise BuildError(f"{target} has no {_MANIFEST}: run `sam build --no-cached`") from None
    return list(manifest["missing"])


def main(arguments: list[str]) -> int:
    """Build into a folder, or with ``--check`` look at what was built there.

    Returns:
        2 if the arguments are not these; 1 if it failed, or if wheels are missing and that is not
        allowed; else 0.
    """
    checks = arguments[:1] == ["--check"]
    if len(arguments) != 1 + checks:
        print(f"{_USAGE}; got {arguments}", file=sys.stderr)
        return 2
    action = missing_in if checks else build
    try:
        missing = action(Path(arguments[-1]))
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    if missing and os.environ.get("ALLOW_MISSING") != "1":
        print(
            f"The layer lacks {len(missing)} compiled wheels: {'; '.join(missing)}. Without them "
            "it knows fewer archives, and without pycurl no function starts. Check the connection "
            "to your package index, and run `sam build` again. To do without them: "
            "ALLOW_MISSING=1 sam build --no-cached",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
