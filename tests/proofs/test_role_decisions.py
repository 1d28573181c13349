"""IAM, as the local emulator decides, allows every call that the code makes, and refuses others."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Final

import pytest
from ministack.core import iam_evaluator
from tests.proofs.calls import ALLOWED, CHILD, DENIED, FILE, OTHER, calls
from tests.proofs.expanded import ACCOUNT, REGION, ROOT, STACK, Deployed, attached, planted

KEY_POLICY: Final = {  # as KMS gives a new key
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"},
                   "Action": "kms:*", "Resource": "*"}],
}  # fmt: skip


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The calls that functions make in the tests of their roles."""
    file = tmp_path_factory.mktemp("recorded") / "calls"
    tests = [f"tests/integration/{suite}/test_roles.py" for suite in ("hasher", "sweep")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.proofs.calls", *tests]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {FILE: str(file)})
    return file.read_text(encoding="utf-8").splitlines()


def called_by_lambda(stack: Deployed) -> Iterator[str]:
    """Rows of what Lambda does with each function's role: takes messages, writes the log."""
    functions = stack.of_type("AWS::Lambda::Function")
    roles = {name: function["Role"].rpartition("/")[2] for name, function in functions.items()}
    for mapping in stack.of_type("AWS::Lambda::EventSourceMapping").values():
        role, queue = roles[mapping["FunctionName"]], mapping["EventSourceArn"]
        yield f"{role} sqs:ReceiveMessage,DeleteMessage,GetQueueAttributes {queue}"
    for name, function in functions.items():
        group = stack.arn(function["LoggingConfig"]["LogGroup"]).removesuffix("*")
        yield f"{roles[name]} logs:CreateLogStream,PutLogEvents {group}log-stream:1"


def policies_of(stack: Deployed, role: str) -> list[dict[str, Any]]:
    """The role's policies: its own, those beside it, those of the stack of attached buckets."""
    properties = stack.of_type("AWS::IAM::Role").get(role, {})
    managed = stack.of_type("AWS::IAM::ManagedPolicy")
    policies = properties.get("Policies", [])
    policies += [managed[name] for name in properties.get("ManagedPolicyArns", ())]
    policies += [p for p in stack.of_type("AWS::IAM::Policy").values() if role in p["Roles"]]
    imported = {"Fn::ImportValue": f"{STACK}-{role}Name"}
    others = [resource["Properties"] for resource in attached()["Resources"].values()]
    policies += [
        stack.value(resource) for resource in others if imported in resource.get("Roles", ())
    ]
    return [policy["PolicyDocument"] for policy in policies]


def resource_policy(stack: Deployed, name: str) -> Any:  # noqa: ANN401 - a document, or None
    """The policy of a queue, bucket or key; of a role the one for those who would assume it."""
    if name == "arn":
        return KEY_POLICY
    if stack.resources.get(name, {}).get("Type") == "AWS::IAM::Role":
        return stack.value(stack.resources[name]["Properties"]["AssumeRolePolicyDocument"])
    policy = stack.resources.get(f"{name}Policy")
    return policy and stack.value(policy["Properties"]["PolicyDocument"])


def decision(stack: Deployed, call: str) -> str:
    """``Allow``, ``Deny`` or ``ImplicitDeny``."""
    principal, action, place, *context = call.split()
    [(name, rest)] = re.findall(r"^(\w+)(.*)", place)
    arn = {"arn": place, "execution": f"arn:aws:states:{REGION}:{ACCOUNT}:{place}"}.get(name)
    is_role = principal in stack.resources
    keys = dict(pair.split("=", 1) for pair in context)
    request = iam_evaluator.EvalContext(
        principal_arn=stack.arn(principal) if is_role else principal,
        principal_type="AssumedRole",
        principal_account=ACCOUNT,
        action=action,
        resource_arn=arn or stack.arn(name) + rest,
        region=REGION,
        secure_transport=keys.get("aws:SecureTransport") != "false",
        service_context={key.lower(): value for key, value in keys.items()},
    )
    policy = resource_policy(stack, name)
    if not is_role:
        return str(iam_evaluator.evaluate_resource_policy(policy, request, principal).decision)
    own = [iam_evaluator.parse_policy_document(policy) for policy in policies_of(stack, principal)]
    of_role = iam_evaluator.evaluate(request, own)
    of_both = iam_evaluator.combine_resource_policy(
        of_role, request, policy, ACCOUNT, required=action.startswith("kms:")
    )
    return str(of_both.decision)


def wrong_decisions(template: str, recorded: list[str]) -> set[str]:
    """Calls that must be allowed and are not, or the other way round."""
    stack = Deployed(template)
    allowed = {*recorded, *calls([*ALLOWED.splitlines(), *called_by_lambda(stack)])}
    denied = set(calls(DENIED.splitlines()))
    for listed in (allowed, denied):
        assert set(stack.of_type("AWS::IAM::Role")) <= {call.split()[0] for call in listed}
    decided = {call: decision(stack, call) for call in allowed | denied}
    return {
        f"{effect}: {call}"
        for call, effect in decided.items()
        if (effect == "Allow") != (call in allowed)
    }


def test_each_call_is_decided_as_it_must_be(recorded: list[str]) -> None:
    """Every recorded call and every call of a service is allowed; the listed others are not."""
    assert len(recorded) > 30
    assert wrong_decisions(planted("", ""), recorded) == set()


@pytest.mark.parametrize(
    ("text", "fault", "wrong"),
    [
        (", dynamodb:PutItem, dynamodb:BatchGetItem", "", "I.*: HasherRole dynamodb:PutItem "),
        ("[long-objects]", "['*']", "I.*: SlicerRole dynamodb:DeleteItem"),
        ("Condition: { ForAllValues:StringEquals: { dynamodb:LeadingKeys: [long-objects] } }", "",
         "Allow: SlicerRole dynamodb:DeleteItem DigestsTable .*=inbox/key"),
        ("${ProberFunction.Arn}:* # only", "${ProberFunction.Arn}* # only",
         "Allow: SweepRole lambda:InvokeFunction ProberFunction"),
        ("execution:${BackfillStateMachine.Name}/*", "execution:${BackfillStateMachine.Name}",
         f"I.*: BackfillRole states:StopExecution {CHILD}"),
        ("StringEquals: { aws:SourceAccount: !Ref AWS::AccountId }", "",
         f"Allow: s3.amazonaws.com sqs:SendMessage ArrivalsQueue .*{OTHER}"),
    ],
)  # fmt: skip
def test_a_planted_fault_is_found(text: str, fault: str, wrong: str, recorded: list[str]) -> None:
    """A right that is missing, and one that is too wide, are reported."""
    assert any(
        re.match(wrong, decision) for decision in wrong_decisions(planted(text, fault), recorded)
    )
