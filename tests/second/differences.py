"""Differences of LocalStack 4.14 that keep an end-to-end test from running on it."""

from __future__ import annotations

from typing import Final

POLICIES: Final = "it does not enforce bucket policies"
STOPPED: Final = (
    "StopExecution in a nested Map ends in its internal error, and no event follows. AWS calls "
    "the event 'Step Functions Execution Status Change' best effort: the next sweep cleans up"
)
OWN_LOG: Final = "the test reads a line of ministack's own log"
LIMITS: Final = "memory and CPU are not limited, and one poller serves a mapping"

NOT_RUN: Final = {
    "test_what_was_denied_is_hashed_once_it_is_allowed": POLICIES,
    "test_a_sweep_that_is_stopped_is_cleaned_up_after": STOPPED,
    "test_the_log_of_the_emulator_is_at_hand": OWN_LOG,
    "test_failing_cells_are_recorded_and_the_sweep_goes_on": LIMITS,
}
"""Test → the difference. Those that AWS's documentation decides are in `corrections`."""
