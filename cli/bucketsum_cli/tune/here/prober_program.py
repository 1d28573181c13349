"""Program of a process that probes: a line of JSON in, a line of JSON out.

An empty event asks whether it has initialised. It takes the place of one of Lambda's execution
environments: it initialises with all CPUs, and the memory limit holds from the beginning.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from pkgutil import resolve_name

from bucketsum_cli.machine.cgroups import forbid_swap
from bucketsum_cli.machine.worker import Cgroup

_CAUSE_CHARACTERS = 1000


def main(config: str) -> None:
    """Answer events until the end of the input; *config* is the JSON of a `Configuration`."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library's output is not an answer
    values = json.loads(config)
    roots: dict[str, str] | None = values["roots"]
    group = Cgroup(roots, values["name"], values["memory_mb"]) if roots else None
    if group and roots:
        group.limit_memory(os.getpid())
        forbid_swap(Path(roots["memory"], values["name"]))

    # Imported under the memory limit, as on Lambda.
    import boto3  # noqa: PLC0415 - as said

    from bucketsum.s3.source import CLIENT_CONFIG  # noqa: PLC0415 - as said
    from bucketsum_lab.measure.prober import Prober  # noqa: PLC0415 - as said
    from bucketsum_lab.protocol.probe import failed  # noqa: PLC0415 - as said

    if values["programs"]:
        resolve_name(values["programs"])()
    prober = Prober(boto3.client("s3", config=CLIENT_CONFIG))
    if group and values["limits_cpu"]:
        group.limit_cpu(os.getpid())
    for line in sys.stdin:
        event = json.loads(line)
        try:
            answer = prober.probe(event, values["memory_mb"]) if event else {}
        except Exception as error:  # noqa: BLE001 - a failed sample, as on Lambda
            answer = failed(type(error).__name__, str(error)[:_CAUSE_CHARACTERS])
        answers.write(f"{json.dumps(answer)}\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
