"""TLS for a server on this machine that a client can be told to trust."""

import ssl
from pathlib import Path

import trustme


def own_tls(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's side of TLS for 127.0.0.1, and the authority that a client must trust."""
    authority = trustme.CA()
    trusted = folder / "authority.pem"
    authority.cert_pem.write_to_path(str(trusted))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context, trusted
