"""failure_causes: the cause that Step Functions reports becomes a text for people."""

import pytest

from bucketsum.step_functions_errors import plain_cause


@pytest.mark.parametrize(
    ("error", "cause", "text"),
    [
        (
            "BadSweep",
            '{"errorMessage": "runs is 0", "errorType": "BadSweep"}',
            "BadSweep: runs is 0",
        ),
        ("Lambda.Unknown", '{"errorMessage": "ended"}', "Lambda.Unknown: ended"),
        ("States.Timeout", None, "States.Timeout"),
        ("X", "", "X"),
        ("X", '{"errorMessage": "cut o', 'X: {"errorMessage": "cut o'),
        ("X", "[1]", "X: [1]"),
        ("X", '{"Reason": 1}', 'X: {"Reason": 1}'),
        (None, None, ""),
    ],
)
def test_a_functions_error_is_its_type_and_message(
    error: str | None, cause: str | None, text: str
) -> None:
    """The stack trace stays in the log; everything else stays as it is."""
    assert plain_cause(error, cause) == text
