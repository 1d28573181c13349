"""Imports moto's CloudFormation without services that no stack here has, which take a second."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Final

import pytest

_UNUSED: Final = (
    "apigateway", "autoscaling", "batch", "batch.utils", "datapipeline", "ec2", "ec2.models",
    "ec2.models.core", "ecs", "efs", "elb", "elbv2", "emr", "iot", "rds", "redshift", "route53",
    "sagemaker",
)  # fmt: skip


class _Unused(ModuleType):
    """A module with whatever is imported from it: classes without instances."""

    def __getattr__(self, name: str) -> type[object]:
        return type(name, (), {})


with pytest.MonkeyPatch.context() as _patch:
    for _name in _UNUSED:
        _patch.setitem(sys.modules, f"moto.{_name}", _Unused(f"moto.{_name}"))
    import_module("moto.cloudformation.models")
