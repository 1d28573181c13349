"""A DynamoDB that refuses everything, in the words of the real one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.servers import Handler, Server, serving


@contextmanager
def refusing_dynamodb(code: str) -> Iterator[str]:
    """Serve on a free port of this machine; yields the endpoint's URL."""
    body = json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "no"})

    class Refusing(Handler):
        def do_POST(self) -> None:  # noqa: N802 - as http.server names it
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    with serving(Server(Refusing)) as server:
        yield f"http://127.0.0.1:{server.server_address[1]}"
