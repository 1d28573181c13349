"""`bucketsum attach` and `detach`: a bucket's notifications, and the parameters of the stack."""

import importlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import boto3
import pytest
from botocore.exceptions import ClientError
from moto.s3.exceptions import S3ClientError
from moto.s3.models import S3Backend
from mypy_boto3_s3 import S3Client
from tests.cli.conftest import Run
from tests.cli.permissions import as_fake
from tests.cli.serving_stack import (
    DEPLOYER,
    INBOX,
    NAME,
    PHOTOS,
    TAGS,
    parameters,
)

from bucketsum_cli.arguments.target import Target
from bucketsum_cli.aws import stack_changes
from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.aws.stack import Stack
from bucketsum_cli.buckets.attachments import access, access_template
from bucketsum_cli.buckets.attachments import notifications as bucket_notifications
from bucketsum_cli.buckets.attachments.notifications import KeyFilter
from bucketsum_cli.buckets.attachments.queue_notification import (
    EVENTS,
    block_of,
    with_queue,
    without_queue,
)
from bucketsum_cli.buckets.served_buckets import AttachedBucket, Via, attached_to
from bucketsum_cli.terminal.errors import CannotDoError


def notification(target: str, *events: str, **keys: str) -> dict[str, Any]:
    """A notification of somebody else; its Id is the last part of the *target*."""
    kind, _, name = target.partition(":")
    arn = f"arn:aws:{kind.lower()}:us-east-1:123456789012:{name}"
    rules = [{"Name": rule, "Value": value} for rule, value in keys.items()]
    of_keys = {"Filter": {"Key": {"FilterRules": rules}}} if keys else {}
    parameter = {"SNS": "TopicArn", "SQS": "QueueArn", "Lambda": "LambdaFunctionArn"}[kind]
    return {"Id": name.rpartition(":")[2], parameter: arn, "Events": [*events], **of_keys}


FOREIGN: Final[dict[str, Any]] = {
    "TopicConfigurations": [notification("SNS:removals", "s3:ObjectRemoved:*")],
    "QueueConfigurations": [notification(
        "SQS:incoming", "s3:ObjectCreated:Put", "s3:ObjectCreated:Copy", prefix="incoming/"
    )],
    "LambdaFunctionConfigurations": [notification(
        "Lambda:function:thumbnails", "s3:ObjectCreated:*", prefix="camera/", suffix=".jpg"
    )],
}  # fmt: skip
"""Notifications of others: a topic, a queue and a function."""


pytestmark = [
    pytest.mark.filterwarnings("ignore:Tried to parse AWS..CloudWatch..Alarm"),
    pytest.mark.usefixtures("s3"),
]


def notify_others(s3: S3Client, bucket: str = PHOTOS) -> None:
    """Give *bucket* the notifications of others."""
    configuration: Any = FOREIGN
    s3.put_bucket_notification_configuration(Bucket=bucket, NotificationConfiguration=configuration)


def configuration(s3: S3Client, bucket: str = PHOTOS) -> str:
    """The bucket's notification configuration as bytes are compared: JSON with sorted keys."""
    return json.dumps(bucket_notifications.configuration_of(s3, bucket), sort_keys=True)


def attached() -> dict[str, AttachedBucket]:
    """The buckets of the stack with the permissions."""
    return attached_to(Target(NAME).find())


def granted() -> dict[str, Any]:
    """The resources in the template of that stack."""
    template: Any = boto3.client("cloudformation").get_template(StackName=f"{NAME}-attached")
    resources: dict[str, Any] = template["TemplateBody"]["Resources"]
    return {name: resource["Properties"] for name, resource in resources.items()}


def test_detaching_restores_all_notifications_of_others(run: Run, s3: S3Client) -> None:
    """With three foreign notifications: all kept, one added; detached, byte for byte as before."""
    notify_others(s3)
    before = configuration(s3)
    ended = run("attach", PHOTOS, "--prefix", "scans/", "--deploy", "--yes", "--json").assert_done()
    during = json.loads(configuration(s3))
    [ours] = [q for q in during["QueueConfigurations"] if q["Id"].startswith("bucketsum-")]
    assert ours["QueueArn"].endswith("ArrivalsQueue") or "Arrivals" in ours["QueueArn"]
    assert ours["Events"] == [event for event in EVENTS if event != "s3:ObjectRemoved:*"]
    assert "s3:ObjectRemoved:* are left out" in ended.document["warnings"][0]
    during["QueueConfigurations"].remove(ours)
    assert json.dumps(during, sort_keys=True) == before
    assert ended.document["changed"] is ended.document["stack_updated"] is True
    assert len(ended.document["kept"]) == 3
    assert f"`bucketsum backfill {PHOTOS} --prefix scans/ --stack {NAME}`" in ended.err
    run("detach", PHOTOS, "--deploy", "--yes").assert_done()
    assert configuration(s3) == before
    assert attached() == {}


def test_a_deleted_stack_of_the_same_name_is_replaced(run: Run, s3: S3Client) -> None:
    """CloudFormation deletes the queue and leaves the notification, which S3 would not double."""
    queue = f"arn:aws:sqs:us-east-1:123456789012:{NAME}-ArrivalsQueue-0123456789AB"
    others = [
        {"Id": "dead", "QueueArn": queue, "Events": ["s3:ObjectCreated:*"]},
        {"Id": "other", "QueueArn": queue.replace(NAME, "x"), "Events": ["s3:ObjectTagging:*"]},
    ]
    earlier: Any = {"QueueConfigurations": others}
    s3.put_bucket_notification_configuration(Bucket=PHOTOS, NotificationConfiguration=earlier)
    ended = run("attach", PHOTOS, "--deploy", "--yes", "--json").assert_done()
    assert [queue in line for line in ended.document["removed"]] == [True]
    left = json.loads(configuration(s3))["QueueConfigurations"]
    assert [entry["Id"][:9] for entry in left] == ["other", "bucketsum"]
    s3.put_bucket_notification_configuration(Bucket=PHOTOS, NotificationConfiguration=earlier)
    assert run("detach", PHOTOS, "--yes").status == 0
    [left] = json.loads(configuration(s3))["QueueConfigurations"]
    assert left["Id"] == "other"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("team-ArrivalsQueue-0123456789AB", "team-ArrivalsQueue-x-ArrivalsQueue-0123456789AB"),
        ("team-ArrivalsQueue-0123456789AB", "team-2-ArrivalsQueue-0123456789AB"),
        (f"{'t' * 53}-ArrivalsQueue-0123456789AB", f"{'t' * 53}-ArrivalsQueue-BA9876543210"),
        ("queue", "other"),
    ],
)
def test_notifications_of_other_stacks_stay(ours: str, theirs: str) -> None:
    """A queue is of an earlier stack only if its name is certainly of the same stack."""
    queue, other = (f"arn:aws:sqs:us-east-1:123456789012:{name}" for name in (ours, theirs))
    entry = {"Id": "other", "QueueArn": other, "Events": ["s3:ObjectTagging:*"]}
    configuration = {"QueueConfigurations": [entry]}
    assert without_queue(configuration, queue) == configuration
    assert with_queue(configuration, queue, KeyFilter())["QueueConfigurations"][0] == entry


@pytest.mark.parametrize(
    ("theirs", "left_out"),
    [
        ("s3:ObjectRemoved:Delete", ["s3:ObjectRemoved:*"]),
        ("s3:ObjectRestore:*", ["s3:ObjectRestore:Completed"]),
        ("s3:ObjectRestore:Completed", ["s3:ObjectRestore:Completed"]),
        ("s3:ObjectRestore:Post", []),
        ("s3:ObjectTagging:*", []),
    ],
)
def test_events_of_others_are_left_out(
    run: Run, s3: S3Client, theirs: str, left_out: list[str]
) -> None:
    """S3 would refuse the whole configuration for an event type that another one has."""
    topic: Any = FOREIGN["TopicConfigurations"][0] | {"Events": [theirs]}
    s3.put_bucket_notification_configuration(
        Bucket=PHOTOS, NotificationConfiguration={"TopicConfigurations": [topic]}
    )
    attached = run("attach", PHOTOS, "--deploy", "--yes", "--json").assert_done()
    [entry] = json.loads(configuration(s3))["QueueConfigurations"]
    assert entry["Events"] == [event for event in EVENTS if event not in left_out]
    assert bool(attached.document["warnings"]) == bool(left_out)


def test_filters_are_encoded_as_s3_compares_them(run: Run, s3: S3Client) -> None:
    """S3 matches a filter with encoded keys: `year=2026/` without encoding matches no key."""
    arguments = ("attach", PHOTOS, "--prefix", "year=2026/a b/", "--suffix", ".jpg", "--deploy")
    assert run(*arguments).status == 0
    [entry] = json.loads(configuration(s3))["QueueConfigurations"]
    rules = {rule["Name"]: rule["Value"] for rule in entry["Filter"]["Key"]["FilterRules"]}
    assert rules == {"prefix": "year%3D2026/a+b/", "suffix": ".jpg"}
    again = run(*arguments, "--json").document
    assert again["changed"] is False
    assert "prefix year=2026/a b/" in again["kept"][0]


def test_dry_run_changes_nothing(run: Run, s3: S3Client) -> None:
    """--dry-run shows the difference and the command, and writes neither bucket nor stack."""
    notify_others(s3)
    before = configuration(s3)
    ended = run("attach", PHOTOS, "--prefix", "scans/", "--deploy", "--dry-run").assert_done()
    assert [line[:2] for line in ended.out.splitlines()] == ["  ", "  ", "  ", "+ "]
    assert f"bucketsum attach {PHOTOS} --prefix scans/" in ended.err
    assert configuration(s3) == before
    assert attached() == {}


def test_overlapping_keys_are_refused(run: Run, s3: S3Client) -> None:
    """S3 would refuse it: the error names the other notification and offers EventBridge."""
    notify_others(s3)
    before = configuration(s3)
    keys = ("--prefix", "camera/", "--suffix", "g")
    run("attach", PHOTOS, *keys, "--deploy", "--yes").assert_refused(
        "thumbnails", "--via eventbridge"
    )
    assert configuration(s3) == before


@pytest.mark.parametrize(
    ("one_filter", "other_filter", "overlap"),
    [
        (KeyFilter(), KeyFilter("a/", ".jpg"), True),
        (KeyFilter("a/"), KeyFilter("a"), True),
        (KeyFilter("a/"), KeyFilter("b/"), False),
        (KeyFilter("a/", ".jpg"), KeyFilter("a/", ".png"), False),
        (KeyFilter("a/", ".jpg"), KeyFilter("b/", ".jpg"), False),
        (KeyFilter("", "x.jpg"), KeyFilter("b/", ".jpg"), True),
    ],
)
def test_filters_overlap_as_s3_defines_it(
    one_filter: KeyFilter, other_filter: KeyFilter, *, overlap: bool
) -> None:
    """Both the prefixes and the suffixes must overlap, in either order."""
    assert one_filter.overlaps(other_filter) is overlap
    assert other_filter.overlaps(one_filter) is overlap


def test_another_range_of_an_attached_bucket_is_refused(run: Run) -> None:
    """An overlap with the stack's own notification says to detach first."""
    assert run("attach", PHOTOS, "--deploy").status == 0
    run("attach", PHOTOS, "--prefix", "scans/").assert_refused("bucketsum detach")


class Interference:
    """Somebody else's change that comes right after the first write of the command."""

    def __init__(self, s3: S3Client, times: int) -> None:
        self.s3, self.left, self.put = s3, times, bucket_notifications.put_configuration

    def __call__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as `put_configuration`
        """Write, then overwrite it with the notifications of others alone."""
        self.put(*arguments, **options)
        if self.left:
            self.left -= 1
            notify_others(self.s3)


def test_a_concurrent_change_is_kept(
    run: Run, s3: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If somebody overwrites the notification, it is merged again into the new configuration."""
    monkeypatch.setattr(bucket_notifications, "put_configuration", Interference(s3, 1))
    run("attach", PHOTOS, "--prefix", "scans/", "--deploy").assert_done()
    after = json.loads(configuration(s3))
    assert len(after["QueueConfigurations"]) == 2
    assert after["TopicConfigurations"] == FOREIGN["TopicConfigurations"]
    assert after["LambdaFunctionConfigurations"] == FOREIGN["LambdaFunctionConfigurations"]


def test_endless_concurrent_changes_are_an_error(
    run: Run, s3: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives up after some attempts, and the other's configuration stays."""
    monkeypatch.setattr(bucket_notifications, "put_configuration", Interference(s3, 99))
    run("attach", PHOTOS, "--prefix", "scans/", "--deploy").assert_refused("somebody else")


UNREACHED: Final = "Unable to validate the following destination configurations"
AMBIGUOUS: Final = (
    "Configuration is ambiguously defined. Cannot have overlapping suffixes in two rules if the "
    "prefixes are overlapping for the same event type."
)


@pytest.fixture
def refusals(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let S3 refuse the configuration with each of these messages, the last first."""
    left: list[str] = []
    put = S3Backend.put_bucket_notification_configuration

    def refuse(backend: S3Backend, bucket_name: str, notification_config: dict[str, Any]) -> None:
        if left:
            raise S3ClientError("InvalidArgument", left.pop())
        put(backend, bucket_name, notification_config)

    monkeypatch.setattr(S3Backend, "put_bucket_notification_configuration", refuse)
    return left


def test_a_target_that_cannot_be_reached_is_an_error(run: Run, refusals: list[str]) -> None:
    """The error says that the permission to read stays, and the command that takes it back."""
    refusals += [UNREACHED]
    ended = run("attach", PHOTOS, "--deploy")
    assert (ended.status, [*attached()]) == (2, [PHOTOS])
    assert "it tests all targets" in ended.err
    assert f"`bucketsum detach {PHOTOS} --deploy --stack {NAME}` takes that back" in ended.err


def test_a_configuration_that_s3_never_accepts_is_put_once(run: Run, refusals: list[str]) -> None:
    """Only a target's refusal can pass with time; S3's reason is shown."""
    refusals += [AMBIGUOUS] * 2
    ended = run("attach", PHOTOS, "--deploy")
    assert (ended.status, len(refusals)) == (2, 1)
    assert f"S3 refuses the notifications of {PHOTOS}: {AMBIGUOUS};" in ended.err


def test_declining_changes_nothing(run: Run, s3: S3Client) -> None:
    """Where there are notifications of others it asks, with the difference before the question."""
    notify_others(s3)
    before = configuration(s3)
    ended = run("attach", PHOTOS, "--prefix", "scans/", "--deploy", answer="n\n").assert_no()
    assert ended.err.index("+ queue") < ended.err.index("[y/N]")
    assert (configuration(s3), attached()) == (before, {})


def test_without_deploy_the_command_is_shown(run: Run, s3: S3Client) -> None:
    """A bucket that the functions may not read is refused with the command that changes that."""
    run("attach", PHOTOS, "--via", "eventbridge").assert_refused(
        f"`bucketsum attach {PHOTOS} --via eventbridge --deploy --stack {NAME}`"
    )
    assert configuration(s3) == "{}"


def test_the_stack_itself_is_never_changed(run: Run, s3: S3Client) -> None:
    """Attached buckets are in a stack of their own, which the next bucket joins."""
    s3.create_bucket(Bucket="scans")
    before = parameters()
    assert run("attach", PHOTOS, "--deploy").status == 0
    assert run("attach", "scans", "--deploy").status == 0
    assert parameters() == before
    assert [*attached()] == [PHOTOS, "scans"]


@pytest.mark.usefixtures("eventbridge_returned")
def test_eventbridge_leaves_overlapping_notifications_alone(run: Run, s3: S3Client) -> None:
    """--via eventbridge switches EventBridge on and names the bucket in a rule.

    To detach the bucket, one of the two must end: without an option the hashing would go on.
    """
    notify_others(s3)
    before = json.loads(configuration(s3))
    run("attach", PHOTOS, "--via", "eventbridge", "--deploy", "--yes").assert_done()
    assert json.loads(configuration(s3)) == before | {"EventBridgeConfiguration": {}}
    [rule] = boto3.client("events").list_rules()["Rules"]
    assert json.loads(rule["EventPattern"])["resources"] == [f"arn:aws:s3:::{PHOTOS}"]
    run("detach", PHOTOS, "--yes").assert_refused("add --deploy")
    kept = run("detach", PHOTOS, "--deploy", "--yes").assert_done()
    assert "--eventbridge-off" in kept.err
    assert "EventBridgeConfiguration" in configuration(s3)
    assert run("detach", PHOTOS, "--eventbridge-off", "--yes").status == 0
    assert json.loads(configuration(s3)) == before


def test_eventbridge_takes_no_filter(run: Run) -> None:
    """The rule takes all keys of the bucket, so a filter is refused."""
    run("attach", PHOTOS, "--via", "eventbridge", "--prefix", "a/").assert_refused(
        "--via eventbridge"
    )


@pytest.mark.usefixtures("eventbridge_returned")
def test_changing_the_way_removes_the_old_one(run: Run, s3: S3Client) -> None:
    """From S3's notification to EventBridge, no object is announced twice."""
    assert run("attach", PHOTOS, "--deploy").status == 0
    assert run("attach", PHOTOS, "--via", "eventbridge", "--deploy").status == 0
    assert configuration(s3) == '{"EventBridgeConfiguration": {}}'


def test_detaching_what_is_not_attached_is_a_negative_result(run: Run, s3: S3Client) -> None:
    """Nothing is written, and the exit status says that nothing was attached."""
    notify_others(s3)
    before = configuration(s3)
    ended = run("detach", PHOTOS, "--yes").assert_no()
    assert "is not attached" in ended.err
    assert "`bucketsum buckets --stack sums`" in ended.err
    assert configuration(s3) == before


def test_a_deleted_bucket_can_be_detached(run: Run, s3: S3Client) -> None:
    """The permission is taken away for a bucket that no longer exists."""
    assert run("attach", PHOTOS, "--deploy").status == 0
    s3.delete_bucket(Bucket=PHOTOS)
    run("detach", PHOTOS, "--deploy").assert_done()
    assert attached() == {}


@pytest.mark.parametrize(
    ("bucket", "reason"),
    [
        ("no-such-bucket", "there is no bucket"),
        (INBOX, "the stack's own bucket"),
        ("abroad", "eu-west-1"),
        ("UPPER", "is not the name of a bucket"),
        ("Bad_Bucket!", "is not a bucket name"),
        *((f"base--use1-az5{end}", "directory bucket") for end in ("--x-s3", "--xa-s3")),
    ],
)
def test_buckets_that_cannot_be_attached(run: Run, s3: S3Client, bucket: str, reason: str) -> None:
    """A missing bucket, the stack's own, one of another Region, and no bucket have a reason."""
    s3.create_bucket(Bucket="abroad", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    run("attach", bucket, "--deploy", "--yes").assert_refused(reason)
    assert attached() == {}


@pytest.mark.parametrize(
    ("keys", "loops"), [((), True), (("--prefix", "photos/"), False), (("--prefix", "lo"), True)]
)
def test_own_access_logs_are_warned_about(
    run: Run, s3: S3Client, keys: tuple[str, ...], *, loops: bool
) -> None:
    """A bucket that receives its own logs would be hashed without end."""
    s3.put_bucket_acl(
        Bucket=PHOTOS,
        GrantWrite="uri=http://acs.amazonaws.com/groups/s3/LogDelivery",
        GrantReadACP="uri=http://acs.amazonaws.com/groups/s3/LogDelivery",
    )
    s3.put_bucket_logging(
        Bucket=PHOTOS,
        BucketLoggingStatus={"LoggingEnabled": {"TargetBucket": PHOTOS, "TargetPrefix": "logs/"}},
    )
    ended = run("attach", PHOTOS, *keys, "--deploy", "--json").assert_done()
    assert [("own access logs" in text) for text in ended.document["warnings"]] == [True] * loops


def test_delete_detaches_all_attached_buckets(
    run: Run, s3: S3Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`bucketsum delete` leaves attached buckets, their objects and notifications of others."""
    monkeypatch.setattr(stack_changes, "_POLL_SECONDS", 0)
    notify_others(s3)
    before = configuration(s3)
    s3.create_bucket(Bucket="scans")
    s3.put_object(Bucket=PHOTOS, Key="incoming/cat", Body=b"x")
    assert run("attach", PHOTOS, "--prefix", "scans/", "--deploy", "--yes").status == 0
    assert run("attach", "scans", "--deploy").status == 0
    ended = run("delete", "--yes", "--json").assert_done()
    assert ended.document["notifications_removed_from"] == [PHOTOS, "scans"]
    assert (configuration(s3), configuration(s3, "scans")) == (before, "{}")
    assert s3.head_object(Bucket=PHOTOS, Key="incoming/cat")


def test_a_bucket_of_another_account_is_refused(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bucket that one may read in another account cannot notify the queue."""
    owners: list[str] = []

    def refuse(params: dict[str, Any], **_: object) -> None:
        owners.append(params["ExpectedBucketOwner"])
        status: Any = {"HTTPStatusCode": 403, "HTTPHeaders": {}}
        raise ClientError({"Error": {}, "ResponseMetadata": status}, "HeadBucket")

    client = boto3.client("s3")  # moto takes any owner
    client.meta.events.register("provide-client-params.s3.HeadBucket", refuse)
    clients = {"s3": client}
    monkeypatch.setattr(Connection, "client", lambda _, name: clients.get(name, boto3.client(name)))
    run("attach", PHOTOS, "--deploy").assert_refused("is not in the account 123456789012")
    assert owners == ["123456789012"]


@pytest.mark.usefixtures("eventbridge_returned")
def test_created_objects_alone_on_request(run: Run, s3: S3Client) -> None:
    """--created-only subscribes to no deletions, by both routes; without it, they are added."""
    assert run("attach", PHOTOS, "--created-only", "--deploy").status == 0
    [entry] = json.loads(configuration(s3))["QueueConfigurations"]
    assert entry["Events"] == ["s3:ObjectCreated:*"]
    again = run("attach", PHOTOS, "--created-only", "--json").document
    assert (again["changed"], again["command"], again["warnings"]) == (False, None, [])
    assert run("attach", PHOTOS, "--deploy").status == 0
    [entry] = json.loads(configuration(s3))["QueueConfigurations"]
    assert entry["Events"] == [*EVENTS]
    assert run("attach", PHOTOS, "--created-only", "--via", "eventbridge", "--deploy").status == 0
    assert granted()["Rule0"]["EventPattern"]["detail-type"] == ["Object Created"]


@pytest.mark.usefixtures("eventbridge_returned")
def test_undelivered_events_are_kept(run: Run) -> None:
    """EventBridge drops what a target refuses: each target has the stack's dead-letter queue."""
    assert run("attach", PHOTOS, "--via", "eventbridge", "--deploy").status == 0
    targets = [target for resource in granted().values() for target in resource.get("Targets", ())]
    [queue] = {target["DeadLetterConfig"]["Arn"].split(":")[-1] for target in targets}
    assert "DeadLetterQueue" in queue


@pytest.mark.parametrize("alias", [False, True])
def test_the_default_key_of_the_bucket_is_granted(run: Run, s3: S3Client, *, alias: bool) -> None:
    """Hasher and slicer may decrypt with the bucket's own key, through S3 alone; attach says so."""
    kms = boto3.client("kms")
    key = kms.create_key()["KeyMetadata"]
    kms.create_alias(AliasName="alias/photos", TargetKeyId=key["KeyId"])
    default: Any = {
        "SSEAlgorithm": "aws:kms", "KMSMasterKeyID": "alias/photos" if alias else key["KeyId"],
    }  # fmt: skip
    encryption: Any = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
    s3.put_bucket_encryption(Bucket=PHOTOS, ServerSideEncryptionConfiguration=encryption)
    ended = run("attach", PHOTOS, "--deploy", "--json")
    assert key["Arn"] in ended.document["warnings"][0]
    [*_, decrypt] = granted()["ReadObjects0"]["PolicyDocument"]["Statement"]
    assert (decrypt["Action"], decrypt["Resource"]) == ("kms:Decrypt", [key["Arn"]])
    assert "kms:ViaService" in decrypt["Condition"]["StringEquals"]


def test_policies_that_name_a_network_are_warned_about(run: Run, s3: S3Client) -> None:
    """Unless the functions are in it, a denial of all others would make every object unreadable."""
    denial = {
        "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::photos/*",
        "Condition": {"StringNotEquals": {"aws:SourceVpce": "vpce-1"}},
    }  # fmt: skip
    s3.put_bucket_policy(Bucket=PHOTOS, Policy=json.dumps({"Statement": denial}))
    [warning] = run("attach", PHOTOS, "--deploy", "--json").document["warnings"]
    assert "aws:SourceVpce" in warning
    assert "aws:PrincipalArn" in warning
    assert "dp:exclude:network=true" in warning  # as docs/explanation/limitations.md


def test_characters_that_encoders_treat_differently_are_warned_about(run: Run) -> None:
    """Whether S3 encodes ~ and * in a filter is not known."""
    for option in ("--prefix", "--suffix"):
        [warning] = run(
            "attach", PHOTOS, option, "~a*", "--deploy", "--dry-run", "--json"
        ).document["warnings"]
        assert "~ and *" in warning


@pytest.mark.parametrize(("length", "count"), [(63, 100), (20, 250)])
def test_as_many_buckets_as_documented_fit(length: int, count: int) -> None:
    """Policies, patterns and the template stay below AWS's limits; one too many is refused."""
    stack = Target(NAME).find()
    buckets = [
        AttachedBucket(
            f"{number:03}".ljust(length, "x"), Via.EVENTBRIDGE if number % 3 == 0 else Via.S3
        )
        for number in range(count)
    ]
    template = access_template.template_of(stack, buckets)
    assert (
        len(json.dumps(template, separators=(",", ":"))) <= access_template.TEMPLATE_CHARACTERS_MAX
    )
    resources = [resource["Properties"] for resource in template["Resources"].values()]
    policies = [properties for properties in resources if "PolicyDocument" in properties]
    for role in ("HasherRole", "EnqueuerRole"):
        own = [p for p in policies if {"Fn::ImportValue": f"{NAME}-{role}Name"} in p["Roles"]]
        assert 0 < len(own) <= access_template.POLICIES_MAX
        granted_to = [arn for p in own for arn in p["PolicyDocument"]["Statement"][-1]["Resource"]]
        kinds = 2 if role == "EnqueuerRole" else 1  # it reads and lists
        assert granted_to == [f"arn:aws:s3:::{bucket.name}" for bucket in buckets] * kinds
    for document, limit in (("PolicyDocument", 6144), ("EventPattern", 2048)):
        sizes = [
            len(json.dumps(p[document], separators=(",", ":"))) for p in resources if document in p
        ]
        assert sizes
        assert max(sizes) <= limit
    with pytest.raises(CannotDoError, match="no room for 600"):
        access_template.template_of(
            stack, [AttachedBucket(f"{number}".rjust(40, "x")) for number in range(600)]
        )


def test_the_stack_of_the_permissions_is_deployed_as_the_main_one(run: Run) -> None:
    """Organizations demand tags, and a service role, of each stack."""
    for bucket in (PHOTOS, "videos"):
        boto3.client("s3").create_bucket(Bucket=bucket)
        assert run("attach", bucket, "--deploy").status == 0
        described: Any = boto3.client("cloudformation").describe_stacks(
            StackName=f"{NAME}-attached"
        )
        [stack] = described["Stacks"]
        assert (stack["Tags"], stack["RoleARN"]) == (TAGS, DEPLOYER)


def undoing() -> Callable[[], object]:
    """A function with which another command writes the present list of buckets again."""
    stale: Any = boto3.client("cloudformation").get_template(StackName=f"{NAME}-attached")
    template = json.dumps(stale["TemplateBody"])

    def put_back() -> None:
        with as_fake():
            boto3.client("cloudformation").update_stack(
                StackName=f"{NAME}-attached",
                TemplateBody=template,
                Capabilities=["CAPABILITY_IAM"],
            )

    return put_back


def test_policies_have_the_path_of_the_roles(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Organizations that require a path refuse what has another one."""
    stack = Target(NAME).find()
    with_path = replace(stack, parameters={**stack.parameters, "RolePath": "/teams/media/"})
    monkeypatch.setattr(Target, "find", lambda _: with_path)
    assert run("attach", PHOTOS, "--deploy").status == 0
    policies = [resource for resource in granted().values() if "PolicyDocument" in resource]
    assert [policy.get("Path") for policy in policies] == ["/teams/media/"] * 2


def test_a_bucket_of_reports_is_not_hashed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each report would be an object of the next; one that was attached before is a problem."""
    stack = Target(NAME).find()
    reporting = replace(stack, parameters={**stack.parameters, "ReportBucket": PHOTOS})
    with monkeypatch.context() as then:
        then.setattr(Target, "find", lambda _: reporting)
        run("attach", PHOTOS, "--deploy").assert_refused("gets the reports of sums")
    assert attached() == {}
    assert run("attach", PHOTOS, "--deploy").status == 0
    monkeypatch.setattr(Target, "find", lambda _: reporting)
    [photos] = [bucket for bucket in run("buckets", "--json").document["buckets"]
                if bucket["bucket"] == PHOTOS]  # fmt: skip
    assert photos["problems"][-1].startswith("it is ReportBucket")


def test_an_attachment_that_another_command_undoes_is_made_again(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two commands that read the list at the same time would forget each other's bucket."""
    boto3.client("s3").create_bucket(Bucket="videos")
    assert run("attach", "videos", "--deploy").status == 0
    put_back = undoing()
    command = importlib.import_module("bucketsum_cli.commands.attach")
    write = command.change_notifications

    def undone(s3: S3Client, bucket: str, *change: object, validate: bool) -> object:
        put_back()
        return write(s3, bucket, *change, validate=validate)

    monkeypatch.setattr(command, "change_notifications", undone)
    assert run("attach", PHOTOS, "--deploy").status == 0
    assert attached().keys() == {PHOTOS, "videos"}


def test_a_detachment_that_another_command_undoes_is_made_again(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one had read the list before: it gives the access back."""
    boto3.client("s3").create_bucket(Bucket="videos")
    for bucket in ("videos", PHOTOS):
        assert run("attach", bucket, "--deploy").status == 0
    put_back, reads = undoing(), []

    def read(stack: Stack) -> object:
        reads.append(stack)
        if len(reads) == 2:
            put_back()
        return attached_to(stack)

    monkeypatch.setattr(access, "attached_to", read)
    assert run("detach", PHOTOS, "--deploy").status == 0
    assert ([*attached()], len(reads)) == (["videos"], 4)


@pytest.mark.parametrize(
    ("ownership", "warned"),
    [(None, True), ("ObjectWriter", True), ("BucketOwnerEnforced", False)],
)
def test_objects_of_other_owners_are_warned_about(
    run: Run, s3: S3Client, ownership: str | None, *, warned: bool
) -> None:
    """With ACLs, the owner of an object decides who may read it."""
    rules: Any = {"Rules": [{"ObjectOwnership": ownership}]}
    if ownership:
        s3.put_bucket_ownership_controls(Bucket=PHOTOS, OwnershipControls=rules)
    else:
        s3.delete_bucket_ownership_controls(Bucket=PHOTOS)
    ended = run("attach", PHOTOS, "--dry-run", "--json")
    assert any("has ACLs" in warning for warning in ended.document["warnings"]) == warned


def test_what_terraform_needs_is_shown(run: Run) -> None:
    """Its resource is all of a bucket's configuration: the next apply removes what it lacks."""
    queue = Target(NAME).find().arrivals_queue_arn
    arguments = ("attach", PHOTOS, "--prefix", "year=2026/a b/", "--deploy")
    for rest in (("--dry-run",), (), ("--dry-run",), ()):  # before, at and after the attachment
        err = run(*arguments, *rest).err
        for line in (f'queue_arn     = "{queue}"', 'filter_prefix = "year%3D2026/a+b/"', *EVENTS):
            assert line in err
        assert "filter_suffix" not in err
    assert "Terraform" not in run("attach", PHOTOS, "--via", "sns", "--dry-run").err


@pytest.mark.usefixtures("eventbridge_returned")
def test_terraform_has_a_word_for_eventbridge(run: Run) -> None:
    """It is a part of the same configuration, also of a bucket that is attached already."""
    for _ in range(2):
        ended = run("attach", PHOTOS, "--via", "eventbridge", "--deploy")
        assert "\neventbridge = true\n" in ended.err


def test_terraform_gets_the_events_that_attach_takes(run: Run, s3: S3Client) -> None:
    """S3 would refuse, for the whole bucket, an event that another notification has."""
    notify_others(s3)
    err = run("attach", PHOTOS, "--prefix", "scans/", "--dry-run").err
    [line] = (line for line in err.splitlines() if "events        =" in line)
    free = [event for event in EVENTS if event != "s3:ObjectRemoved:*"]
    assert json.loads(line.partition("=")[2]) == free


def test_terraform_fills_in_no_template() -> None:
    """`${` and `%{` begin a template in Terraform's texts; a filter of others may have them."""
    rules = [{"Name": "Prefix", "Value": '${a}%{b}"'}]
    entry = {"QueueArn": "arn", "Events": ["e"], "Filter": {"Key": {"FilterRules": rules}}}
    configuration = {"QueueConfigurations": [entry]}
    block = block_of(configuration, "arn", KeyFilter('${a}%{b}"'))
    assert '  filter_prefix = "$${a}%%{b}\\""' in [*block]
