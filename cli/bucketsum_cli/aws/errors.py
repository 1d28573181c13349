"""Explanations of AWS errors, with what to do about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from botocore import exceptions
from botocore.exceptions import BotoCoreError, ClientError

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.terminal.hints import command_line

T = TypeVar("T")

AWS_ERRORS: Final = (ClientError, BotoCoreError)
"""Errors of requests: AWS refused, or cannot be reached.

Every function of the command that sends a request may raise them; docstrings name other errors, and
those of which more is to be said. `commands.root` explains all to the user.
"""

_SIGN_IN: Final = (
    "sign in (`aws sso login`, `aws configure`), name another profile with --profile, or use the "
    "local emulator with --local"
)
_EXPIRED: Final = f"your session has expired; {_SIGN_IN}"
_UNKNOWN_CALLER: Final = f"AWS does not accept these credentials; {_SIGN_IN}"
_DENIED: Final = (
    "your credentials do not allow {operation}; request this permission, or use another profile "
    "with --profile"
)
_MISSING: Final = (
    "a part of the stack was deleted outside of CloudFormation; deploy the stack again"
)
_BY_CODE: Final = {
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "RequestExpired": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "AuthFailure": _UNKNOWN_CALLER,
    "IncompleteSignature": _UNKNOWN_CALLER,
    "IncompleteSignatureException": _UNKNOWN_CALLER,
    "InvalidAccessKeyId": _UNKNOWN_CALLER,
    "InvalidClientTokenId": _UNKNOWN_CALLER,
    "InvalidSignatureException": _UNKNOWN_CALLER,
    "InvalidToken": _UNKNOWN_CALLER,
    "SignatureDoesNotMatch": _UNKNOWN_CALLER,
    "UnrecognizedClientException": _UNKNOWN_CALLER,
    "403": _DENIED,
    "AccessDenied": _DENIED,
    "AccessDeniedException": _DENIED,
    "UnauthorizedOperation": _DENIED,
    "NotAuthorized": _DENIED,
    "AWS.SimpleQueueService.NonExistentQueue": _MISSING,
    "QueueDoesNotExist": _MISSING,
    "ResourceNotFoundException": _MISSING,
}
_CLOCK_CODES: Final = frozenset({"RequestTimeTooSkewed", "RequestInTheFuture"})
_CLOCK_TEXTS: Final = ("Signature expired", "Signature not yet current")

_BY_TYPE: Final[tuple[tuple[type[BotoCoreError] | tuple[type[BotoCoreError], ...], str], ...]] = (
    (
        (exceptions.NoCredentialsError, exceptions.PartialCredentialsError),
        f"there are no AWS credentials; {_SIGN_IN}",
    ),
    (
        exceptions.NoRegionError,
        "no Region is set; give one with --region or AWS_DEFAULT_REGION, or use --local",
    ),
    (
        exceptions.ProfileNotFound,
        "{error}; name one of `aws configure list-profiles` with --profile",
    ),
    (
        (exceptions.LoginError, exceptions.SSOError, exceptions.TokenRetrievalError),
        f"{_EXPIRED} ({{error}})",
    ),
    (
        (exceptions.ConnectionError, exceptions.HTTPClientError),
        (
            "AWS cannot be reached: {error}; check the network and the Region, and for --local "
            "that `bucketsum local status` answers"
        ),
    ),
)


def explained(error: Exception) -> CannotDoError:
    """Explain *error*, one of `AWS_ERRORS`, and what the user can do about it."""
    if isinstance(error, ClientError):
        return CannotDoError(_explained_answer(error))
    for types, text in _BY_TYPE:
        if isinstance(error, types):
            return CannotDoError(text.format(error=error))
    return CannotDoError(str(error))


def is_denied(error: Exception) -> bool:
    """Whether AWS refused *error*'s request because the credentials do not allow it."""
    if not isinstance(error, ClientError):
        return False
    return _BY_CODE.get(error.response["Error"].get("Code", "")) == _DENIED


class Reads:
    """Reads of optional parts of a document; lists the parts that AWS denied."""

    def __init__(self) -> None:
        self.denials: list[str] = []

    def __call__(self, read: Callable[[], T]) -> T | None:
        """Return what *read* returns; None if the credentials do not allow a call in it."""
        try:
            return read()
        except ClientError as error:
            if not is_denied(error):
                raise
            denial = f"your credentials do not allow {error.operation_name}: its values are missing"
            if denial not in self.denials:
                self.denials.append(denial)
            return None


def _explained_answer(error: ClientError) -> str:
    answer = error.response["Error"]
    code, message = answer.get("Code", "an unnamed error"), answer.get("Message", "")
    details = f"{error.operation_name}: {code}: {message}"
    if code in _CLOCK_CODES or any(text in message for text in _CLOCK_TEXTS):
        return (
            f"the clock of this machine is wrong, so AWS refuses its signatures; set it ({details})"
        )
    if code == "NoSuchBucket":
        name = answer.get("BucketName")
        return (
            f"there is no {f'bucket {name}' if name else 'such bucket'}; "
            f"`{command_line('buckets')}` lists the stack's buckets. If it was one of them, "
            f"deploy the stack again, or detach it ({details})"
        )
    if text := _BY_CODE.get(code):
        return f"{text.format(operation=error.operation_name)} ({details})"
    return f"AWS refused {details}"
