"""A deployed stack can be updated to this template, and keeps its data."""

import subprocess
from typing import Any, Final

import pytest
from tests.support.sam_template import TEMPLATE, load_template, parsed_template

BASE: Final = "0967a77"
"""The template to update from: the last release, once there is one."""

EXPORTING_BASE: Final = "c063506"
"""The same for exports, which came later."""

CREATE_ONLY: Final = {
    "AWS::DynamoDB::Table": ("TableName", "KeySchema", "LocalSecondaryIndexes"),
    "AWS::SQS::Queue": ("QueueName", "FifoQueue"),
    "AWS::S3::Bucket": ("BucketName", "ObjectLockEnabled"),
}
"""Properties whose change replaces a resource that has data."""

_ROLE: Final = ("Path", "RoleName")
"""Properties whose change gives a role another name."""


def _template_at(commit: str) -> dict[str, Any]:
    shown = subprocess.run(
        ["git", "show", f"{commit}:template.yaml"],  # noqa: S607 - wherever git is
        cwd=TEMPLATE.parent,
        check=False,
        capture_output=True,
        text=True,
    )
    if shown.returncode:
        pytest.skip(f"the history does not reach back to {commit}")
    return parsed_template(shown.stdout)


def test_no_data_is_replaced() -> None:
    """No table, queue or bucket is lost or replaced; of an index only one is made or removed."""
    old, new = _template_at(BASE)["Resources"], load_template()["Resources"]
    for name, resource in old.items():
        if (kind := resource["Type"]) not in CREATE_ONLY:
            continue
        before, after = resource.get("Properties", {}), new[name].get("Properties", {})
        for field in CREATE_ONLY[kind]:
            assert before.get(field) == after.get(field), f"{name}.{field}"
        indexes = [_indexes(properties) for properties in (before, after)]
        common = indexes[0].keys() & indexes[1].keys()
        assert all(indexes[0][index] == indexes[1][index] for index in common), name
        assert len(indexes[0].keys() ^ indexes[1].keys()) <= 1, name


def test_no_exported_name_changes() -> None:
    """CloudFormation changes no export in use: nothing may replace a role of attached buckets."""
    old, new = _template_at(EXPORTING_BASE), load_template()
    exported = [o["Value"]["Ref"] for o in old["Outputs"].values() if "Export" in o]
    assert len(exported) == 3
    for role in exported:
        before, after = (t["Resources"][role]["Properties"] for t in (old, new))
        assert [before.get(n) for n in _ROLE] == [after.get(n) for n in _ROLE], role


def _indexes(table: dict[str, Any]) -> dict[str, Any]:
    """Name → keys and projection; CloudFormation changes neither of an index that is there."""
    return {
        index["IndexName"]: (index["KeySchema"], index["Projection"])
        for index in table.get("GlobalSecondaryIndexes", ())
    }
