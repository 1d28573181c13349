"""Connections to AWS, and to the local emulator."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bucketsum import __version__
from bucketsum_cli.emulator import emulator_state
from bucketsum_cli.emulator.emulator_state import LocalProject
from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from botocore.config import Config
    from botocore.session import Session


CONNECTIONS: Final = 32
"""Maximum number of open connections of a client; no command needs more at a time."""

_CONTROL_SERVICE: Final = "cloudformation"
"""Answers the first request of every command, and answers at once, or nobody does."""


def _config(service: str, *, is_local: bool) -> Config:
    from botocore.config import Config  # noqa: PLC0415 - botocore takes a third of a second

    options: dict[str, Any] = {"connect_timeout": 10, "read_timeout": 60}
    attempts = 5
    if is_local:  # the user's variables may name a proxy, which cannot reach it, or other addresses
        options |= {"proxies": {}, "use_dualstack_endpoint": False, "use_fips_endpoint": False}
    elif service == _CONTROL_SERVICE:  # 20 s in all, not 5 minutes
        options, attempts = {"connect_timeout": 6, "read_timeout": 6}, 3
    return Config(
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=CONNECTIONS,
        user_agent_extra=f"bucketsum/{__version__}",
        **options,
    )


@dataclass(frozen=True, slots=True)
class Connection:
    """Access to AWS, or to the local emulator.

    Attributes:
        session: Credentials and Region.
        endpoint: Address of the local emulator; None is AWS itself.
        ca_bundle: File with the certificate authority of the emulator; None is the default.
    """

    session: Session
    endpoint: str | None = None
    ca_bundle: str | None = None

    @property
    def region(self) -> str:
        """The session's Region; empty if it has none."""
        return self.session.get_config_variable("region") or ""

    @property
    def is_local(self) -> bool:
        """Whether the connection is to the local emulator."""
        return self.endpoint is not None

    def caller(self) -> str | None:
        """ARN of whoever calls; None if AWS does not say."""
        from botocore.exceptions import ClientError  # noqa: PLC0415 - as botocore

        try:
            return str(self.client("sts").get_caller_identity()["Arn"])
        except ClientError:
            return None

    def client(self, service: str) -> Any:  # noqa: ANN401 - `Stack.client` has the types
        """Make a client for *service* in the session's Region; it takes some 20 ms.

        Raises:
            CannotDoError: The endpoint or the Region is not valid.
        """
        try:
            return self.session.create_client(
                service,
                endpoint_url=self.endpoint,
                verify=self.ca_bundle,
                config=_config(service, is_local=self.is_local),
            )
        except ValueError as error:  # botocore's own classes derive from other types
            raise CannotDoError(
                f"{error}; check --region and the variables AWS_ENDPOINT_URL and AWS_REGION"
            ) from error


def connection_to(region: str | None = None, profile: str | None = None) -> Connection:
    """Connect with the credentials of the environment or of the profile."""
    from bucketsum_cli.aws.session import new_session  # noqa: PLC0415 - as botocore

    return Connection(new_session(region=region, profile=profile))


def local_connection(project: LocalProject | None = None) -> tuple[Connection, str]:
    """Connect to the local emulator of *project*; also return the name of its stack.

    Raises:
        CannotDoError: It is not running.
    """
    aws = emulator_state.running(project or emulator_state.local_project())
    # the emulator needs no signatures of AWS's C library, whose import takes 60 ms
    sys.modules.setdefault("awscrt", None)  # type: ignore[arg-type] # Python's own
    from bucketsum_cli.aws.session import local_session  # noqa: PLC0415 - as botocore

    return Connection(local_session(aws), aws.endpoint, aws.ca_bundle), aws.stack
