"""Fake DynamoDB: answers PutItem and BatchWriteItem after a fixed delay.

Run as ``python -m bench.sandbox.fake_dynamodb HOST:PORT DELAY_S REQUESTS [CERTIFICATE]``. It prints
its port; port 0 chooses a free one. Each request is appended to the file *REQUESTS*, a line of JSON
each. With a certificate it speaks TLS.
"""

import asyncio
import ssl
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

_BODY: Final = b'{"UnprocessedItems":{}}'
_RESPONSE: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%s"
    % (len(_BODY), _BODY)
)


async def serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float, requests: Path
) -> None:
    """Answer the requests of one connection in order, until its client closes it."""
    with suppress(asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            request = await reader.readexactly(_length(head))
            await asyncio.sleep(delay_s)
            with requests.open("ab") as file:
                file.write(request + b"\n")
            writer.write(_RESPONSE)
            await writer.drain()
    writer.close()


def _length(head: bytes) -> int:
    """The value of Content-Length."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def main(address: str, delay_s: str, requests: str, certificate: str = "") -> None:
    """Serve until the process is killed."""
    context = None
    if certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
    host, _, port = address.rpartition(":")
    answer = partial(serve, delay_s=float(delay_s), requests=Path(requests))
    server = await asyncio.start_server(answer, host, int(port), ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
