"""The manifest that `build.py` writes into the layer: its compiled wheels, and the missing ones."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

_FILE = Path(__file__).parents[1] / "layer.json"  # only in a built layer


@dataclass(frozen=True, slots=True)
class LayerManifest:
    """The parts of a built layer that a function cannot see by importing it.

    Attributes:
        missing: Wheels that the build did not install, each with its runtime; mostly empty.
        has_bytecode: If the layer carries compiled bytecode for the running Python version.
    """

    missing: tuple[str, ...]
    has_bytecode: bool


def layer_manifest(file: Path = _FILE) -> LayerManifest | None:
    """Return the manifest of the layer; None outside a built layer."""
    try:
        document = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return LayerManifest(tuple(document["missing"]), version in document["bytecode"])


def log_layer(logger: Logger) -> None:
    """Log the manifest, once for each execution environment."""
    if (layer := layer_manifest()) is not None:
        (logger.warning if layer.missing else logger.info)(
            "layer", missing_wheels=layer.missing, has_bytecode=layer.has_bytecode
        )
