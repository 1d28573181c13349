"""The real `sam build` and `sam deploy` of the real template, to the local emulator."""

from __future__ import annotations

import difflib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bucketsum_cli.emulator.emulator_state import LocalAws, LocalProject
from bucketsum_cli.emulator.interpreter import Interpreter
from bucketsum_cli.emulator.launcher import log_end
from bucketsum_cli.emulator.process import end_group, signals_held
from bucketsum_cli.terminal.errors import CannotDoError

_LOG_LINES_SHOWN: Final = 30

SAM_PROGRAM: Final = """
import runpy, yaml, zlib
yaml.SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
yaml.SafeDumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
zlib.Z_DEFAULT_COMPRESSION = 0
runpy.run_module("samcli", run_name="__main__", alter_sys=True)
"""
"""The SAM CLI, whose archives are not compressed: the layer's 30 MB stay on this machine, and to
compress them takes a third of a deployment. YAML in C, if PyYAML has it, makes a build a quarter
shorter."""


def template_parameters(
    template: Path, interpreter: Interpreter, chosen: Mapping[str, str]
) -> dict[str, str]:
    """Return all parameters of *template*: *chosen*, this machine's, and the defaults.

    All are given to each deployment, so that none keeps the value of the deployment before.

    Raises:
        CannotDoError: The template has no such parameter.
    """
    declared = parsed_template(template).get("Parameters", {})
    parameters = {name: str(parameter["Default"]) for name, parameter in declared.items()}
    for name in chosen.keys() - parameters.keys():
        nearest = difflib.get_close_matches(name, parameters, 1, cutoff=0) or ["none"]
        raise CannotDoError(
            f"the template has no parameter {name}; the nearest name is {nearest[0]} "
            "(docs/reference/parameters.md lists them)"
        )
    return {
        **parameters,
        "PythonRuntime": interpreter.runtime,
        "Architecture": "arm64" if _is_arm() else "x86_64",
        "MaximumConcurrency": "4",  # a laptop has few cores; each environment is a process
        "BackfillConcurrency": "2",  # as above
        **chosen,
    }


def _is_arm() -> bool:
    return platform.machine() in ("arm64", "aarch64")


def parsed_template(template: Path) -> dict[str, Any]:
    """The template, with None for each of CloudFormation's tags, such as !Ref."""
    import yaml  # noqa: PLC0415 - comes with `bucketsum[local]`; the command starts without it

    class Loader(yaml.CSafeLoader):
        """Reads tags as None."""

    Loader.add_multi_constructor("!", lambda *_: None)
    document: Any = yaml.load(template.read_text(encoding="utf-8"), Loader)  # noqa: S506 - a SafeLoader
    return dict(document or {})


@dataclass(frozen=True, slots=True)
class Sam:
    """The SAM CLI of this environment, for one local emulator and one set of parameters."""

    project: LocalProject
    aws: LocalAws
    interpreter: Interpreter
    parameters: Mapping[str, str]

    @property
    def folder(self) -> Path:
        """The emulator's folder of builds for this runtime alone."""
        return self.project.home / self.interpreter.runtime

    @property
    def template(self) -> Path:
        """The template as `sam build` writes it."""
        return self.folder / "build" / "template.yaml"

    def build(self) -> None:
        """`sam build` into the emulator's folder, apart from the builds for AWS.

        Raises:
            CannotDoError: It failed; the message has the end of SAM's log.
        """
        cache = self.folder / "build-cache"
        self._run("build", "--build-dir", str(self.template.parent), "--cache-dir", str(cache))
        convert_to_json(self.template)

    def deploy(self) -> None:
        """`sam deploy` the result of `build`.

        Raises:
            CannotDoError: It failed; the message has the end of SAM's log.
        """
        template = str(self.template)
        self._run("deploy", "--template-file", template, "--stack-name", self.aws.stack)

    def environment(self) -> dict[str, str]:
        """This process's variables without the user's AWS settings, and no proxy for the emulator.

        The workers' Python is on its PATH, and the layer is built for it alone.
        """
        kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        own = str(Path(sys.executable).parent)
        path = [own, str(self.interpreter.path.parent), kept.get("PATH", os.defpath)]
        exempt = [kept.get("NO_PROXY") or kept.get("no_proxy"), "127.0.0.1", "localhost"]
        no_proxy = ",".join(filter(None, exempt))
        return {
            **kept,
            **self.aws.environment(),
            "NO_PROXY": no_proxy,
            "no_proxy": no_proxy,
            "ONLY_RUNTIME": f"3.{self.interpreter.minor}-{'aarch64' if _is_arm() else 'x86_64'}",
            "PATH": os.pathsep.join(path),
            "SAM_CLI_POLL_DELAY": "0.5",  # its default of 5 s is for AWS, which takes minutes
            "SAM_CLI_TELEMETRY": "0",
        }

    def overrides(self) -> list[str]:
        """The parameters as SAM's option takes them; in quotes, a value may be empty."""
        return [f'{name}="{value}"' for name, value in self.parameters.items()]

    def _run(self, subcommand: str, *arguments: str) -> None:
        log = self.project.home / f"sam-{subcommand}.log"
        # SAM looks for its configuration next to the template, which for a deploy is the built one.
        config = ["--config-file", str(self.project.folder / "samconfig.toml")]
        command = [sys.executable, "-c", SAM_PROGRAM, subcommand, *arguments, *config]
        command += ["--config-env", "local", "--parameter-overrides", *self.overrides()]
        if _exit_status(command, self.project.folder, self.environment(), log):
            raise CannotDoError(
                f"`sam {subcommand}` failed; the end of {log}:\n{log_end(log, _LOG_LINES_SHOWN)}"
            )


def convert_to_json(template: Path) -> None:
    """Convert the built template and the state machine definitions that it names from YAML to JSON.

    ministack reads definitions in JSON only. SAM parses the template at each of its steps, which
    takes half a second in YAML. AWS takes both forms.
    """
    import yaml  # noqa: PLC0415 - comes with `bucketsum[local]`; the command starts without it

    def parsed(path: Path) -> Any:  # noqa: ANN401 - YAML
        return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)

    built = parsed(template)
    for resource in built["Resources"].values():
        properties = resource.get("Properties", {})
        definition = template.parent / str(properties.get("DefinitionUri", ""))
        if definition.suffix == ".yaml":
            name = definition.with_suffix(".json").name
            (template.parent / name).write_text(json.dumps(parsed(definition)), encoding="utf-8")
            properties["DefinitionUri"] = name
    template.write_text(json.dumps(built), encoding="utf-8")


def _exit_status(
    command: list[str], folder: Path, environment: Mapping[str, str], log: Path
) -> int:
    """Run *command* to its end; if this process is ended first, end it and its children."""
    child: subprocess.Popen[bytes] | None = None
    with log.open("wb") as output:
        try:
            with signals_held():  # else a signal could come between the start and its pid
                child = subprocess.Popen(  # noqa: S603 - our own SAM CLI
                    command,
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,  # a group, to be ended together
                )
            return child.wait()
        except BaseException:
            if child:
                end_group(child.pid)
                child.wait()
            raise
