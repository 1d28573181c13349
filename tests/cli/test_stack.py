"""The command finds its stack, or gives the reason why it cannot."""

import json
import os

import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
    UnauthorizedSSOTokenError,
    UnknownServiceError,
)
from moto import mock_aws
from moto.backends import get_backend
from tests.cli.conftest import Run
from tests.cli.deployed import BUCKET, NAME, deploy, publish
from tests.support.moto_server import moto_server
from tests.support.sam_template import load_template

from bucketsum_cli.aws import stack_lookup
from bucketsum_cli.aws.errors import AWS_ERRORS, explained
from bucketsum_cli.emulator import process
from bucketsum_cli.emulator.emulator_state import LocalAws, LocalProject, save


def test_template_gives_every_output_that_the_command_reads() -> None:
    """template.yaml has every output that the command reads."""
    assert set(stack_lookup._OUTPUTS.values()) <= set(load_template()["Outputs"])  # noqa: SLF001 - the contract itself


@pytest.mark.usefixtures("stack")
def test_missing_stack_says_where_it_looked_and_what_else_there_is(run: Run) -> None:
    """A name that is not there is answered with the Region asked for, --stack and --local."""
    ended = run("ls", "--stack", "other", "--region", "eu-west-1")
    assert (ended.status, ended.out) == (2, "")
    for part in ("no stack other in eu-west-1", "--stack", "--profile", "--local", "sam deploy"):
        assert part in ended.err


@pytest.mark.usefixtures("stack")
def test_stack_name_comes_from_the_environment_too(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BUCKETSUM_STACK names the stack where --stack does not."""
    monkeypatch.setenv("BUCKETSUM_STACK", "elsewhere")
    assert "no stack elsewhere" in run("ls").err
    assert run("ls", "--stack", NAME).status == 0


@mock_aws
def test_foreign_stack_is_told_from_ours(run: Run) -> None:
    """A stack without our outputs is refused by naming what it lacks."""
    publish({"BucketName": BUCKET})
    ended = run("show", "key")
    ended.assert_refused("DigestsTableName")
    assert "BucketName" not in ended.err


@pytest.mark.usefixtures("stack")
def test_a_stack_that_is_being_deleted_is_not_used(run: Run) -> None:
    """Some of its parts are gone already, and nothing started now would end."""
    [deployed] = get_backend("cloudformation")["123456789012"]["us-east-1"].stacks.values()
    deployed.status = "DELETE_IN_PROGRESS"
    ended = run("backfill", "list")
    assert (ended.status, ended.out) == (2, "")
    assert f"the stack {NAME} is being deleted" in ended.err


@pytest.mark.usefixtures("stack")
def test_refusal_to_tell_of_stacks_is_not_taken_for_a_missing_stack(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only CloudFormation's own word for it means that a stack is missing."""

    def refuse(*_: object) -> None:
        raise refused("AccessDenied")

    monkeypatch.setattr("botocore.client.BaseClient._make_api_call", refuse)
    ended = run("ls")
    ended.assert_refused("do not allow DescribeStacks")
    assert "no stack" not in ended.err


@pytest.mark.parametrize(
    ("unset", "arguments", "parts"),
    [
        (("AWS_REGION", "AWS_DEFAULT_REGION"), (), ("--region",)),
        (
            ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
            (),
            ("no AWS credentials", "--profile", "--local"),
        ),
        ((), ("--profile", "nobody"), ("nobody", "list-profiles")),
    ],
)
def test_what_is_not_configured_is_named(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    unset: tuple[str, ...],
    arguments: tuple[str, ...],
    parts: tuple[str, ...],
) -> None:
    """No Region, no credentials or no such profile is a sentence with the options."""
    for name in unset:
        monkeypatch.delenv(name)
    run("ls", *arguments).assert_refused(*parts)


def refused(code: str, text: str = "told so") -> ClientError:
    """AWS's answer with an error code."""
    return ClientError({"Error": {"Code": code, "Message": text}}, "DescribeStacks")


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (refused("ExpiredToken"), ("expired", "aws sso login", "told so")),
        (refused("ExpiredTokenException"), ("expired",)),
        (refused("InvalidClientTokenId"), ("does not accept these credentials", "--profile")),
        (refused("SignatureDoesNotMatch"), ("does not accept these credentials",)),
        (refused("AccessDenied"), ("do not allow DescribeStacks", "told so")),
        (refused("AccessDeniedException"), ("do not allow DescribeStacks",)),
        (refused("NoSuchBucket"), ("there is no such bucket", "`bucketsum buckets")),
        (refused("RequestTimeTooSkewed"), ("the clock of this machine is wrong", "set it")),
        (
            refused("SignatureDoesNotMatch", "Signature expired: 1 is now earlier than 2"),
            ("the clock of this machine is wrong",),
        ),
        (refused("AWS.SimpleQueueService.NonExistentQueue"), ("deploy the stack again",)),
        (refused("Throttling"), ("DescribeStacks", "Throttling", "told so")),
        (ClientError({"Error": {}}, "DescribeStacks"), ("an unnamed error",)),
        (NoCredentialsError(), ("no AWS credentials",)),
        (PartialCredentialsError(provider="env", cred_var="x"), ("no AWS credentials",)),
        (UnauthorizedSSOTokenError(), ("expired", "aws sso login")),
        (EndpointConnectionError(endpoint_url="http://h/"), ("cannot be reached", "http://h/")),
        (ReadTimeoutError(endpoint_url="http://h/"), ("cannot be reached", "local status")),
        (UnknownServiceError(service_name="s9", known_service_names="s3"), ("s9",)),
    ],
)
def test_every_refusal_of_aws_is_a_sentence_that_says_what_to_do(
    error: Exception, parts: tuple[str, ...]
) -> None:
    """The text of AWS or boto3 is kept, and advice is added."""
    assert isinstance(error, AWS_ERRORS)
    text = explained(error).message
    for part in parts:
        assert part in text


def test_local_reads_from_the_local_emulator_that_runs(
    run: Run, project: LocalProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--local takes address and name from what `bucketsum local up` left."""
    monkeypatch.setattr(process, "lives", lambda _pid, _home: True)
    with moto_server() as endpoint:
        plain = str(project.folder / "template.yaml")  # plain HTTP asks for no authority
        aws = LocalAws(os.getpid(), endpoint, "us-east-1", NAME, ca_bundle=plain)
        save(project, aws)
        missing = run("ls", "--local")
        deploy(endpoint)
        ended = run("ls", "--local", "--json")
    assert missing.status == 2
    assert "bucketsum local up" in missing.err
    assert (ended.status, ended.document) == (0, [])


@pytest.mark.parametrize("option", ["--region", "--profile", "--stack"])
def test_local_goes_with_no_account(run: Run, option: str) -> None:
    """An option that names an account's stack is refused with --local, not ignored."""
    run("ls", "--local", option, "x").assert_refused(f"{option} cannot be used with --local")


@pytest.mark.parametrize("command", ["put", "ls", "show", "find", "check", "failures", "redrive"])
def test_help_of_every_command_has_an_example_and_the_shared_options(
    run: Run, command: str
) -> None:
    """Nobody has to look elsewhere for how a command is called."""
    ended = run(command, "--help").assert_done()
    for part in (f"Example: bucketsum {command}", "--json", "--stack", "--region", "--local"):
        assert part in ended.out


@pytest.mark.usefixtures("stack")
def test_json_is_one_document_and_errors_are_not_in_it(run: Run) -> None:
    """Stdout holds the document or nothing."""
    assert json.loads(run("failures", "--json").out) == []
    assert run("failures", "--json", "--stack", "other").out == ""
