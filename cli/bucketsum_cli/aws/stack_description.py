"""CloudFormation's description of a stack, and of its resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import ClientError

from bucketsum_cli.aws.connection import Connection
from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.live_progress import note_after

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

_SILENCE_SECONDS: Final = 3.0


def description_of(connection: Connection, name: str) -> StackTypeDef | None:
    """Return CloudFormation's description of the stack *name*; None if there is no such stack.

    Raises:
        CannotDoError: What answered is not AWS.
    """
    from botocore.parsers import ResponseParserError  # noqa: PLC0415 - as slow as a client

    cloudformation: CloudFormationClient = connection.client("cloudformation")
    url = cloudformation.meta.endpoint_url
    try:
        with note_after(_SILENCE_SECONDS, f"no answer from {url} yet; still trying"):
            return cloudformation.describe_stacks(StackName=name)["Stacks"][0]
    except (KeyError, ResponseParserError):  # botocore looks for its elements in any page
        raise CannotDoError(
            f"what answers at {url} is not AWS; check the network (a proxy, a sign-in page) and "
            "AWS_ENDPOINT_URL"
        ) from None
    except ClientError as error:  # CloudFormation has no code for it
        details = error.response["Error"]
        if details["Code"] != "ValidationError" or "does not exist" not in details["Message"]:
            raise
        return None


def outputs_of(description: StackTypeDef) -> dict[str, str]:
    """Return the values of a stack's outputs from its *description*."""
    return {output["OutputKey"]: output["OutputValue"] for output in description.get("Outputs", ())}


def parameters_of(description: StackTypeDef) -> dict[str, str]:
    """Return the values of a stack's parameters from its *description*."""
    return {
        parameter["ParameterKey"]: parameter["ParameterValue"]
        for parameter in description.get("Parameters", ())
    }


def resources_of(connection: Connection, name: str) -> dict[str, Any]:
    """Return CloudFormation's summaries of the resources of the stack *name* by their logical ids.

    Those that have no physical id, because they were not created, are left out.
    """
    pages = connection.client("cloudformation").get_paginator("list_stack_resources")
    created = pages.paginate(StackName=name).search("StackResourceSummaries[?PhysicalResourceId]")
    return {resource["LogicalResourceId"]: resource for resource in created}


def physical_ids(connection: Connection, name: str) -> dict[str, str]:
    """Return the names of the resources of the stack *name* by their logical ids."""
    resources = resources_of(connection, name)
    return {logical: resource["PhysicalResourceId"] for logical, resource in resources.items()}
