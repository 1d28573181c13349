"""The layer's use of botocore, of which Lambda's runtime has its own version."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from tests.support.source_files import tree_of
from tests.template.roles import LAB_LIBRARY, LIBRARY

PUBLIC: Final = ("botocore.config.Config", "botocore.exceptions.", "botocore.session.Session")
"""Names with a page in botocore's reference."""

OTHERS: Final = {
    "clients.py": {
        "botocore.configprovider.ConfiguredEndpointProvider",
        "botocore.httpsession",  # and its SSLContext, which is replaced
        "botocore.loaders.JSONFileLoader",
        "botocore.loaders.Loader",  # and the data `partitions`
        "['SSLContext']",
    },
    "chosen_reader.py": {
        "botocore.httpsession.ProxyConfiguration",
        "botocore.httpsession.get_cert_path",
        "botocore.utils.get_environ_proxies",
    },
    "small_object_connections.py": {"botocore.utils.get_environ_proxies"},
    "signed_requests.py": {"['_request_signer']", "['_credentials']"},
    "stored_checksums.py": {"botocore.parsers.ResponseParserError"},
}
"""Module → names that botocore may change without notice. `make proofs` tries older versions."""


def private_names(node: ast.AST) -> Iterator[str]:
    """Names that *node* imports of botocore, not for types alone, or takes out of objects."""
    match node:
        case ast.If(ast.Name("TYPE_CHECKING")):
            return
        case ast.Import(names):
            yield from (alias.name for alias in names if alias.name.startswith("botocore."))
        case ast.ImportFrom(str(module), names) if module.partition(".")[0] == "botocore":
            yield from (f"{module}.{alias.name}" for alias in names)
        case ast.Subscript(ast.Call(ast.Name("vars")), ast.Constant(str(name))):
            yield f"[{name!r}]"
    for child in ast.iter_child_nodes(node):
        yield from private_names(child)


def test_what_botocore_may_change_is_listed() -> None:
    """A new name outside botocore's reference is a decision, and one that is gone leaves it."""
    used = defaultdict(set)
    for path in (*LIBRARY, *LAB_LIBRARY):
        for name in private_names(tree_of(path)):
            if not name.startswith(PUBLIC):
                used[path.name].add(name)
    assert used == OTHERS
