"""AWS's own rules for serverless applications, with a reason for each exception."""

import json
import subprocess
from pathlib import Path
from typing import Final

from tests.proofs.expanded import TOOLS, attached, planted
from tests.support.sam_template import TEMPLATE

NOT_CHECKED: Final = {
    "WS1000": "tracing costs, China lacks it, and each object has a log line with its times",
    "WS1004": "it looks for /aws/lambda/ alone; tests/template checks the retention of our groups",
}
_NEXT_SWEEP: Final = "without the event, the next sweep removes the versions of finished ones"
EXCEPTIONS: Final = {
    ("ES6000", "DeadLetterQueue"): "it is the last queue, and has an alarm",
    ("ES4000", "BrokenOffRule"): _NEXT_SWEEP,
    ("ES1007", "BrokenOffMayCleanUp"): _NEXT_SWEEP,
    ("ES1007", "BrokenOffMaySumUp"): _NEXT_SWEEP,
}
"""Rule and resource → the reason why it may differ."""

REDRIVE: Final = """\
      RedrivePolicy:
        deadLetterTargetArn: !GetAtt DeadLetterQueue.Arn
        maxReceiveCount: 5 # and MAX_RECEIVES below
"""


def remarks(template: Path) -> set[tuple[str, str]]:
    """Rule and resource of each remark on a template."""
    command = (f"{TOOLS}/bin/cfn-lint", "--append-rules", "cfn_lint_serverless.rules", "--format")
    options = ("json", "--ignore-checks", *NOT_CHECKED, "--template", str(template))
    ended = subprocess.run((*command, *options), check=False, capture_output=True, text=True)
    matches = json.loads(ended.stdout)
    return {(match["Rule"]["Id"], match["Location"]["Path"][1]) for match in matches}


def test_only_the_exceptions_are_remarked_on(tmp_path: Path) -> None:
    """No other remark, and no exception without one; attached buckets need none."""
    assert remarks(TEMPLATE) == set(EXCEPTIONS)
    path = tmp_path / "attached.json"
    path.write_text(json.dumps(attached()))
    assert remarks(path) == set()


def test_a_planted_fault_is_remarked_on(tmp_path: Path) -> None:
    """A queue and a rule without a dead-letter queue are reported."""
    path = tmp_path / "template.yaml"
    path.write_text(planted(REDRIVE, ""))
    assert remarks(path) - set(EXCEPTIONS) == {("ES6000", "ArrivalsQueue")}
    path.write_text(json.dumps(attached()).replace("DeadLetterConfig", "RetryPolicy"))
    assert ("ES4000", "Rule0") in remarks(path)
