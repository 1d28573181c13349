"""The network between a task and a service: latency, faults and lost responses."""

from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError, EndpointConnectionError, ReadTimeoutError
from tests.simulation.schedule import Schedule

_ENDPOINT: Final = "https://model"


def refusal(code: str, status: int, operation: str) -> ClientError:
    """A service's refusal, as botocore raises it."""
    response: Any = {
        "Error": {"Code": code, "Message": "by the model"},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return ClientError(response, operation)


@dataclass(slots=True)
class Network:
    """Requests of one service.

    Attributes:
        schedule: Decides.
        throttle: Code and status of the service's throttling.
        faults: Probability that a request, or its response, fails; botocore has retried by then.
    """

    schedule: Schedule
    throttle: tuple[str, int]
    faults: float = 0

    def request(self, operation: str, subject: object = "") -> None:
        """Let time pass until the service takes the request.

        Raises:
            ClientError: The service throttles.
            EndpointConnectionError: The request does not reach it.
            Killed: The caller ends before it.
        """
        schedule = self.schedule
        schedule.pause()
        schedule.log("%s %s", operation, subject)
        if self.faults and schedule.happens(self.faults):
            code, status = self.throttle
            schedule.log("  fails before its effect")
            if schedule.happens(0.5):
                raise refusal(code, status, operation)
            raise EndpointConnectionError(endpoint_url=_ENDPOINT)

    def response(self) -> None:
        """Bring the response.

        Raises:
            ReadTimeoutError: It is lost, after the request had its effect.
        """
        if self.schedule.happens(self.faults / 2):
            self.schedule.log("  has its effect, but the response is lost")
            raise ReadTimeoutError(endpoint_url=_ENDPOINT)
