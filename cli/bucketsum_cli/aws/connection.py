"""Connections to AWS, and to the local emulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import boto3
from botocore.config import Config

from bucketsum import __version__
from bucketsum_cli.machine import emulator_state
from bucketsum_cli.terminal.errors import CannotDoError

if TYPE_CHECKING:
    from bucketsum_cli.machine.emulator_state import LocalProject

CONNECTIONS: Final = 32
"""Maximum number of open connections of a client; no command needs more at a time."""

_CONFIG: Final = Config(
    connect_timeout=10,
    read_timeout=60,
    retries={"mode": "standard", "total_max_attempts": 5},
    max_pool_connections=CONNECTIONS,
    user_agent_extra=f"bucketsum/{__version__}",
)

_LOCAL_CONFIG: Final = Config(
    proxies={},  # the user's proxy cannot reach 127.0.0.1 of this machine
    use_dualstack_endpoint=False,  # nor may the user's variables choose another address
    use_fips_endpoint=False,
)


@dataclass(frozen=True, slots=True)
class Connection:
    """Access to AWS, or to the local emulator.

    Attributes:
        session: Credentials and Region.
        endpoint: Address of the local emulator; None is AWS itself.
        ca_bundle: File with the certificate authority of the emulator; None is the default.
    """

    session: boto3.Session
    endpoint: str | None = None
    ca_bundle: str | None = None

    @property
    def region(self) -> str:
        """The session's Region; empty if it has none."""
        return self.session.region_name or ""

    @property
    def is_local(self) -> bool:
        """Whether it is the local emulator's."""
        return self.endpoint is not None

    def client(self, service: str, region: str | None = None) -> Any:  # noqa: ANN401 - `Stack.client` has the types
        """Make a client for *service*, by default in the session's Region; it takes some 20 ms.

        Raises:
            CannotDoError: The endpoint or the Region is not valid.
        """
        names: Any = service  # the stubs want a literal of every service there is
        config = _CONFIG.merge(_LOCAL_CONFIG) if self.endpoint else _CONFIG
        try:
            return self.session.client(
                names,
                region_name=region,
                endpoint_url=self.endpoint,
                verify=self.ca_bundle,
                config=config,
            )
        except ValueError as error:  # botocore's own classes derive from other types
            raise CannotDoError(
                f"{error}; check --region and the variables AWS_ENDPOINT_URL and AWS_REGION"
            ) from error


def connection_to(region: str | None = None, profile: str | None = None) -> Connection:
    """Connect to the account of the environment's, or the profile's, credentials."""
    return Connection(boto3.Session(profile_name=profile, region_name=region))


def local_connection(project: LocalProject | None = None) -> tuple[Connection, str]:
    """Connect to the local emulator of *project*; also return the name of its stack.

    Raises:
        CannotDoError: It is not running.
    """
    aws = emulator_state.running(project or emulator_state.local_project())
    return Connection(aws.session(), aws.endpoint, aws.ca_bundle), aws.stack
