"""Server process of the local emulator: ministack behind TLS.

Two things differ from ``python -m ministack``, and neither touches its private code:

- `sys.executable` is our worker program: ministack starts Lambda functions with it.
- Long responses are sent in pieces. ministack answers a GET with the whole object at once; a TLS
  connection would keep a second copy, and fails above 1 GB.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hypercorn.config import Config
    from hypercorn.typing import (
        ASGIFramework,
        ASGIReceiveCallable,
        ASGISendCallable,
        ASGISendEvent,
        Scope,
    )

PIECE_BYTES: Final = 1024 * 1024
"""Maximum size of a piece of a response."""

_KEEP_ALIVE_SECONDS: Final = 75  # ministack's own


def in_pieces(app: ASGIFramework) -> ASGIFramework:
    """Wrap *app*: long responses are split, so that the server waits for the reader in between."""

    async def serve_in_pieces(
        scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        async def send_in_pieces(message: ASGISendEvent) -> None:
            if message["type"] != "http.response.body" or len(message["body"]) <= PIECE_BYTES:
                await send(message)
                return
            body = memoryview(message["body"])
            for start in range(0, len(body), PIECE_BYTES):
                piece = bytes(body[start : start + PIECE_BYTES])
                more = start + PIECE_BYTES < len(body) or message.get("more_body", False)
                await send({"type": "http.response.body", "body": piece, "more_body": more})

        await app(scope, receive, send_in_pieces)

    return serve_in_pieces


def server_config(environ: dict[str, str]) -> Config:
    """Configure address and TLS from the variables that the launcher sets for ministack."""
    from hypercorn.config import Config  # noqa: PLC0415 - see `main`

    config = Config()
    config.bind = [f"{environ['BIND_HOST']}:{environ['GATEWAY_PORT']}"]
    config.certfile = environ["MINISTACK_SSL_CERT"]
    config.keyfile = environ["MINISTACK_SSL_KEY"]
    config.keep_alive_timeout = _KEEP_ALIVE_SECONDS
    config.graceful_timeout = 1
    return config


def main(worker_program: str) -> None:
    """Serve until a signal ends the process.

    Packages of `bucketsum[local]` are imported inside functions: the command imports this module,
    and must start without them.
    """
    from hypercorn.asyncio import serve  # noqa: PLC0415 - see `main`

    sys.executable = worker_program
    from ministack.app import app  # noqa: PLC0415 - it reads the environment on import

    asyncio.run(serve(in_pieces(app), server_config(dict(os.environ))))


if __name__ == "__main__":
    main(sys.argv[1])
