"""Rules of the parser of a sweep's input, and of its plan."""

import json
from pathlib import Path
from typing import Final

from tests.fuzz.session import FuzzTarget, check_refusal

from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.input import SweepInput
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.plan.setting_fields import COMBINATIONS_MAX

_EVENTS: Final = Path(__file__).parents[2] / "events"


def check(data: bytes) -> None:
    """Plan sweeps from inputs; only BadSweep may be raised.

    Error texts must be short, and the size of the plan must be bounded.
    """
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):  # Step Functions has parsed the input before
        return
    try:
        sweep = SweepInput.from_json(raw)
        assert SweepInput.from_json(raw) == sweep
        assert len(set(sweep.settings)) == len(sweep.settings) <= COMBINATIONS_MAX
        plan = plan_of(sweep, [1_000_000] * len(sweep.keys))
        assert len(plan.cells) <= COMBINATIONS_MAX
        assert plan.samples >= 0
        assert json.loads(json.dumps(plan.to_json(), allow_nan=False))
    except BadSweep as error:
        check_refusal(error)


TARGET: Final = FuzzTarget(
    "sweep-input",
    check,
    tuple(file.read_bytes() for file in sorted(_EVENTS.glob("sweep-*.json"))),
    quick_cases=600,
)
