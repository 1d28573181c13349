"""Explanations of AWS errors, with what to do about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's base class of connection errors
    HTTPClientError,
    LoginError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
)

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
_EXPIRED: Final = frozenset(
    {"ExpiredToken", "ExpiredTokenException", "RequestExpired", "TokenRefreshRequired"}
)
_UNKNOWN_CALLER: Final = frozenset(
    {
        "AuthFailure",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "InvalidToken",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_DENIED: Final = frozenset(
    {"403", "AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "NotAuthorized"}
)
_MISSING: Final = frozenset(
    {
        "AWS.SimpleQueueService.NonExistentQueue",
        "QueueDoesNotExist",
        "ResourceNotFoundException",
    }
)

_BY_CODE: Final = (
    (_EXPIRED, f"your session has expired; {_SIGN_IN}"),
    (_UNKNOWN_CALLER, f"AWS does not accept these credentials; {_SIGN_IN}"),
    (
        _DENIED,
        (
            "your credentials do not allow {operation}; request this permission, or use another "
            "profile with --profile"
        ),
    ),
    (
        _MISSING,
        "a part of the stack was deleted outside of CloudFormation; deploy the stack again",
    ),
)
_CLOCK_CODES: Final = frozenset({"RequestTimeTooSkewed", "RequestInTheFuture"})
_CLOCK_TEXTS: Final = ("Signature expired", "Signature not yet current")

_BY_TYPE: Final[tuple[tuple[type[BotoCoreError] | tuple[type[BotoCoreError], ...], str], ...]] = (
    ((NoCredentialsError, PartialCredentialsError), f"there are no AWS credentials; {_SIGN_IN}"),
    (
        NoRegionError,
        "no Region is set; give one with --region or AWS_DEFAULT_REGION, or use --local",
    ),
    (ProfileNotFound, "{error}; name one of `aws configure list-profiles` with --profile"),
    (
        (LoginError, SSOError, TokenRetrievalError),
        f"your session has expired; {_SIGN_IN} ({{error}})",
    ),
    (
        (ConnectionError, HTTPClientError),
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
    return isinstance(error, ClientError) and error.response["Error"].get("Code") in _DENIED


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
    for codes, text in _BY_CODE:
        if code in codes:
            return f"{text.format(operation=error.operation_name)} ({details})"
    return f"AWS refused {details}"
