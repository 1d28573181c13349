"""AWS Signature Version 4, as botocore signs, with signing keys derived once a day."""

from __future__ import annotations

import functools
import hashlib
import hmac
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from bucketsum.clock import now
from bucketsum.invocation.access import Keys

if TYPE_CHECKING:
    from botocore.credentials import Credentials


_ALGORITHM: Final = "AWS4-HMAC-SHA256"
EMPTY_SHA256: Final = hashlib.sha256().hexdigest()
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}


class Signer:
    """Signs requests to one endpoint of a service.

    Attributes:
        url: The endpoint's scheme and host.
    """

    def __init__(
        self, credentials: Credentials | Keys, url: str, region: str, service: str
    ) -> None:
        """Botocore refreshes *credentials*; path and query of *url* are ignored."""
        parts = urlsplit(url)
        self._credentials = credentials
        self._host = parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(parts.scheme, ""))
        self._region = region
        self._service = service
        self.url = f"{parts.scheme}://{self._host}"

    def headers_of(
        self,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        method: str = "POST",
        path: str = "/",
        query: str = "",
    ) -> list[str]:
        """Header lines of a request of *body* to the endpoint.

        *headers* are further ones: names in lower case, values without extra spaces. *path* and
        *query* are percent-encoded, the parameters of *query* sorted.
        """
        credentials = self._credentials.get_frozen_credentials()
        timestamp = f"{now()[:19].replace('-', '').replace(':', '')}Z"
        unsigned = {**headers, "host": self._host, "x-amz-date": timestamp}
        if credentials.token:
            unsigned["x-amz-security-token"] = credentials.token
        lines = [f"{name}:{unsigned[name]}" for name in sorted(unsigned)]
        names = ";".join(sorted(unsigned))
        payload = hashlib.sha256(body).hexdigest() if body else EMPTY_SHA256
        request = "\n".join((method, path, query, *lines, "", names, payload))
        scope = f"{timestamp[:8]}/{self._region}/{self._service}/aws4_request"
        digest = hashlib.sha256(request.encode()).hexdigest()
        text = f"{_ALGORITHM}\n{timestamp}\n{scope}\n{digest}"
        key = _signing_key(credentials.secret_key, scope)
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        credential = f"Credential={credentials.access_key}/{scope}"
        proof = f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={signature}"
        return [*lines, f"Authorization: {proof}"]


@functools.lru_cache(maxsize=4)
def _signing_key(secret: str, scope: str) -> bytes:
    """The key of a day, a Region and a service."""
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key
