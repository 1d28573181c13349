"""A deployed stack, found through the outputs that template.yaml gives it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, overload

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from bucketsum import __version__
from bucketsum.digests_table import DigestsTable
from bucketsum_cli import emulator
from bucketsum_cli.errors import CannotDoError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_logs import CloudWatchLogsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

DEFAULT_NAME: Final = "bucketsum"

CONNECTIONS: Final = 32
"""Most connections that one client keeps open; no command asks for more at a time."""

_CONFIG: Final = Config(
    connect_timeout=10,
    read_timeout=60,
    retries={"mode": "standard", "total_max_attempts": 5},
    max_pool_connections=CONNECTIONS,
    user_agent_extra=f"bucketsum/{__version__}",
)

_LOCAL_CONFIG: Final = Config(
    proxies={},  # the person's proxy cannot reach this machine's 127.0.0.1
    use_dualstack_endpoint=False,  # nor may variables of theirs choose another address
    use_fips_endpoint=False,
)

_OUTPUTS: Final[Mapping[str, str]] = {
    "bucket": "BucketName",
    "table": "DigestsTableName",
    "arrivals_queue_url": "ArrivalsQueueUrl",
    "dead_letter_queue_url": "DeadLetterQueueUrl",
    "function": "HasherFunctionName",
    "log_group": "HasherLogGroupName",
}


@dataclass(frozen=True, slots=True)
class Connection:
    """How to reach AWS, or the embedded one.

    Attributes:
        session: Credentials and Region.
        endpoint: Address of the embedded AWS; None is AWS itself.
        ca_bundle: File with the certificate authority of the embedded AWS; None is AWS's own.
    """

    session: boto3.Session
    endpoint: str | None = None
    ca_bundle: str | None = None

    def client(self, service: str) -> Any:  # noqa: ANN401 - `Stack.client` says which
        """A client for *service*; making one takes some 20 ms, so keep it."""
        names: Any = service  # the stubs want a literal of every service there is
        config = _CONFIG.merge(_LOCAL_CONFIG) if self.endpoint else _CONFIG
        return self.session.client(
            names, endpoint_url=self.endpoint, verify=self.ca_bundle, config=config
        )


@dataclass(frozen=True, slots=True)
class Stack:
    """What a stack is made of, as far as the command needs it.

    Attributes:
        name: Its name in CloudFormation.
        connection: How to reach it.
        bucket: Bucket that objects are put into.
        table: Table that digests are recorded in.
        arrivals_queue_url: Queue that the bucket notifies.
        dead_letter_queue_url: Queue of what could not be handled.
        function: Name of the hasher.
        log_group: Name of its log group.
        outputs: All outputs of the stack, for the parts that not every stack has.
    """

    name: str
    connection: Connection
    bucket: str
    table: str
    arrivals_queue_url: str
    dead_letter_queue_url: str
    function: str
    log_group: str
    outputs: Mapping[str, str] = field(default_factory=dict)

    @overload
    def client(self, service: Literal["s3"]) -> S3Client: ...
    @overload
    def client(self, service: Literal["sqs"]) -> SQSClient: ...
    @overload
    def client(self, service: Literal["dynamodb"]) -> DynamoDBClient: ...
    @overload
    def client(self, service: Literal["lambda"]) -> LambdaClient: ...
    @overload
    def client(self, service: Literal["logs"]) -> CloudWatchLogsClient: ...
    @overload
    def client(self, service: Literal["stepfunctions"]) -> SFNClient: ...
    def client(self, service: str) -> Any:
        """A client for *service*; making one takes some 20 ms, so keep it."""
        return self.connection.client(service)

    def ledger(self) -> DigestsTable:
        """Its table of digests."""
        return DigestsTable(self.client("dynamodb"), self.table)


def find_stack(
    name: str = DEFAULT_NAME, region: str | None = None, profile: str | None = None
) -> Stack:
    """The stack *name* of the account that the environment, or *profile*, has credentials for.

    Raises:
        CannotDoError: There is no such stack, or bucketsum's template did not make it.
        BotoCoreError: No credentials, no Region, no such profile, or AWS cannot be reached.
        ClientError: AWS refused.
    """
    session = boto3.Session(profile_name=profile, region_name=region)
    return _stack_at(Connection(session), name)


def find_local_stack(project: Path | None = None) -> Stack:
    """The stack on the embedded AWS of *project*, by default of the current folder's.

    Raises:
        CannotDoError: It is not running, or nothing is deployed on it.
    """
    aws = emulator.running(project or emulator.project_folder())
    return _stack_at(Connection(aws.session(), aws.endpoint, aws.ca_bundle), aws.stack)


def _stack_at(connection: Connection, name: str) -> Stack:
    cloudformation: CloudFormationClient = connection.client("cloudformation")
    try:
        found = cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        if not _says_missing(error):
            raise
        raise CannotDoError(_missing(connection, name)) from None
    outputs = {one["OutputKey"]: one["OutputValue"] for one in found.get("Outputs", ())}
    absent = [output for output in _OUTPUTS.values() if output not in outputs]
    if absent:
        raise CannotDoError(
            f"the stack {name} ({found['StackStatus']}) has no output {', '.join(absent)}: "
            "bucketsum's template.yaml did not make it, or did not finish; name another with "
            "--stack, or deploy with `sam deploy`"
        )
    fields = {field: outputs[output] for field, output in _OUTPUTS.items()}
    return Stack(name=name, connection=connection, outputs=outputs, **fields)


def _says_missing(error: ClientError) -> bool:
    """CloudFormation has no error code of its own for it: the text must tell."""
    told = error.response["Error"]
    return told["Code"] == "ValidationError" and "does not exist" in told.get("Message", "")


def _missing(connection: Connection, name: str) -> str:
    if connection.endpoint:
        return (
            f"the embedded AWS at {connection.endpoint} has no stack {name}; deploy it with "
            "`bucketsum local up`"
        )
    session = connection.session
    return (
        f"there is no stack {name} in {session.region_name} (profile {session.profile_name}); "
        "name yours with --stack, --region and --profile, use the embedded AWS with --local, or "
        "deploy one with `sam build && sam deploy --guided`"
    )
