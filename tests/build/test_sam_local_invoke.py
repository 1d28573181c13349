"""`sam local invoke`, in the container that SAM makes of Lambda's base image and our build."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest
from events import objects
from tests.build.artifacts import Built, overrides, sam

TEST_EVENT: Final = Path(objects.__file__).parent / "sqs-s3-test-event.json"
ANSWER_LIMIT_SECONDS: Final = 20


def no_container_runtime() -> str:
    """Why `sam local invoke` cannot work here; empty where it can."""
    programs = [path for name in ("docker", "finch") if (path := shutil.which(name))]
    for program in programs:
        try:
            done = subprocess.run(
                [program, "info"], check=False, capture_output=True, timeout=ANSWER_LIMIT_SECONDS
            )
        except subprocess.TimeoutExpired:
            continue
        if done.returncode == 0:
            return ""
    return f"no container runtime answers `info` (tried: {', '.join(programs) or 'none found'})"


def test_sam_local_invoke(built: Built) -> None:
    """The built hasher answers in SAM's container; S3's test event needs no AWS behind it."""
    if reason := no_container_runtime():
        pytest.skip(reason)
    done = sam(
        "local", "invoke", "HasherFunction", "--template", built.template,
        "--event", TEST_EVENT, "--region", "us-east-1", "--parameter-overrides", overrides(),
    )  # fmt: skip
    # SAM's exit status is 0 even where the function failed: only its answer tells.
    answers = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert answers, done.stderr
    assert json.loads(answers[-1]) == {"batchItemFailures": []}, done.stderr
