"""The manifest that `build.py` writes into the layer: its compiled wheels, and the missing ones."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import botocore

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

_FILE = Path(__file__).parents[1] / "layer.json"  # only in a built layer


def log_layer(logger: Logger) -> None:
    """Log the manifest, once for each execution environment; nothing outside a built layer."""
    try:
        document = json.loads(_FILE.read_bytes())
    except FileNotFoundError:
        return
    missing = document["missing"]
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    (logger.warning if missing else logger.info)(
        "layer",
        missing_wheels=missing,
        has_bytecode=version in document["bytecode"],
        botocore=botocore.__version__,  # the runtime's, which a deployment may change
    )
