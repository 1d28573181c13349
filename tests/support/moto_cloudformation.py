"""Imports moto's CloudFormation without the catalogue of EC2, which takes a second to read."""

from __future__ import annotations

from importlib import import_module

import pytest
from moto.utilities import utils

with pytest.MonkeyPatch.context() as _patch:
    _load = utils.load_resource
    _patch.setattr(utils, "load_resource", lambda n: {} if n.startswith("ec2/") else _load(n))
    import_module("moto.cloudformation.models")
