"""Executions on LocalStack's interpreter, within this process: no server, no network."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jpype
from botocore import xform_name
from botocore.exceptions import ClientError
from localstack.aws.api import RequestContext
from localstack.services.stepfunctions import packages
from localstack.services.stepfunctions.asl.component.state.state_execution import state_task
from localstack.services.stepfunctions.backend.execution import Execution
from localstack.services.stepfunctions.provider import StepFunctionsProvider
from rolo import Request
from tests.proofs.executions import ACCOUNT, Answers, serve


class Services:
    """Lambda and DynamoDB, with the methods of botocore's clients."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    def invoke(self, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - botocore's
        """Answer an invocation, or raise an error of Lambda itself."""
        answer = self._answers.of_function(FunctionName, json.loads(Payload))
        error = answer.get("errorType", "") if isinstance(answer, dict) else ""
        if error.startswith("Lambda."):
            response: Any = {
                "Error": {"Code": error.removeprefix("Lambda."), "Message": answer["errorMessage"]},
                "ResponseMetadata": {"HTTPStatusCode": 429, "RequestId": "1"},
            }
            raise ClientError(response, "Invoke")
        payload = {"StatusCode": 200, "Payload": io.BytesIO(json.dumps(answer).encode())}
        return payload | ({"FunctionError": "Unhandled"} if error else {})

    def put_item(self, **request: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Take a write."""
        return self._answers.of_table(request)

    update_item = put_item


class LocalStack:
    """LocalStack's Step Functions."""

    def __init__(self, java_libraries: Path) -> None:
        self._context = RequestContext(Request("POST", "/"))
        self._context.account_id, self._context.region = ACCOUNT, "us-east-1"
        self._provider = StepFunctionsProvider()
        packages.jpype_jsonata_package.get_installer = lambda: SimpleNamespace(
            install=lambda: None,  # else it downloads a JVM and the libraries
            get_java_lib_path=jpype.getDefaultJVMPath,
            get_installed_dir=lambda: java_libraries,
        )
        Execution.publish_execution_status_change_event = lambda _: None  # no EventBridge is here

    def call(self, action: str, request: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """The answer of its API."""
        operation = getattr(self._provider, xform_name(action))
        if action == "CreateStateMachine":
            return operation(self._context, request)
        return operation(self._context, **{xform_name(name): request[name] for name in request})

    def use(self, answers: Answers) -> None:
        """Take the answers of Lambda and DynamoDB from here."""
        services = Services(answers)
        for module in (
            state_task.lambda_eval_utils,
            state_task.service.state_task_service_dynamodb,
        ):
            module.boto_client_for = lambda **_: services


if __name__ == "__main__":
    serve(LocalStack(Path(sys.argv[1])))
    os._exit(0)  # else the JVM ends the process with an error
