"""Buckets and keys as arguments and options: a name, or an ``s3://`` URL."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import click

from bucketsum_cli.buckets.s3_place import S3Place

_KEYS: Final = frozenset({"key", "keys", "prefix", "archive", "bag", "bags"})
"""Parameters with keys of a bucket, or with their beginning: s3://BUCKET/KEY is such one too."""
_FOLDERS: Final = ("prefix", "bag", "bags")
"""Those that may be a whole bucket."""


class BucketName(click.ParamType):
    """The name of a bucket, also as ``s3://NAME``."""

    name = "bucket"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name alone."""
        if value.startswith("arn:"):
            self.fail(f"{value} is an ARN; give the bucket's name alone.", param, ctx)
        if not S3Place.is_url(value):
            return value
        place = S3Place.of(value)
        if place.key:
            name = f"s3://{place.bucket}"
            self.fail(f"{value} has a key; name the bucket alone, as {name}.", param, ctx)
        return place.bucket


class BucketPlace(click.ParamType):
    """The name of a bucket, also as ``s3://NAME`` and ``s3://NAME/PREFIX``."""

    name = "bucket"

    def convert(
        self,
        value: str | S3Place,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> S3Place:
        """Return the place that *value* names."""
        if isinstance(value, S3Place):
            return value
        if S3Place.is_url(value):
            return S3Place.of(value)
        return S3Place(BucketName().convert(value, param, ctx))


def bucket_argument(
    *, required: bool = True, with_prefix: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The argument BUCKET, also as ``--bucket``; a prefix in its URL stands for ``--prefix``."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @click.argument(
            "bucket",
            metavar="BUCKET" if required else "[BUCKET]",
            type=BucketPlace(),
            required=False,
        )
        @click.option(
            "--bucket", "bucket_option", type=BucketPlace(), metavar="NAME", help="Same as BUCKET."
        )
        @wraps(command)
        def with_bucket(
            *args: Any,  # noqa: ANN401 - the command's types
            bucket: S3Place | None,
            bucket_option: S3Place | None,
            **options: Any,  # noqa: ANN401 - the command's types
        ) -> None:
            if bucket and bucket_option and bucket != bucket_option:
                raise click.UsageError(f"{bucket} and --bucket {bucket_option} are not the same")
            place = bucket or bucket_option
            if place is None and required:
                raise click.UsageError("Missing argument 'BUCKET'.")
            if place and place.key:
                if not with_prefix or options["prefix"]:
                    name = f"s3://{place.bucket}"
                    raise click.UsageError(f"{place} has a key; name the bucket alone, as {name}.")
                options["prefix"] = place.key
            command(*args, bucket=place and place.bucket, **options)

        return with_bucket

    return decorate


def object_place(_ctx: click.Context, _param: click.Parameter, url: str | None) -> S3Place | None:
    """The object that an option's ``s3://BUCKET/KEY`` names; a callback of click's."""
    return None if url is None else S3Place.of_object(url)


def without_buckets(options: dict[str, Any], bucket: str | None) -> str | None:
    """Shorten each ``s3://BUCKET/KEY`` among *options* to its key; return the bucket.

    Raises:
        click.ClickException: They name several buckets, or lack a bucket or a key.
    """
    for name in _KEYS & options.keys():
        given = options[name]
        places = given if isinstance(given, tuple) else (given,)
        keys = []
        for text in places:
            place = None
            if text is not None and S3Place.is_url(text):
                place = S3Place.of(text) if name in _FOLDERS else S3Place.of_object(text)
                if bucket not in (None, place.bucket):
                    raise click.UsageError(f"{place} is not in the bucket {bucket}")
                bucket = place.bucket
            keys.append(text if place is None else place.key)
        options[name] = tuple(keys) if isinstance(given, tuple) else keys[0]
    return bucket
