"""Buckets and keys as arguments and options: a name, or an ``s3://`` URL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Final

import click

from bucketsum_cli.buckets.s3_place import S3Place

_KEYS: Final = frozenset({"key", "keys", "prefix", "archive", "bag", "bags"})
"""Parameters with keys of a bucket, or with their beginning: s3://BUCKET/KEY is such one too."""
_FOLDERS: Final = ("prefix", "bag", "bags")
"""Those that may be a whole bucket."""


class BucketPlace(click.ParamType):
    """The name of a bucket, or ``NAME/PREFIX``; both also after ``s3://``."""

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
        if value.startswith("arn:"):
            self.fail(f"{value} is an ARN; give the bucket's name alone.", param, ctx)
        return S3Place.of(value if S3Place.is_url(value) else f"s3://{value}")


class BucketName(click.ParamType):
    """The name of a bucket, also as ``s3://NAME``."""

    name = "bucket"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name alone."""
        place = BucketPlace().convert(value, param, ctx)
        if place.key:
            name = f"s3://{place.bucket}"
            self.fail(f"{value} has a key; name the bucket alone, as {name}.", param, ctx)
        return place.bucket


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
            prefix, places = options.get("prefix", ""), (bucket, bucket_option)
            name, key = bucket_of(places, prefix, with_prefix=with_prefix)
            if name is None and required:
                raise click.UsageError("Missing argument 'BUCKET'.")
            if "prefix" in options:
                options["prefix"] = key
            command(*args, bucket=name, **options)

        return with_bucket

    return decorate


def bucket_of(
    places: Iterable[S3Place | None], prefix: str, *, with_prefix: bool = True
) -> tuple[str | None, str]:
    """The bucket and the prefix that an argument, ``--bucket`` and ``--prefix`` name together."""
    if S3Place.is_url(prefix):
        of_prefix = S3Place.of(prefix)
        places, prefix = (*places, S3Place(of_prefix.bucket)), of_prefix.key
    given = [*dict.fromkeys(filter(None, places))]
    if len(given) > 1:
        raise click.UsageError(f"{given[0]} and --bucket {given[1]} are not the same")
    for place in given:
        if place.key and (prefix or not with_prefix):
            name = f"s3://{place.bucket}"
            raise click.UsageError(f"{place} has a key; name the bucket alone, as {name}.")
        return place.bucket, place.key or prefix
    return None, prefix


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
