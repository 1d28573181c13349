"""A bucket and a key, or the beginning of keys: all that an ``s3://`` URL means here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bucketsum.errors import MalformedMessage
from bucketsum.events.message_fields import bucket_name, object_key
from bucketsum_cli.terminal.errors import CannotDoError

_SCHEME: Final = "s3://"


@dataclass(frozen=True, slots=True)
class S3Place:
    """A place in a bucket; its key is exactly as written, for ``#``, ``?`` and ``%`` are letters.

    Attributes:
        key: Of an object, or the beginning of keys; empty for the whole bucket.
    """

    bucket: str
    key: str = ""

    @staticmethod
    def is_url(text: str) -> bool:
        """Whether *text* claims to be a place, even a wrong one."""
        return text[: len(_SCHEME)].lower() == _SCHEME

    @classmethod
    def of(cls, text: str) -> S3Place:
        """The place that *text*, ``s3://BUCKET/KEY``, names.

        Raises:
            CannotDoError: It is not such a URL, or no bucket or key can have this name.
        """
        if not cls.is_url(text):
            raise CannotDoError(f"{text} is not a URL like s3://BUCKET/KEY")
        bucket, _, key = text[len(_SCHEME) :].partition("/")
        if not bucket:
            raise CannotDoError(f"{text} has no bucket, as in s3://BUCKET/KEY")
        try:
            return cls(bucket_name(bucket), object_key(key))
        except MalformedMessage as error:
            raise CannotDoError(
                f"{text} is not a URL like s3://BUCKET/KEY: {error} (a bucket's name has 3 to 255 "
                "letters, digits, dots, hyphens and underscores; a key has up to 1,024 bytes)"
            ) from error

    @classmethod
    def of_object(cls, text: str) -> S3Place:
        """The object that *text* names.

        Raises:
            CannotDoError: As `of`; or it has no key.
        """
        place = cls.of(text)
        if not place.key:
            raise CannotDoError(f"{text} has no key, as in s3://BUCKET/KEY")
        return place

    @classmethod
    def of_folder(cls, text: str) -> S3Place:
        """The folder that *text* names, with or without its last slash: for AWS's services.

        Raises:
            CannotDoError: As `of`; or a folder has no name, which Athena would leave out.
        """
        place = cls.of(text)
        if "//" in f"/{place.key}":
            raise CannotDoError(f"{text} has a folder without a name; remove the second slash")
        return cls(place.bucket, place.key and f"{place.key.removesuffix('/')}/")

    def __str__(self) -> str:
        return f"{_SCHEME}{self.bucket}/{self.key}"
