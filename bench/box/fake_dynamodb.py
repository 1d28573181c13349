"""What stands for DynamoDB in the box: takes PutItem over TLS, some milliseconds late.

Run as ``python -m bench.box.fake_dynamodb HOST:PORT CERTIFICATE DELAY_S ITEMS``. Every item is
appended to the file *ITEMS*, a line of JSON each: what was written can be counted and compared.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

_ANSWER: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: 2\r\n\r\n{}"
)


class StandIn:
    """Serves every connection until its client closes it."""

    def __init__(self, delay_s: float, items: Path) -> None:
        self._delay_s = delay_s
        self._items = items

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer requests one after the other."""
        with suppress(asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                item = await reader.readexactly(_length(head))
                await asyncio.sleep(self._delay_s)
                with self._items.open("ab") as file:
                    file.write(item + b"\n")
                writer.write(_ANSWER)
                await writer.drain()
        writer.close()


def _length(head: bytes) -> int:
    """What Content-Length says."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def main(address: str, certificate: str, delay_s: str, items: str) -> None:
    """Serve until killed."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    host, _, port = address.rpartition(":")
    stand_in = StandIn(float(delay_s), Path(items))
    server = await asyncio.start_server(stand_in.serve, host, int(port), ssl=context)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
