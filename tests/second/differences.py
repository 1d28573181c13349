"""Where LocalStack 4.14 differs from AWS, and what is done about it; AWS's page decides."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Difference:
    """A behaviour of the emulator, AWS's words on it, and their page.

    Attributes:
        correction: The function in `corrections` that mends it.
        tests: Those that stand on it, and are not run.
    """

    emulator: str
    aws: str
    page: str
    correction: str = ""
    tests: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Why a test is not run."""
        return f'{self.emulator}; AWS: "{self.aws}", {self.page}'


_DOCS: Final = "https://docs.aws.amazon.com"
_USER_GUIDE: Final = f"{_DOCS}/AmazonS3/latest/userguide"
_CLOUDFORMATION: Final = f"{_DOCS}/AWSCloudFormation/latest"

DIFFERENCES: Final = (
    Difference(
        "LoggingConfig's group is ignored",
        "choose the CloudWatch log group your function sends logs to",
        f"{_DOCS}/lambda/latest/dg/monitoring-cloudwatchlogs-advanced.html",
        correction="name_log_groups",
    ),
    Difference(
        "an update of AWS::IAM::ManagedPolicy changes nothing",
        "PolicyDocument: Update requires: No interruption",
        f"{_CLOUDFORMATION}/UserGuide/aws-resource-iam-managedpolicy.html",
        correction="update_managed_policies",
    ),
    Difference(
        "all events have one sequencer",
        "The sequencer key provides a way to determine the sequence of events",
        f"{_USER_GUIDE}/notification-content-structure.html",
        correction="number_events",
    ),
    Difference(
        "EventBridge's events have encoded keys",
        "encoding is unnecessary",  # of an AWS sample; ev-events.html says nothing
        "https://github.com/aws-solutions-library-samples/guidance-for-medialake-on-aws/pull/21",
        correction="number_events",
    ),
    Difference(
        "RetainExceptOnCreate deletes",
        "RetainExceptOnCreate behaves like Retain for stack operations",
        f"{_CLOUDFORMATION}/TemplateReference/aws-attribute-deletionpolicy.html",
        correction="retain_resources",
    ),
    Difference(
        "UpdateStack knows no UsePreviousTemplate",
        "Reuse the existing template that is associated with the stack",
        f"{_CLOUDFORMATION}/APIReference/API_UpdateStack.html",
        correction="reuse_templates",
    ),
    Difference(
        "a stack has no description",
        "A user-defined description associated with the stack",
        f"{_DOCS}/goto/WebAPI/cloudformation-2010-05-15/Stack",
        correction="describe_stacks",
    ),
    Difference(
        "bucket policies are not enforced",
        "Bucket policies can allow or deny requests",
        f"{_USER_GUIDE}/bucket-policies.html",
        tests=("test_what_was_denied_is_hashed_once_it_is_allowed",),
    ),
    Difference(
        "StopExecution in a nested Map ends in its internal error, and no event follows",
        "Delivery type: Best effort",  # so on AWS, too, the next sweep may have to clean up
        f"{_DOCS}/eventbridge/latest/ref/events-ref-states.html",
        tests=("test_a_sweep_that_is_stopped_is_cleaned_up_after",),
    ),
    Difference(
        "memory and CPU are not limited",
        "Lambda allocates CPU power in proportion to the amount of memory configured",
        f"{_DOCS}/lambda/latest/dg/configuration-memory.html",
        tests=("test_failing_cells_are_recorded_and_the_sweep_goes_on",),
    ),
)

OF_MINISTACK: Final = {
    "test_launcher.py": "ministack's start and end",
    "test_workers.py": "ministack's processes for functions",
    "test_soak.py": "faults that its gateway, and the end of its processes, make",
    "test_the_log_of_the_emulator_is_at_hand": "a line of ministack's own log",
}
"""File or test that is not run → what of ministack itself it is about."""

NOT_RUN: Final = {
    test: str(difference) for difference in DIFFERENCES for test in difference.tests
} | OF_MINISTACK
"""File or test → the reason."""
