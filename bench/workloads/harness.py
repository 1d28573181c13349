"""The process in the sandbox: a prober, as in Lambda's execution environment.

Each line in is ``{"event": ..., "memory_mb": ...}``, and each line out the answer. An error of
bucketsum is a failed sample with its name, as Step Functions records it.
"""

from __future__ import annotations

import json
import sys
from pkgutil import resolve_name

import boto3

from bench.tables.process import answer, answers
from bucketsum.errors import BucketsumError
from bucketsum.s3.source import CLIENT_CONFIG
from bucketsum_lab.measure.prober import Prober
from bucketsum_lab.protocol.probe import failed


def main(programs: str) -> None:
    """Answer until standard input ends; see `WorkloadView.programs` for *programs*."""
    stream = answers(2)
    if programs:
        resolve_name(programs)()
    prober = Prober(boto3.client("s3", config=CLIENT_CONFIG))
    for line in sys.stdin:
        job = json.loads(line)
        if "event" not in job:
            answer(stream, {"ready": True})
            continue
        try:
            result = prober.probe(job["event"], job["memory_mb"])
        except BucketsumError as error:
            result = failed(type(error).__name__, str(error))
        answer(stream, dict(result))


if __name__ == "__main__":
    main(sys.argv[1])
