"""Numbers that an emulator accepts and AWS refuses, or that two places must agree on."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import botocore.session
import pytest
from tests.support.sam_template import load_template

from bucketsum import memory
from bucketsum.algorithms import EXTRA_ALGORITHMS
from bucketsum.invocation.deadline import STOP_BEFORE_END_SECONDS
from bucketsum.long_objects.slice_reader import END_BEFORE_SECONDS
from bucketsum.long_objects.slicer import LEASE_MARGIN_SECONDS
from bucketsum.settings import Settings

TEMPLATE: Final = load_template()
ROWS: Final = Path(__file__).parents[2] / "docs" / "reference" / "rows.md"
PARAMETERS: Final[dict[str, dict[str, Any]]] = TEMPLATE["Parameters"]
RESOURCES: Final[dict[str, dict[str, Any]]] = TEMPLATE["Resources"]
HASHER: Final[dict[str, Any]] = RESOURCES["HasherFunction"]["Properties"]
ARRIVALS: Final[dict[str, Any]] = RESOURCES["ArrivalsQueue"]["Properties"]
MAPPING: Final[dict[str, Any]] = HASHER["Events"]["Arrivals"]["Properties"]

SLICER: Final[dict[str, Any]] = RESOURCES["SlicerFunction"]["Properties"]
SLICES: Final[dict[str, Any]] = RESOURCES["LongObjectsQueue"]["Properties"]
SLICE_MAPPING: Final[dict[str, Any]] = SLICER["Events"]["Slices"]["Properties"]

BACKFILL_MAPPING: Final[dict[str, Any]] = HASHER["Events"]["Backfill"]["Properties"]

LARGEST_WITHOUT_WINDOW: Final = 10
LAMBDA_TIMEOUT_MAX_SECONDS: Final = 900
SQS_VISIBILITY_MAX_SECONDS: Final = 43_200
FOURTEEN_DAYS_SECONDS: Final = 14 * 24 * 60 * 60
ENVIRONMENT_MAX_BYTES: Final = 4096
LONGEST_REFERENCE: Final = 192
"""More than a table's name (128 of the stack, and 39) or a queue's URL (140)."""

RESERVED: Final = re.compile(r"AWS_.*|_.*|LAMBDA_.*|LANG|PATH|LD_LIBRARY_PATH|PYTHON.*|NODE_.*|TZ")
"""Variables that Lambda refuses, sets itself or that change its runtime."""


def bounds(parameter: str) -> tuple[int, int]:
    """The range of a numeric parameter."""
    return PARAMETERS[parameter]["MinValue"], PARAMETERS[parameter]["MaxValue"]


def model_bounds(service: str, shape: str) -> tuple[int, int]:
    """The range that AWS's own service model gives a number."""
    limits = botocore.session.get_session().get_service_model(service).shape_for(shape).metadata
    return limits["min"], limits["max"]


READERS: Final = pytest.mark.parametrize(
    ("function", "queue"), [(HASHER, ARRIVALS), (SLICER, SLICES)], ids=["hasher", "slicer"]
)


@pytest.mark.parametrize(
    ("function", "mapping"),
    [
        (function, mapping)
        for function in (HASHER, SLICER)
        for mapping in function["Events"].values()
    ],
    ids=["hasher", "backfill", "slicer"],
)
def test_visibility_outlasts_the_function(
    function: dict[str, Any], mapping: dict[str, Any]
) -> None:
    """AWS advises to hide a message for six time-outs of the function and the batching window."""
    assert 0 < function["Timeout"] <= LAMBDA_TIMEOUT_MAX_SECONDS
    queue = mapping["Properties"]["Queue"]["Fn::GetAtt"][0]
    hidden = RESOURCES[queue]["Properties"]["VisibilityTimeout"]
    if "MaximumBatchingWindowInSeconds" in mapping["Properties"]:
        condition, with_window, hidden = hidden["Fn::If"]
        assert condition == "HasBatchingWindow"
        assert with_window == hidden + bounds("BatchingWindowSeconds")[1]
        assert with_window <= SQS_VISIBILITY_MAX_SECONDS
    assert hidden == 6 * function["Timeout"]


def test_a_lease_ends_before_its_message_comes_again() -> None:
    """The message of a worker that died is never refused for the dead worker's own lease."""
    assert SLICER["Timeout"] + LEASE_MARGIN_SECONDS < SLICES["VisibilityTimeout"]


def test_only_the_slicer_may_call_itself() -> None:
    """Lambda ends a loop through SQS after some 16 invocations, which for slices is 1 TB."""
    allowed = {
        name: resource["Properties"]["RecursiveLoop"]
        for name, resource in RESOURCES.items()
        if "RecursiveLoop" in resource["Properties"]
    }
    assert list(allowed) == ["SlicerFunction"]
    assert "RecursiveLoop" not in str(TEMPLATE.get("Globals"))


def test_timeout_leaves_time_to_stop() -> None:
    """The functions have far more time than they keep back for giving a message up in order."""
    assert HASHER["Timeout"] > 10 * STOP_BEFORE_END_SECONDS
    assert SLICER["Timeout"] > 10 * END_BEFORE_SECONDS


@READERS
def test_receives_are_counted_alike(function: dict[str, Any], queue: dict[str, Any]) -> None:
    """The function knows after how many receives the queue gives up; at least the advised five."""
    receives = queue["RedrivePolicy"]["maxReceiveCount"]
    assert function["Environment"]["Variables"]["MAX_RECEIVES"] == str(receives)
    assert 5 <= receives <= 1000


def test_queues_keep_messages_for_fourteen_days() -> None:
    """Nothing is lost while a person is on holiday: all queues keep as long as SQS can."""
    for queue in ("ArrivalsQueue", "DeadLetterQueue", "LongObjectsQueue"):
        assert RESOURCES[queue]["Properties"]["MessageRetentionPeriod"] == FOURTEEN_DAYS_SECONDS


def test_memory_range_is_lambdas() -> None:
    """Every memory size that can be asked for is one that Lambda offers."""
    assert HASHER["MemorySize"] == {"Ref": "MemorySize"}
    assert bounds("MemorySize") == (128, 10_240)


def test_batch_needs_no_window() -> None:
    """Ten messages are the most without a batching window; a rule demands one for more."""
    assert MAPPING["BatchSize"] == {"Ref": "BatchSize"}
    assert PARAMETERS["BatchSize"]["Default"] == LARGEST_WITHOUT_WINDOW
    assert PARAMETERS["BatchingWindowSeconds"]["Default"] == 0
    [rule] = TEMPLATE["Rules"]["LargeBatchesNeedAWindow"]["Assertions"]
    small, window = rule["Assert"]["Fn::Or"]
    allowed, size = small["Fn::Contains"]
    assert allowed == [str(number) for number in range(1, LARGEST_WITHOUT_WINDOW + 1)]
    assert size == {"Ref": "BatchSize"}
    assert window == {"Fn::Not": [{"Fn::Equals": [{"Ref": "BatchingWindowSeconds"}, "0"]}]}


@pytest.mark.parametrize("mapping", [MAPPING, BACKFILL_MAPPING], ids=["arrivals", "backfill"])
def test_window_is_lambdas(mapping: dict[str, Any]) -> None:
    """The range is the service model's own. 0 is set too: an update might keep absent values."""
    bounds_of_lambda = model_bounds("lambda", "MaximumBatchingWindowInSeconds")
    assert bounds("BatchingWindowSeconds") == bounds_of_lambda
    assert mapping["MaximumBatchingWindowInSeconds"] == {"Ref": "BatchingWindowSeconds"}


@pytest.mark.parametrize(
    ("function", "mapping", "parameter"),
    [
        (HASHER, MAPPING, "MaximumConcurrency"),
        (SLICER, SLICE_MAPPING, "LongObjectConcurrency"),
    ],
    ids=["hasher", "slicer"],
)
def test_concurrency_range_is_lambdas(
    function: dict[str, Any], mapping: dict[str, Any], parameter: str
) -> None:
    """The range is the service model's own; no reserved concurrency takes messages to the DLQ."""
    scaling = mapping["ScalingConfig"].get("Fn::If", [mapping["ScalingConfig"]])[-1]
    assert scaling == {"MaximumConcurrency": {"Ref": parameter}}
    assert bounds(parameter) == model_bounds("lambda", "MaximumConcurrency")
    assert "ReservedConcurrentExecutions" not in function


def test_a_slice_has_an_invocation_of_its_own() -> None:
    """A slice takes all the time that there is."""
    assert SLICE_MAPPING["BatchSize"] == 1


def test_failures_are_reported_one_by_one() -> None:
    """One bad message of a batch never brings the others back."""
    for mapping in (MAPPING, SLICE_MAPPING):
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_runtimes_are_lambdas() -> None:
    """Each runtime and architecture that can be asked for is one that Lambda's model knows."""
    model = botocore.session.get_session().get_service_model("lambda")
    for parameter, shape in (("PythonRuntime", "Runtime"), ("Architecture", "Architecture")):
        known = model.shape_for(shape).metadata["enum"]
        allowed = PARAMETERS[parameter]["AllowedValues"]
        assert set(allowed) <= set(known)


def test_layer_names_no_other_architecture() -> None:
    """It serves every runtime; a Region that has no arm64 refuses a layer that names it."""
    layer = RESOURCES["BucketsumLayer"]["Properties"]
    runtimes = PARAMETERS["PythonRuntime"]["AllowedValues"]
    assert sorted(layer["CompatibleRuntimes"]) == sorted(runtimes)
    assert layer["CompatibleArchitectures"] == [{"Ref": "Architecture"}]


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameter_is_explained_and_has_a_default_in_range(name: str) -> None:
    """Every parameter says what it is, and the stack deploys without anybody choosing one."""
    parameter = PARAMETERS[name]
    assert parameter["Description"].endswith((".", ")."))
    default = parameter["Default"]
    if parameter["Type"] == "Number":
        low, high = (
            (min(allowed), max(allowed))
            if (allowed := parameter.get("AllowedValues"))
            else bounds(name)
        )
        assert low <= int(default) <= high
        # CloudFormation may turn a large number without quotes into an exponent.
        assert isinstance(default, str) == (int(default) >= 10**9)
    if "AllowedValues" in parameter:
        assert default in parameter["AllowedValues"]
    if "AllowedPattern" in parameter:
        assert re.fullmatch(parameter["AllowedPattern"], default)
        assert parameter["ConstraintDescription"].startswith("must be ")


@pytest.mark.parametrize(
    ("parameter", "value", "allowed"),
    [
        ("ExtraAlgorithms", "sha256,md5", True),
        ("ExtraAlgorithms", "sha1", False),  # is always computed
        ("ExtraAlgorithms", "sha256,", False),
        ("ExistingBucketName", "my.bucket-1", True),
        ("ExistingBucketName", "My_Bucket", False),
        ("ExistingBucketName", "arn:aws:s3:::bucket", False),
        ("InventoryBucketArn", "arn:aws-cn:s3:::my.bucket-1", True),
        ("InventoryBucketArn", "arn:aws:s3:::*", False),
        ("KmsKeyArn", "arn:aws:kms:eu-central-1:123456789012:key/mrk-0a1b2c", True),
        ("KmsKeyArn", ",".join(["arn:aws:kms:eu-central-1:123456789012:key/0a1b2c"] * 2), True),
        ("KmsKeyArn", "arn:aws:kms:eu-central-1:123456789012:alias/mine", False),
        ("AlarmTopicArn", "arn:aws-cn:sns:cn-north-1:123456789012:alarms", True),
        ("AlarmTopicArn", "arn:aws:sqs:us-east-1:123456789012:alarms", False),
    ],
)
def test_pattern_tells_good_from_bad(parameter: str, value: str, allowed: bool) -> None:  # noqa: FBT001 - a table's column
    """A value that could not work is refused before anything is deployed."""
    assert bool(re.fullmatch(PARAMETERS[parameter]["AllowedPattern"], value)) is allowed


def test_extra_algorithms_are_the_librarys() -> None:
    """Template and documents name each algorithm that the library has, and no other."""
    parameter = PARAMETERS["ExtraAlgorithms"]
    assert re.fullmatch(parameter["AllowedPattern"], ",".join(EXTRA_ALGORITHMS))
    for name in ("AllowedPattern", "Description", "ConstraintDescription"):
        assert set(re.findall(r"[a-z]+\d+", parameter[name])) == set(EXTRA_ALGORITHMS)
    attributes = re.findall(r"`digest_(\w+)`", ROWS.read_text())
    assert attributes == [*EXTRA_ALGORITHMS]


def test_chunk_range_is_the_librarys() -> None:
    """Template and library allow the same chunk sizes."""
    assert bounds("ChunkBytes") == (memory.CHUNK_BYTES_MIN, memory.CHUNK_BYTES_MAX)


def environment(function: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The function's variables with the template's defaults."""
    for name, value in function["Environment"]["Variables"].items():
        if isinstance(value, str):
            yield name, value
        else:
            default = PARAMETERS.get(value["Ref"], {}).get("Default", f"a {value['Ref']}")
            yield name, str(default)


@pytest.mark.parametrize("memory_mb", [*bounds("MemorySize"), PARAMETERS["MemorySize"]["Default"]])
def test_defaults_work_at_every_memory_size(memory_mb: int) -> None:
    """With the template's defaults the functions start at the least memory as at the most."""
    for function in (HASHER, SLICER):
        env = {**dict(environment(function)), "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(memory_mb)}
        assert Settings.from_env(env).chunk_bytes == PARAMETERS["ChunkBytes"]["Default"]


@pytest.mark.parametrize("name", HASHER["Environment"]["Variables"])
def test_variable_is_ours_to_set(name: str) -> None:
    """No variable is one that Lambda reserves, and each value is a text, as Lambda wants it."""
    assert re.fullmatch(r"[A-Z][A-Z0-9_]+", name)
    assert not RESERVED.fullmatch(name)
    value = HASHER["Environment"]["Variables"][name]
    assert isinstance(value, str) or set(value) == {"Ref"}


def test_variables_fit() -> None:
    """All variables together stay under Lambda's 4 KB, whatever the names turn out to be."""
    values = HASHER["Environment"]["Variables"]
    assert sum(map(len, values)) + sum(map(_longest, values.values())) < ENVIRONMENT_MAX_BYTES


def _longest(value: str | dict[str, str]) -> int:
    """The most characters that *value* can have once it is deployed."""
    if isinstance(value, str):
        return len(value)
    parameter = PARAMETERS.get(value.get("Ref", ""), {})
    is_number = parameter.get("Type") == "Number"
    return len(str(parameter["MaxValue"])) if is_number else LONGEST_REFERENCE
