"""The sandbox's S3: nginx with TLS, behind a proxy with S3's speed.

It answers path-style GetObject and HeadObject (ranges, If-Match, entity tags, keep-alive) and lists
its bucket for ListObjectsV2. It ignores signatures. Each object has a second key, which begins with
`COMPARED`, and with it a checksum of S3.
"""

import os
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import trustme

from bench.sandbox.network import SERVER_ADDRESS
from bench.sandbox.objects import BUCKET, COMPARED
from bench.sandbox.profiles import Profile
from bench.sandbox.requirements import SYSTEM_PATH, CannotMakeSandboxError, tool
from bench.sandbox.sandbox import Sandbox
from bucketsum.checksums.running import running
from bucketsum_cli.machine import proxy

PROJECT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = PROJECT / ".bucketsum" / "bench"
"""Installed readers, generated objects and results."""

LOG_SECONDS: Final = 0.1
"""Time after which a request is in nginx's log."""

_INNER_PORT: Final = 8443
_START_SECONDS: Final = 10.0
_PROXY: Final = [
    *(sys.executable, "-m", proxy.__name__, f"{SERVER_ADDRESS}:443", f"127.0.0.1:{_INNER_PORT}"),
    *(str(proxy.CONNECTION_BYTES_PER_S), str(proxy.FIRST_BYTE_DELAY_S), "inf"),
]
"""The command of the proxy, which does not limit the link: `network` does."""

_CONFIGURATION: Final = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log warn;
events {{ worker_connections 1024; }}
http {{
    access_log {folder}/requests.log combined buffer=64k flush=50ms;
    client_body_temp_path {folder}/temporary;
    proxy_temp_path {folder}/temporary;
    fastcgi_temp_path {folder}/temporary;
    uwsgi_temp_path {folder}/temporary;
    scgi_temp_path {folder}/temporary;
    default_type binary/octet-stream;
    output_buffers 1 64k;
    keepalive_timeout 600s;
    keepalive_requests 1000000;
    open_file_cache max=1000;
    map $uri $crc64nvme {{ {checksums} }}
    server {{
        listen 127.0.0.1:{port} ssl backlog=256;
        ssl_certificate {folder}/server.pem;
        ssl_certificate_key {folder}/server.pem;
        ssl_protocols TLSv1.3;
        ssl_conf_command Ciphersuites TLS_AES_256_GCM_SHA384;
        root {objects};
        error_page 404 /answers/no-such-key.xml;
        location = /{bucket} {{ rewrite ^ /answers/list.xml last; }}
        location = /{bucket}/ {{ rewrite ^ /answers/list.xml last; }}
        location ~ ^/{bucket}/compared/(.+)$ {{
            alias {objects}/{bucket}/$1;
            add_header x-amz-checksum-crc64nvme $crc64nvme;
        }}
        location /answers/ {{ internal; root {folder}; default_type application/xml; }}
    }}
}}
"""

_NO_SUCH_KEY: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code>'
    "<Message>The specified key does not exist.</Message></Error>"
)


@dataclass(frozen=True, slots=True)
class Server:
    """An S3 in the sandbox.

    Attributes:
        certificates: File with the certificate authority to trust.
        requests: nginx's access log: a line per request, up to `LOG_SECONDS` late.
    """

    endpoint: str
    certificates: Path
    requests: Path

    def request_count(self) -> int:
        """The number of requests so far; waits until nginx has logged the last one."""
        time.sleep(LOG_SECONDS)
        return len(self.requests.read_bytes().splitlines())

    def client_environment(self, home: Path) -> dict[str, str]:
        """Variables of a process in the sandbox that reads from this server."""
        certificates = str(self.certificates)
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "PYTHONPATH": f"{PROJECT}:{PROJECT / 'layers' / 'bucketsum'}",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_CA_BUNDLE": certificates,
            "SSL_CERT_FILE": certificates,
        }


@contextmanager
def serving(profile: Profile, objects: Path) -> Iterator[tuple[Sandbox, Server, Path]]:
    """A sandbox with an S3 that serves *objects*, and a folder for files of the run.

    Raises:
        CannotMakeSandboxError: The sandbox or its server cannot be created here.
    """
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (
        TemporaryDirectory(prefix="sandbox-", dir=FOLDER) as folder,
        Sandbox(profile) as sandbox,
    ):
        (Path(folder) / "server").mkdir()
        yield sandbox, start_server(sandbox, Path(folder, "server"), objects), Path(folder)


def start_server(sandbox: Sandbox, folder: Path, objects: Path) -> Server:
    """Serve *objects*, a folder of buckets, until *sandbox* is removed.

    *folder* must be empty, and is the caller's to remove.

    Raises:
        CannotMakeSandboxError: nginx or the proxy did not start; the text shows what they said.
    """
    certificates = _certificates(folder)
    answers = folder / "answers"
    answers.mkdir()
    (folder / "temporary").mkdir()
    (answers / "no-such-key.xml").write_text(_NO_SUCH_KEY)
    (answers / "list.xml").write_text(listing(objects))
    configuration = folder / "nginx.conf"
    configuration.write_text(
        _CONFIGURATION.format(
            folder=folder,
            objects=objects,
            port=_INNER_PORT,
            bucket=BUCKET,
            checksums=" ".join(_checksums(objects / BUCKET)),
        )
    )
    log = folder / "server.log"
    nginx = tool("nginx") or "nginx"
    env = {"PATH": SYSTEM_PATH, "PYTHONPATH": str(PROJECT)}
    servers = [
        sandbox.serve([nginx, "-c", str(configuration), "-p", str(folder)], env, log),
        sandbox.serve(_PROXY, env, log),
    ]
    _await(sandbox, servers, log)
    return Server(f"https://{SERVER_ADDRESS}", certificates, folder / "requests.log")


def _certificates(folder: Path) -> Path:
    authority = trustme.CA()
    authority.issue_cert(SERVER_ADDRESS).private_key_and_cert_chain_pem.write_to_path(
        str(folder / "server.pem")
    )
    trusted = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    return trusted


def listing(objects: Path) -> str:
    """ListObjectsV2's response for the whole bucket."""
    files = sorted(path for path in (objects / BUCKET).glob("**/*") if path.is_file())
    contents = "".join(
        f"<Contents><Key>{path.relative_to(objects / BUCKET)}</Key>"
        f"<Size>{path.stat().st_size}</Size>"
        "<LastModified>2026-01-01T00:00:00.000Z</LastModified>"
        "<StorageClass>STANDARD</StorageClass></Contents>"
        for path in files
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{BUCKET}</Name><Prefix></Prefix><KeyCount>{len(files)}</KeyCount>"
        f"<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
    )


def _checksums(bucket: Path) -> Iterator[str]:
    """The checksum that S3 adds to each object of *bucket*, as nginx's configuration has it."""
    for path in filter(Path.is_file, bucket.glob("**/*")):
        checksum = running("crc64nvme")
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                checksum.update(chunk)
        value = b64encode(checksum.digest()).decode()
        yield f'"/{BUCKET}/{COMPARED}{path.relative_to(bucket)}" "{value}";'


def _await(sandbox: Sandbox, servers: list[subprocess.Popen[bytes]], log: Path) -> None:
    """Wait until nginx answers through the proxy."""
    request = [tool("curl") or "curl", "--silent", "--insecure", "--output", "/dev/null"]
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            sandbox.unlimited([*request, f"https://{SERVER_ADDRESS}/"], {"PATH": SYSTEM_PATH})
        except subprocess.CalledProcessError:
            if time.monotonic() < deadline and all(server.poll() is None for server in servers):
                time.sleep(0.05)
                continue
            raise CannotMakeSandboxError(f"the server did not start: {log.read_text()}") from None
        return
