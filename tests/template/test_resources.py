"""Properties that a person relies on: encryption, clean-up, alarms, outputs."""

import re
from typing import Any, Final

import pytest
from tests.support.sam_template import TEMPLATE, load_template, properties
from tests.template.roles import HANDLERS

from bucketsum.events.object_events import DeletedBy
from bucketsum.table.codec import encoded
from bucketsum.table.digests_table import BY_SHA1_INDEX
from bucketsum.table.row_parts import Deletion
from bucketsum_cli.buckets.attachments.queue_notification import EVENTS

RESOURCES: Final[dict[str, dict[str, Any]]] = load_template()["Resources"]
OUTPUTS: Final[dict[str, dict[str, Any]]] = load_template()["Outputs"]
ALARMS: Final = [
    name for name, resource in RESOURCES.items() if resource["Type"] == "AWS::CloudWatch::Alarm"
]


def test_bucket_is_private_and_encrypted() -> None:
    """Objects are encrypted, and no ACL or policy can make them public."""
    bucket = properties("InboxBucket")
    [rule] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    block = bucket["PublicAccessBlockConfiguration"]
    assert len(block) == 4
    assert all(value is True for value in block.values())
    assert bucket["OwnershipControls"]["Rules"] == [{"ObjectOwnership": "BucketOwnerEnforced"}]


def test_bucket_refuses_plain_http() -> None:
    """Every action on the bucket and its objects is denied without TLS, to everybody."""
    policy = properties("InboxBucketPolicy")
    [statement] = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == (
        "Deny", "*", "s3:*",
    )  # fmt: skip
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert statement["Resource"] == [
        {"Fn::GetAtt": ["InboxBucket", "Arn"]},
        {"Fn::Sub": "${InboxBucket.Arn}/*"},
    ]


def test_bucket_cleans_up() -> None:
    """Parts of uploads that were never completed, and old versions, do not cost money forever."""
    rules = {
        rule["Id"]: rule for rule in properties("InboxBucket")["LifecycleConfiguration"]["Rules"]
    }
    assert all(rule["Status"] == "Enabled" for rule in rules.values())
    abort = rules["AbortIncompleteMultipartUploads"]["AbortIncompleteMultipartUpload"]
    assert abort == {"DaysAfterInitiation": 7}
    expire = rules["ExpireNoncurrentVersions"]["NoncurrentVersionExpiration"]
    assert expire == {"NoncurrentDays": {"Ref": "NoncurrentVersionDays"}}


def test_bucket_tells_the_queue_of_every_object() -> None:
    """Each way of creating, deleting and restoring an object sends a message, and nothing else."""
    bucket = properties("InboxBucket")
    queue = {"Fn::GetAtt": ["ArrivalsQueue", "Arn"]}
    assert bucket["NotificationConfiguration"] == {
        "QueueConfigurations": [{"Event": event, "Queue": queue} for event in EVENTS]
    }
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}


def test_queues_are_encrypted_with_keys_that_s3_can_use() -> None:
    """SQS's own keys: S3 cannot send to a queue whose KMS key it may not use."""
    for queue in ("ArrivalsQueue", "BackfillQueue", "DeadLetterQueue"):
        assert properties(queue)["SqsManagedSseEnabled"] is True
        assert "KmsMasterKeyId" not in properties(queue)
        assert "FifoQueue" not in properties(queue)  # S3 does not send to those


def test_dead_letters_have_a_queue_of_their_own() -> None:
    """Messages that a queue gives up on are kept in the queue that the alarm watches."""
    for queue in ("ArrivalsQueue", "LongObjectsQueue"):
        redrive = properties(queue)["RedrivePolicy"]
        assert redrive["deadLetterTargetArn"] == {"Fn::GetAtt": ["DeadLetterQueue", "Arn"]}
    assert "RedrivePolicy" not in properties("DeadLetterQueue")
    # The function's own DeadLetterQueue would be for asynchronous calls, which there are none of.
    assert "DeadLetterQueue" not in properties("HasherFunction")


def test_function_reads_the_arrivals_queue() -> None:
    """Messages come from the arrivals queue, from the backfill queue, and from nowhere else."""
    events = properties("HasherFunction")["Events"]
    assert {name: event["Type"] for name, event in events.items()} == {
        "Arrivals": "SQS",
        "Backfill": "SQS",
    }
    for name in events:
        queue = events[name]["Properties"]["Queue"]
        assert queue == {"Fn::GetAtt": [f"{name}Queue", "Arn"]}


def test_the_slow_lane_is_as_the_other() -> None:
    """Only concurrency differs, so that new objects never wait behind a backfill."""
    events = properties("HasherFunction")["Events"]
    arrivals, backfill = events["Arrivals"]["Properties"], events["Backfill"]["Properties"]
    assert backfill == {
        **arrivals,
        "Queue": backfill["Queue"],
        "ScalingConfig": {"MaximumConcurrency": {"Ref": "BackfillConcurrency"}},
    }
    assert properties("BackfillQueue") == properties("ArrivalsQueue")


def test_slicer_reads_the_queue_that_it_sends_to() -> None:
    """A slice sends the message of the next one to the queue that its own came from."""
    slicer = properties("SlicerFunction")
    [event] = slicer["Events"].values()
    assert event["Type"] == "SQS"
    assert event["Properties"]["Queue"] == {"Fn::GetAtt": ["LongObjectsQueue", "Arn"]}
    variables = slicer["Environment"]["Variables"]
    assert variables["ARRIVALS_QUEUE_URL"] == {"Ref": "LongObjectsQueue"}
    handed_over = properties("HasherFunction")["Environment"]["Variables"]
    assert handed_over["LONG_OBJECTS_QUEUE_URL"] == {"Ref": "LongObjectsQueue"}
    shared = ("DIGESTS_TABLE", "CHUNK_BYTES", "STREAMS", "EXTRA_ALGORITHMS", "MAX_RECEIVES")
    assert {name: variables[name] for name in shared} == {
        name: handed_over[name] for name in shared
    }


def test_function_logs() -> None:
    """Logs are JSON, in a group that forgets."""
    hasher, group = properties("HasherFunction"), properties("HasherLogGroup")
    assert hasher["LoggingConfig"] == {"LogFormat": "JSON", "LogGroup": {"Ref": "HasherLogGroup"}}
    assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
    # Lambda makes a group below /aws/lambda/ by itself, which would then be in our way.
    assert not group["LogGroupName"]["Fn::Sub"].startswith("/aws/")


def test_old_layers_do_not_pile_up() -> None:
    """SAM names a layer by its content; by default every old one would stay."""
    assert properties("BucketsumLayer")["RetentionPolicy"] == "Delete"
    assert properties("HasherFunction")["Layers"] == [{"Ref": "BucketsumLayer"}]


def test_table_outlives_the_stack() -> None:
    """Digests stay when the stack is deleted; a creation that fails leaves no table behind."""
    table = RESOURCES["DigestsTable"]
    assert table["DeletionPolicy"] == "RetainExceptOnCreate"
    assert table["UpdateReplacePolicy"] == "Retain"
    recovery = table["Properties"]["PointInTimeRecoverySpecification"]
    assert recovery == {"PointInTimeRecoveryEnabled": True}
    assert "TableName" not in table["Properties"]  # or the stack could not be made a second time


def test_table_removes_expired_items() -> None:
    """DynamoDB reads the time in the attribute that deletions write, or nothing would expire."""
    table = properties("DigestsTable")
    attribute = table["TimeToLiveSpecification"]["AttributeName"]
    assert table["TimeToLiveSpecification"]["Enabled"] is True
    assert attribute in encoded(Deletion("", DeletedBy.REQUEST, "", expires_at=1), "")


def test_table_defines_the_attributes_it_uses() -> None:
    """DynamoDB refuses a definition that no key uses, and a key that is not defined."""
    table = properties("DigestsTable")
    [index] = table["GlobalSecondaryIndexes"]
    used = {attribute["AttributeName"] for attribute in (*table["KeySchema"], *index["KeySchema"])}
    assert used == {attribute["AttributeName"] for attribute in table["AttributeDefinitions"]}
    assert index["IndexName"] == BY_SHA1_INDEX


@pytest.mark.parametrize(
    ("alarm", "metric", "dimension", "target"),
    [
        (
            "DeadLettersAlarm", ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
            "QueueName", {"Fn::GetAtt": ["DeadLetterQueue", "QueueName"]},
        ),
        (
            "BacklogAlarm", ("AWS/SQS", "ApproximateAgeOfOldestMessage"),
            "QueueName", {"Fn::GetAtt": ["ArrivalsQueue", "QueueName"]},
        ),
        (
            "ThrottlesAlarm", ("AWS/Lambda", "Throttles"),
            "FunctionName", {"Ref": "HasherFunction"},
        ),
        (
            "ErrorsAlarm", ("AWS/Lambda", "Errors"),
            "FunctionName", {"Ref": "HasherFunction"},
        ),
        (
            "SlicerErrorsAlarm", ("AWS/Lambda", "Errors"),
            "FunctionName", {"Ref": "SlicerFunction"},
        ),
        (
            "UnreadableAlarm", ("bucketsum", "ObjectsUnreadable"),
            "service", {"Ref": "AWS::StackName"},
        ),
    ],
)  # fmt: skip
def test_alarm_watches(
    alarm: str, metric: tuple[str, str], dimension: str, target: dict[str, Any]
) -> None:
    """Each alarm measures what its description says, where it says."""
    resource = properties(alarm)
    assert (resource["Namespace"], resource["MetricName"]) == metric
    assert resource["Dimensions"] == [{"Name": dimension, "Value": target}]


@pytest.mark.parametrize("alarm", ALARMS)
def test_alarm_tells_a_person(alarm: str) -> None:
    """Every alarm says what happened, ends when it is over, and stays still where nothing runs."""
    resource = properties(alarm)
    topic = {"Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}
    assert resource["AlarmActions"] == resource["OKActions"] == topic
    is_silence = alarm == "VerificationOverdueAlarm"  # a daily event sends its metric
    assert resource["TreatMissingData"] == ("breaching" if is_silence else "notBreaching")
    assert resource["ComparisonOperator"] == "GreaterThanThreshold"
    assert resource["AlarmDescription"].endswith(".")
    assert resource["Period"] % 60 == 0


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_is_explained(name: str) -> None:
    """Every output says what it is for."""
    assert OUTPUTS[name]["Description"].endswith(".")
    assert OUTPUTS[name]["Value"]


def test_a_created_bucket_outlives_its_parameter() -> None:
    """Naming an ExistingBucketName later keeps the created bucket; the queue admits any bucket."""
    bucket = RESOURCES["InboxBucket"]
    assert bucket["DeletionPolicy"] == "RetainExceptOnCreate"
    assert bucket["UpdateReplacePolicy"] == "Retain"


def test_partitions_are_known_or_refused() -> None:
    """No ARN names a partition, and a deployment to an unsupported one fails at the mapping."""
    text = TEMPLATE.read_text(encoding="utf-8")
    text = re.sub(r"(AllowedPattern|ConstraintDescription): .*", "", text)
    assert not re.findall(r"arn:aws[a-z-]*:", text)
    for definition in (TEMPLATE.parent / "statemachines").iterdir():
        assert "arn:aws:" not in definition.read_text(encoding="utf-8")
    hosts = load_template()["Mappings"]["ConsoleOf"]
    assert set(hosts) == {"aws", "aws-cn", "aws-us-gov", "aws-eusc"}


def test_every_queue_and_state_machine_has_an_alarm() -> None:
    """Each queue that a function reads has one for its age, each state machine one for failures."""
    watched = [properties(alarm) for alarm in ALARMS]
    ages = [
        alarm["Dimensions"][0]["Value"]["Fn::GetAtt"][0]
        for alarm in watched
        if alarm["MetricName"] == "ApproximateAgeOfOldestMessage"
    ]
    read = {
        event["Properties"]["Queue"]["Fn::GetAtt"][0]
        for resource in RESOURCES.values()
        for event in resource["Properties"].get("Events", {}).values()
    }
    assert sorted(ages) == sorted(read)
    body = properties("Dashboard")["DashboardBody"]["Fn::Sub"]
    assert all(f"${{{queue}.QueueName}}" in body for queue in read)
    failures = [
        alarm["Dimensions"][0]["Value"]["Ref"]
        for alarm in watched
        if alarm["MetricName"] == "ExecutionsFailed"
    ]
    machines = [n for n, r in RESOURCES.items() if r["Type"] == "AWS::Serverless::StateMachine"]
    assert sorted(failures) == sorted(machines)


def test_organisations_can_bound_every_role() -> None:
    """Each role has the boundary and the path."""
    for name, resource in RESOURCES.items():
        if resource["Type"] != "AWS::IAM::Role":
            continue
        role = resource["Properties"]
        boundary = {"Ref": "PermissionsBoundaryArn"}, {"Ref": "AWS::NoValue"}
        assert role["PermissionsBoundary"] == {"Fn::If": ["HasBoundary", *boundary]}, name
        assert role["Path"] == {"Ref": "RolePath"}


def test_regions_without_loop_detection_get_no_setting_of_it() -> None:
    """Lambda has it in the partition aws, except in two Regions (aws-lambda-roadmap, issue 18)."""
    setting = properties("SlicerFunction")["RecursiveLoop"]
    assert setting == {"Fn::If": ["HasLoopDetection", "Allow", {"Ref": "AWS::NoValue"}]}
    partition, *lacking = load_template()["Conditions"]["HasLoopDetection"]["Fn::And"]
    assert partition == {"Fn::Equals": [{"Ref": "AWS::Partition"}, "aws"]}
    regions = [condition["Fn::Not"][0]["Fn::Equals"][1] for condition in lacking]
    assert regions == ["mx-central-1", "ap-southeast-6"]


def test_new_events_wait_for_their_code() -> None:
    """An update must not subscribe to events before the hasher understands them."""
    assert "HasherFunction" in RESOURCES["InboxBucket"]["DependsOn"]


def test_console_groups_every_parameter() -> None:
    """Each has a label and one group."""
    interface = load_template()["Metadata"]["AWS::CloudFormation::Interface"]
    grouped = [name for group in interface["ParameterGroups"] for name in group["Parameters"]]
    assert len(grouped) == len(set(grouped))
    assert list(interface["ParameterLabels"]) == grouped
    assert set(load_template()["Parameters"]) == set(grouped)


def test_by_default_the_runtime_changes_with_a_deployment_alone() -> None:
    """AWS does not replace the boto3 of a function, unless somebody prefers its patches."""
    functions = [
        resource
        for resource in RESOURCES.values()
        if resource["Type"] == "AWS::Serverless::Function"
    ]
    for function in functions:
        updates = function["Properties"]["RuntimeManagementConfig"]["UpdateRuntimeOn"]
        assert updates == {"Ref": "RuntimeUpdates"}
    assert load_template()["Parameters"]["RuntimeUpdates"]["Default"] == "FunctionUpdate"


def test_the_prober_computes_the_digests_of_the_hasher() -> None:
    """A sweep measures the work that is deployed: MD5 takes half of the speed."""
    names = ("HasherFunction", "SlicerFunction", "ProberFunction")
    environments = [properties(name)["Environment"]["Variables"] for name in names]
    assert [own["EXTRA_ALGORITHMS"] for own in environments] == [{"Ref": "ExtraAlgorithms"}] * 3


def test_functions_are_in_a_vpc_if_subnets_are_named() -> None:
    """All of them, and then, and only then, Lambda may make their network interfaces."""
    nothing = {"Ref": "AWS::NoValue"}
    network = {name: {"Ref": name} for name in ("SubnetIds", "SecurityGroupIds")}
    assert RESOURCES["NetworkInterfaces"]["Condition"] == "MakesInterfaces"
    functions = [
        resource
        for resource in RESOURCES.values()
        if resource["Type"] == "AWS::Serverless::Function"
    ]
    for function in functions:
        assert function["Properties"]["VpcConfig"] == {"Fn::If": ["InVpc", network, nothing]}
        role = properties(function["Properties"]["Role"]["Fn::GetAtt"][0])
        policy = {"Ref": "NetworkInterfaces"}
        if isinstance(policies := role["ManagedPolicyArns"], list):
            assert policies[1:] == [{"Fn::If": ["MakesInterfaces", policy, nothing]}]
        else:
            assert policies == {"Fn::If": ["MakesInterfaces", [policy], nothing]}


def test_functions_can_leave_their_subnets() -> None:
    """The policy can outlive SubnetIds: CloudFormation changes roles first, then functions."""
    kept = {"Fn::Equals": [{"Ref": "KeepNetworkInterfaces"}, "yes"]}
    condition = load_template()["Conditions"]["MakesInterfaces"]
    assert condition == {"Fn::Or": [{"Condition": "InVpc"}, kept]}


@pytest.mark.parametrize("subnets", ["", "subnet-1"])
@pytest.mark.parametrize("groups", ["", "sg-1"])
def test_lambda_decides_on_subnets_without_security_groups(subnets: str, groups: str) -> None:
    """It refuses one without the other; left out by us, the functions would be in no VPC."""
    named = {"SubnetIds": subnets, "SecurityGroupIds": groups}
    parts = [
        part["Fn::Not"][0]["Fn::Equals"]
        for part in load_template()["Conditions"]["InVpc"]["Fn::Or"]
    ]
    in_vpc = [named[joined["Fn::Join"][1]["Ref"]] != nothing for joined, nothing in parts]
    assert any(in_vpc) == bool(subnets or groups)


def test_routes_lead_to_every_service_that_a_function_calls() -> None:
    """A function in a VPC reaches only what its subnets have a route to."""
    names = {"stepfunctions": "Step Functions", "sqs": "SQS", "s3": "S3", "dynamodb": "DynamoDB"}
    client = re.compile(r'(?:boto3\.client|client_of)\("(\w+)"')
    called = {
        name for path in HANDLERS.values() for name in client.findall(path.read_text("utf-8"))
    }
    described = load_template()["Parameters"]["SubnetIds"]["Description"].casefold()
    assert called >= {*names, "cloudformation", "lambda"}
    assert not {name for name in called if names.get(name, name).casefold() not in described}
