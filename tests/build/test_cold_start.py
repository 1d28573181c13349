"""The modules that the built hasher loads when it starts."""

import _imp
import json
import subprocess
from pathlib import Path
from typing import Final

import pytest
from tests.build.artifacts import Built, interpreter
from tests.support.settings import VARIABLES

_TELLS: Final = """
import json, sys
sys.path[:0] = sys.argv[1:]
import app
print(json.dumps({name: getattr(module, "__file__", None) for name, module in sys.modules.items()}))
"""
KEYS: Final = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}
_UNCHECKED_HASH: Final = 0b01  # PEP 552: by hash, and never compared with the source


@pytest.fixture(scope="module")
def loaded(built: Built, lambda_packages: Path) -> dict[str, str | None]:
    """The modules of a hasher that has just started, traced as on AWS, and their files."""
    site = built.layer / "lib" / interpreter().runtime / "site-packages"
    done = subprocess.run(
        [
            *(interpreter().path, "-B", "-I", "-S", "-c", _TELLS),
            *(built.function("HasherFunction"), site, built.layer, lambda_packages),
        ],
        check=True,
        capture_output=True,
        text=True,
        env=VARIABLES | KEYS | {"LAMBDA_TASK_ROOT": "/var/task"},
    )
    modules: dict[str, str | None] = json.loads(done.stdout.splitlines()[-1])  # its log comes first
    return modules


@pytest.mark.parametrize(
    "unwanted",
    [
        "boto3", "s3transfer",  # clients are botocore's; nobody asks for resources or transfers
        "bucketsum.invocation.clients",  # usual small objects are read and recorded without
        "botocore.session", "botocore.client", "botocore.credentials", "botocore.docs",
        "html",  # of refusals
        "aws_lambda_powertools.utilities.batch",  # and with it every data class of Powertools
        "aws_lambda_powertools.utilities.data_classes",
        "bucketsum.archives.archive_reader", "bucketsum.archives.archive_hasher",  # off by default
        "bucketsum.archives.zip_model",
        "bucketsum.archives.decoders", "bucketsum.s3.range_reads",
        "bucketsum.hashing.deletions", "bucketsum.hashing.restores",  # rare
        "bucketsum.hashing.verification",  # of listed objects, and of versions with a digest
        "bucketsum.long_objects",  # rare
        "bucketsum_lab",  # not the hasher's
        "isal", "inflate64", "anycrc",  # at the first object that needs it
    ],
)  # fmt: skip
def test_start_does_without(unwanted: str, loaded: dict[str, str | None]) -> None:
    """A cold start loads nothing that most invocations do not use."""
    assert "bucketsum.hashing.object_hasher" in loaded
    assert unwanted not in loaded


def test_start_compiles_nothing_of_the_layer(built: Built, loaded: dict[str, str | None]) -> None:
    """Every module of the layer comes with bytecode that counts whatever time its file has.

    /opt is read-only and SAM's archives carry no times, so any other bytecode is made anew by each
    cold start.
    """
    ours = [Path(file) for file in loaded.values() if file and file.startswith(str(built.layer))]
    sources = [file for file in ours if file.suffix == ".py"]
    assert built.layer / "bucketsum" / "hashing" / "object_hasher.py" in sources
    for source in sources:
        name = f"{source.stem}.cpython-3{interpreter().minor}.pyc"
        bytecode = (source.parent / "__pycache__" / name).read_bytes()
        assert int.from_bytes(bytecode[4:8], "little") == _UNCHECKED_HASH, source
        magic = int.from_bytes(bytecode[:4], "little")
        assert bytecode[8:16] == _imp.source_hash(magic, source.read_bytes()), source
