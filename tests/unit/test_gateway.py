"""Long answers of the embedded AWS reach the server in pieces."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from bucketsum_cli.local import gateway
from bucketsum_cli.local.gateway import PIECE_BYTES, in_pieces, server_config

if TYPE_CHECKING:
    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope


def sent_by_an_app_that_sends(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that the server receives when an application sends *messages*."""
    sent: list[dict[str, Any]] = []

    async def app(_scope: Scope, _receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        for message in messages:
            await send(message)  # type: ignore[arg-type] # plain dictionaries, as ministack's

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    whatever: Any = None
    wrapped: Any = in_pieces(app)
    asyncio.run(wrapped(whatever, whatever, send))
    return sent


def body(content: bytes, *, more: bool = False) -> dict[str, Any]:
    """An ASGI message with a piece of an answer."""
    return {"type": "http.response.body", "body": content, "more_body": more}


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
@pytest.mark.parametrize("more", [True, False])
def test_pieces_add_up_to_the_answer(size: int, *, more: bool) -> None:
    """A response of any length arrives whole and ends with its last message."""
    content = bytes(range(256)) * (size // 256 + 1)

    sent = sent_by_an_app_that_sends(body(content[:size], more=more))

    assert b"".join(message["body"] for message in sent) == content[:size]
    assert [message["more_body"] for message in sent] == [True] * (len(sent) - 1) + [more]
    assert max(len(message["body"]) for message in sent) <= PIECE_BYTES


def test_what_is_no_body_passes_unchanged() -> None:
    """Status, headers and the server's own messages are nobody else's business."""
    start = {"type": "http.response.start", "status": 200, "headers": []}

    assert sent_by_an_app_that_sends(start) == [start]


def test_it_listens_on_this_machine_alone() -> None:
    """The address is the one that the launcher names."""
    config = server_config(
        {
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": "4566",
            "MINISTACK_SSL_CERT": "certificate.pem",
            "MINISTACK_SSL_KEY": "key.pem",
        }
    )

    assert config.bind == ["127.0.0.1:4566"]
    assert (config.certfile, config.keyfile) == ("certificate.pem", "key.pem")


def test_ministack_is_served_with_our_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds our worker where it looks for its own Python."""
    served: list[object] = []

    async def serve(app: object, _config: object) -> None:
        served.append(app)

    monkeypatch.setitem(sys.modules, "ministack.app", SimpleNamespace(app=print))
    monkeypatch.setattr("hypercorn.asyncio.serve", serve)
    monkeypatch.setattr(sys, "executable", sys.executable)
    for name in ("BIND_HOST", "GATEWAY_PORT", "MINISTACK_SSL_CERT", "MINISTACK_SSL_KEY"):
        monkeypatch.setenv(name, "1")

    gateway.main("our-worker")

    assert sys.executable == "our-worker"
    assert len(served) == 1
