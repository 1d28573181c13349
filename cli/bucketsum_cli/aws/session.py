"""botocore's sessions: boto3's would add resources and transfers, which take a fifth of a second.

This module is imported when the first session is made.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any, Final

from bucketsum_cli.emulator.emulator_state import LocalAws

sys.modules.setdefault("urllib3.contrib.pyopenssl", None)  # type: ignore[arg-type] # Python's own
"""botocore imports it if it is there, as with sam, and uses nothing of it: that takes 60 ms."""

from botocore.session import Session  # noqa: E402 - after that

from bucketsum.invocation.clients import ModelLoader  # noqa: E402 - it imports botocore

_NO_FILE: Final = (None, None, os.devnull, None)


@functools.cache
def _loader() -> ModelLoader:
    return ModelLoader()


def local_session(aws: LocalAws) -> Session:
    """Make a session for the emulator; clients need its endpoint as their ``endpoint_url`` too.

    The user's own AWS settings are ignored: profiles, variables and files.
    """
    variables: Any = {
        name: (None, None, default, conversion)
        for name, (_, _, default, conversion) in Session.SESSION_VARIABLES.items()
    }
    variables |= {"config_file": _NO_FILE, "credentials_file": _NO_FILE}
    session = new_session(variables, region=aws.region)
    session.set_credentials("test", "test")  # the emulator's, not a secret
    return session


def new_session(variables: Any = None, **values: str | None) -> Session:  # noqa: ANN401 - botocore's
    """Make a session; *values* of its *variables*, by default botocore's, apply unless None."""
    session = Session(session_vars=variables)
    session.register_component("data_loader", _loader())
    for name, value in values.items():
        if value is not None:
            session.set_config_variable(name, value)
    return session
