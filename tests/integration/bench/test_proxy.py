"""The proxy between two sockets of this machine: it passes everything on and changes nothing."""

import hashlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import pytest
from tests.support.servers import reserved_port

from bucketsum_cli.machine import proxy as proxy_program

pytestmark = pytest.mark.skipif(not hasattr(os, "splice"), reason="splice is Linux's")

_UNLIMITED: Final = ("10000000000", "0.001", "inf")


class Digesting:
    """A server that reads a line with a number, sends so many bytes, and at its end the digest."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(ConnectionError), connection, connection.makefile("rb") as lines:
            for line in lines:
                content = os.urandom(int(line))
                connection.sendall(content + hashlib.sha1(content).digest())


@pytest.fixture
def proxy() -> Iterator[tuple[str, int]]:
    """A proxy before such a server."""
    server = Digesting()
    to = f"127.0.0.1:{server.listener.getsockname()[1]}"
    with reserved_port() as port:
        command = ["-m", proxy_program.__name__, f"127.0.0.1:{port}", to, *_UNLIMITED]
        with subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE) as process:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    assert process.poll() is None
                    time.sleep(0.02)
            yield "127.0.0.1", port
            assert process.poll() is None, "it ended by itself"
            process.send_signal(signal.SIGKILL)
    server.listener.close()


def exchange(client: socket.socket, size_bytes: int) -> None:
    """Request so many bytes and check the digest that follows them."""
    client.sendall(f"{size_bytes}\n".encode())
    with client.makefile("rb") as answers:
        content, digest = answers.read(size_bytes), answers.read(20)
    assert len(content) == size_bytes
    assert hashlib.sha1(content).digest() == digest


@pytest.mark.parametrize("size_bytes", [0, 1, 65_536, 1_048_577, 20_000_000])
def test_answers_arrive_whole(proxy: tuple[str, int], size_bytes: int) -> None:
    """One after the other over one connection, whatever their size."""
    with socket.create_connection(proxy) as client:
        for _ in range(3):
            exchange(client, size_bytes)


def test_a_slow_client_loses_nothing(proxy: tuple[str, int]) -> None:
    """Bytes that do not fit into the client's buffer wait."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(proxy)
        exchange(client, 3_000_000)


def test_connections_do_not_mix(proxy: tuple[str, int]) -> None:
    """Each client has the server's connection to itself."""
    clients = [socket.create_connection(proxy) for _ in range(8)]
    threads = [threading.Thread(target=exchange, args=(client, 500_000)) for client in clients]
    for thread in threads:
        thread.start()
    for thread, client in zip(threads, clients, strict=True):
        thread.join()
        client.close()


def test_a_client_that_leaves_in_the_middle_ends_its_own_connection_alone(
    proxy: tuple[str, int],
) -> None:
    """The proxy serves the next one as before."""
    with socket.create_connection(proxy) as client:
        client.sendall(b"50000000\n")
        client.recv(1000)
    with socket.create_connection(proxy) as client:
        exchange(client, 1000)


def test_the_proxy_ends_with_the_process_that_started_it(proxy: tuple[str, int]) -> None:
    """Its standard input ends when that process does, however it ends."""
    to = f"{proxy[0]}:{proxy[1]}"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number = listener.fileno()
        program = subprocess.Popen(
            [sys.executable, "-I", "-S", proxy_program.__file__, str(number), to],
            stdin=subprocess.PIPE,
            pass_fds=[number],
        )
        with program, socket.create_connection(listener.getsockname()[:2]) as client:
            exchange(client, 100_000)
            assert program.stdin is not None
            program.stdin.close()
            assert program.wait() == 0
