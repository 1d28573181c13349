"""`tune apply` changes samconfig.toml so that SAM's own parser reads the new values."""

import difflib
import tomllib
from typing import Any, Final

import pytest
from samcli.cli.types import CfnParameterOverridesType  # type: ignore[import-untyped]

from bucketsum_cli.terminal.errors import CannotDoError
from bucketsum_cli.tune.samconfig import with_parameters

WANTED: Final = {"MemorySize": 1769, "ChunkBytes": 4194304}

SHIPPED: Final = """\
# deploy defaults
version = 0.1

[default.deploy.parameters]
stack_name = "bucketsum" # ours
{overrides}
confirm_changeset = true # ask first

[local.deploy.parameters]
stack_name = "bucketsum"
"""


def sam_reads(text: str, environment: str = "default", command: str = "deploy") -> dict[str, str]:
    """The parameters that SAM takes from *text*."""
    overrides: Any = tomllib.loads(text)[environment][command]["parameters"]["parameter_overrides"]
    parameters = CfnParameterOverridesType().convert(overrides, None, None)
    return {str(name): str(value) for name, value in parameters.items()}


@pytest.mark.parametrize(
    ("overrides", "others"),
    [
        ("", {}),
        ('parameter_overrides = ""', {}),
        ('parameter_overrides = "MemorySize=512"', {}),
        (
            'parameter_overrides = "BatchSize=2 MemorySize=512 ChunkBytes=\\"20\\" KmsKeyArn=a"',
            {"BatchSize": "2", "KmsKeyArn": "a"},
        ),
        (
            "parameter_overrides = 'ExtraAlgorithms=\"a b MemorySize=7\" MemorySize=512'",
            {"ExtraAlgorithms": "a b MemorySize=7"},
        ),
        ('parameter_overrides = """BatchSize=2\nA=5"""', {"BatchSize": "2\nA=5"}),
        ('parameter_overrides = ["BatchSize=2", "MemorySize=512"]', {"BatchSize": "2"}),
        (
            'parameter_overrides = [\n  "BatchSize=2", # few\n  "MemorySize=1 ChunkBytes=2",\n]',
            {"BatchSize": "2"},
        ),
        ('parameter_overrides = ["MemorySize=1", "MemorySize=2"]', {}),
    ],
)
def test_sam_reads_the_new_parameters_and_all_that_were_there(
    overrides: str, others: dict[str, str]
) -> None:
    """However overrides are written, SAM gets the wanted ones and keeps every other one."""
    edited = with_parameters(
        SHIPPED.format(overrides=overrides), "samconfig.toml", "default", WANTED
    )

    assert sam_reads(edited) == others | {name: str(value) for name, value in WANTED.items()}


@pytest.mark.parametrize(
    "overrides", ["", 'parameter_overrides = "MemorySize=512 ChunkBytes=1048576"']
)
def test_only_the_overrides_line_changes(overrides: str) -> None:
    """Comments, order and every other setting stay as they are, byte for byte."""
    text = SHIPPED.format(overrides=overrides)

    edited = with_parameters(text, "samconfig.toml", "default", WANTED)

    changed = [
        line
        for line in difflib.ndiff(text.splitlines(), edited.splitlines())
        if line[0] in "+-" and line[1:].strip() and "parameter_overrides" not in line
    ]
    assert changed == []


def test_overrides_of_all_commands_are_edited_where_they_are() -> None:
    """Where only the environment's global table overrides, a second place is not made."""
    text = '[default.global.parameters]\nparameter_overrides = "BatchSize=2"\n'

    edited = with_parameters(text, "samconfig.toml", "default", WANTED)

    assert sam_reads(edited, command="global")["MemorySize"] == "1769"
    assert "deploy" not in tomllib.loads(edited)["default"]


def test_an_environment_without_deploy_gets_one() -> None:
    """An environment without a deploy table gets one."""
    edited = with_parameters(
        "[default.build.parameters]\ncached = true\n", "samconfig.toml", "default", WANTED
    )

    assert sam_reads(edited)["ChunkBytes"] == "4194304"
    assert tomllib.loads(edited)["default"]["build"]["parameters"]["cached"] is True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = ", "not TOML"),
        ("[local.deploy.parameters]\n", "no environment default; choose one of local"),
        ("version = 0.1\n", "it has none"),
        ("[default]\ndeploy = 3\n", "has 3 instead of a table"),
        *(
            (
                f"[default.deploy.parameters]\nparameter_overrides = {form}\n",
                "does not edit; .* `sam deploy --parameter-overrides MemorySize=1769 ChunkBytes=",
            )
            for form in (
                "3",
                '"file://dev.yaml"',
                '"ParameterKey=MemorySize,ParameterValue=1"',
                "{ MemorySize = 512 }",
                "[{ MemorySize = 512 }]",
            )
        ),
    ],
)
def test_what_cannot_be_edited_is_refused_with_what_to_do(text: str, message: str) -> None:
    """A file in another form is never written over."""
    with pytest.raises(CannotDoError, match=f"^samconfig.toml .*{message}"):
        with_parameters(text, "samconfig.toml", "default", WANTED)


def test_an_added_line_has_the_line_end_of_the_file() -> None:
    """A file with CRLF keeps CRLF in every line, the new one included."""
    text = SHIPPED.format(overrides="").replace("\n", "\r\n")

    edited = with_parameters(text, "samconfig.toml", "default", WANTED)

    assert edited.count("\r\n") == edited.count("\n") > 0
    assert sam_reads(edited)["MemorySize"] == "1769"
