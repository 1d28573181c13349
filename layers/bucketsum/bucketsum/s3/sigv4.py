"""AWS Signature Version 4, as botocore signs, with signing keys derived once a day."""

from __future__ import annotations

import functools
import hashlib
import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from bucketsum.clock import now

if TYPE_CHECKING:
    from botocore.credentials import Credentials, ReadOnlyCredentials

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}


class Signer:
    """Signs requests to one endpoint of a service.

    Attributes:
        url: The endpoint's scheme and host.
    """

    def __init__(self, credentials: Credentials, url: str, region: str, service: str) -> None:
        """Botocore refreshes *credentials*; path and query of *url* are ignored."""
        parts = urlsplit(url)
        self._credentials = credentials
        self._host = parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(parts.scheme, ""))
        self._region = region
        self._service = service
        self.url = f"{parts.scheme}://{self._host}"

    def headers_of(self, headers: Mapping[str, str], body: bytes) -> list[str]:
        """Header lines of a POST of *body* to the endpoint's root.

        *headers* are further ones: names in lower case, values without extra spaces.
        """
        credentials: ReadOnlyCredentials = self._credentials.get_frozen_credentials()
        timestamp = _timestamp()
        unsigned = {**headers, "host": self._host, "x-amz-date": timestamp}
        if credentials.token:
            unsigned["x-amz-security-token"] = credentials.token
        lines = [f"{name}:{unsigned[name]}" for name in sorted(unsigned)]
        names = ";".join(sorted(unsigned))
        payload = hashlib.sha256(body).hexdigest()
        request = "\n".join(("POST", "/", "", *lines, "", names, payload))
        scope, signature = self._signature(credentials, timestamp, request)
        credential = f"Credential={credentials.access_key}/{scope}"
        proof = f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"
        return [*lines, f"Authorization: {proof}"]

    def presigned_url(self, path: str, query: Mapping[str, str]) -> str:
        """A URL that allows a GET; only the host is signed.

        *path* is percent-encoded; *query* has ``X-Amz-Expires``.
        """
        credentials: ReadOnlyCredentials = self._credentials.get_frozen_credentials()
        timestamp = _timestamp()
        signed = {
            **query,
            "X-Amz-Algorithm": _ALGORITHM,
            "X-Amz-Credential": f"{credentials.access_key}/{self._scope(timestamp)}",
            "X-Amz-Date": timestamp,
            "X-Amz-SignedHeaders": "host",
        }
        if credentials.token:
            signed["X-Amz-Security-Token"] = credentials.token
        text = "&".join(f"{name}={quote(signed[name], safe='')}" for name in sorted(signed))
        request = f"GET\n{path}\n{text}\nhost:{self._host}\n\nhost\nUNSIGNED-PAYLOAD"
        _, signature = self._signature(credentials, timestamp, request)
        return f"{self.url}{path}?{text}&X-Amz-Signature={signature}"

    def _scope(self, timestamp: str) -> str:
        return f"{timestamp[:8]}/{self._region}/{self._service}/aws4_request"

    def _signature(
        self, credentials: ReadOnlyCredentials, timestamp: str, request: str
    ) -> tuple[str, str]:
        """The scope, and the signature of a canonical *request*."""
        scope = self._scope(timestamp)
        digest = hashlib.sha256(request.encode()).hexdigest()
        key = _signing_key(credentials.secret_key, scope)
        text = f"{_ALGORITHM}\n{timestamp}\n{scope}\n{digest}"
        return scope, hmac.digest(key, text.encode(), "sha256").hex()


@functools.lru_cache(maxsize=4)
def _signing_key(secret: str, scope: str) -> bytes:
    """The key of a day, a Region and a service."""
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _timestamp() -> str:
    return f"{now()[:19].replace('-', '').replace(':', '')}Z"
