"""The process of the embedded AWS: ministack, served by us.

Two things differ from ``python -m ministack``, and neither touches its private code:

- `sys.executable` names our worker, which is what ministack starts Lambda functions with.
- Long answers are handed to the server piece by piece. ministack answers a GET with the whole
  object at once; a TLS connection would hold a second copy, and beyond 1 GB it breaks.
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
"""Longest piece of an answer that is handed to the server at a time."""

_KEEP_ALIVE_SECONDS: Final = 75  # ministack's own


def in_pieces(app: ASGIFramework) -> ASGIFramework:
    """*app* with long answers cut, so that the server waits for the reader between them."""

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
    """Where and how to listen, from the variables that the launcher gives ministack too."""
    from hypercorn.config import Config  # noqa: PLC0415 - see `main`

    config = Config()
    config.bind = [f"{environ['BIND_HOST']}:{environ['GATEWAY_PORT']}"]
    config.certfile = environ["MINISTACK_SSL_CERT"]
    config.keyfile = environ["MINISTACK_SSL_KEY"]
    config.keep_alive_timeout = _KEEP_ALIVE_SECONDS
    config.graceful_timeout = 1
    return config


def main(worker_program: str) -> None:
    """Serve until told to stop by a signal.

    What comes with `bucketsum[local]` alone is imported where it is used: the command, which
    imports this module, must start without.
    """
    from hypercorn.asyncio import serve  # noqa: PLC0415 - as above

    sys.executable = worker_program
    from ministack.app import app  # noqa: PLC0415 - it reads the environment on import

    asyncio.run(serve(in_pieces(app), server_config(dict(os.environ))))


if __name__ == "__main__":
    main(sys.argv[1])
