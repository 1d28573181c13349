"""Executions on the interpreter of the local emulator, within this process."""

import asyncio
import json
from typing import Any

from ministack.services import stepfunctions
from tests.proofs.executions import Answers, serve


class MiniStack:
    """The emulator's Step Functions."""

    def call(self, action: str, request: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        """The answer of its API.

        Raises:
            ValueError: It refuses.
        """
        headers = {"x-amz-target": f"AWSStepFunctions.{action}"}
        answer = stepfunctions.handle_request("POST", "/", headers, json.dumps(request), {})
        status, _, body = asyncio.run(answer)
        if status != 200:
            raise ValueError(body)
        return json.loads(body)

    def use(self, answers: Answers) -> None:
        """Take the answers of Lambda and DynamoDB from here."""

        def invoked(resource: str, request: Any) -> Any:  # noqa: ANN401 - JSON
            if "dynamodb" in resource:
                return answers.of_table(request)
            answer = answers.of_function(request["FunctionName"], request["Payload"])
            if isinstance(answer, dict) and "errorType" in answer:
                cause = json.dumps(answer, separators=(",", ":"))
                raise stepfunctions._ExecutionError(answer["errorType"], cause)  # noqa: SLF001 - it has no public name
            return {"StatusCode": 200, "Payload": answer}

        stepfunctions._invoke_resource = invoked  # noqa: SLF001 - the only place for all tasks


if __name__ == "__main__":
    serve(MiniStack())
