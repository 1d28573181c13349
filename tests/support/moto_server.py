"""AWS as a server of moto on this machine, for other processes and for libcurl."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def moto_server() -> Iterator[str]:
    """Serve on a free port; yields the address."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - takes Flask, for few tests

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()
