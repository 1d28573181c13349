"""Corrections of LocalStack 4.14, each of a difference in `differences`.

Without these the end-to-end tests could not run at all.
"""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import unquote

from localstack.services.cloudformation.engine.v2.change_set_model_preproc import (
    DeletionPolicy,
    PreprocResource,
)
from localstack.services.cloudformation.resource_provider import OperationStatus, ProgressEvent
from localstack.services.cloudformation.v2 import provider as cloudformation
from localstack.services.iam.resource_providers.aws_iam_managedpolicy import (
    IAMManagedPolicyProvider,
)
from localstack.services.lambda_.invocation.execution_environment import ExecutionEnvironment
from localstack.services.s3 import notifications


def apply() -> None:
    """Apply all corrections."""
    name_log_groups()
    update_managed_policies()
    number_events()
    retain_resources()
    reuse_templates()
    describe_stacks()


def name_log_groups() -> None:
    """Log to the group of LoggingConfig."""
    default = ExecutionEnvironment.get_log_group_name

    def name(self: Any) -> str:  # noqa: ANN401 - untyped
        group: str = self.function_version.config.logging_config.get("LogGroup") or default(self)
        return group

    ExecutionEnvironment.get_log_group_name = name


def update_managed_policies() -> None:
    """Give AWS::IAM::ManagedPolicy its new document, as the default version."""

    def update(_: object, request: Any) -> ProgressEvent:  # noqa: ANN401 - untyped
        iam, model = request.aws_client_factory.iam, request.desired_state
        prefix = f"{request.stack_name}-{request.logical_resource_id}-"
        policies = iam.list_policies(Scope="Local", MaxItems=1000)["Policies"]
        arn = next(policy["Arn"] for policy in policies if policy["PolicyName"].startswith(prefix))
        document = json.dumps(model["PolicyDocument"])
        iam.create_policy_version(PolicyArn=arn, PolicyDocument=document, SetAsDefault=True)
        return ProgressEvent(OperationStatus.SUCCESS, resource_model={**model, "PolicyArn": arn})

    IAMManagedPolicyProvider.update = update


def number_events() -> None:
    """Give each event of S3 a sequencer of its own, and EventBridge's a raw key."""

    def numbered(payload_of: Any) -> Any:  # noqa: ANN401 - untyped
        def payload(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - untyped
            entry = payload_of(*args, **kwargs)
            detail = json.loads(entry.get("Detail", "{}"))
            objects = [record["s3"]["object"] for record in entry.get("Records", [])]
            if detail:
                detail["object"]["key"] = unquote(detail["object"]["key"])
                objects.append(detail["object"])
            for event in objects:
                if "sequencer" in event:
                    event["sequencer"] = f"{time.time_ns():016X}"
            return entry | ({"Detail": json.dumps(detail)} if detail else {})

        return staticmethod(payload)

    for notifier in (notifications.BaseNotifier, notifications.EventBridgeNotifier):
        notifier._get_event_payload = numbered(notifier._get_event_payload)  # noqa: SLF001


def retain_resources() -> None:
    """Keep what has the DeletionPolicy RetainExceptOnCreate."""
    own = PreprocResource.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - untyped
        own(self, *args, **kwargs)
        if self.deletion_policy == DeletionPolicy.RetainExceptOnCreate:
            self.deletion_policy = DeletionPolicy.Retain

    PreprocResource.__init__ = init


def reuse_templates() -> None:
    """Update a stack with its own template."""
    own = cloudformation.CloudformationProviderV2.update_stack

    def update_stack(self: Any, context: Any, request: Any) -> Any:  # noqa: ANN401 - untyped
        if request.get("UsePreviousTemplate"):
            store = cloudformation.get_cloudformation_store(context.account_id, context.region)
            stack = cloudformation.find_stack_v2(store, request["StackName"])
            request["TemplateBody"] = stack.template_body
        return own(self, context, request)

    update_stack.__dict__.update(own.__dict__)  # it says which operation this is
    cloudformation.CloudformationProviderV2.update_stack = update_stack


def describe_stacks() -> None:
    """Describe a stack with its template's description."""
    provider = cloudformation.CloudformationProviderV2
    own = provider._describe_stack  # noqa: SLF001 - as below

    def described(self: Any, stack: Any) -> Any:  # noqa: ANN401 - untyped
        stack.description = stack.description or (stack.template or {}).get("Description")
        return own(self, stack)

    provider._describe_stack = described  # noqa: SLF001 - no public method does it
