"""The code folders of the functions never change, so no upgrade is half new.

CloudFormation replaces a function's code, and then its layers and its environment together. If all
code that can change is in a layer, an invocation in between has all of the old or all of the new.
"""

import ast
from typing import Final

import pytest
from tests.support.sam_template import TEMPLATE, load_template
from tests.support.source_files import tree_of
from tests.template.roles import HANDLERS

CODE: Final = {
    properties["CodeUri"].removeprefix("src/"): properties
    for resource in load_template()["Resources"].values()
    if resource["Type"] == "AWS::Serverless::Function"
    for properties in [resource["Properties"]]
}
FORM: Final = """\
from {package}.functions.{function} import lambda_handler
__all__ = ['lambda_handler']"""


def test_each_function_has_its_handler_in_a_layer() -> None:
    """The template has a function for each folder in src/, and each module in functions/."""
    folders = {path.parent.name for path in (TEMPLATE.parent / "src").glob("*/app.py")}
    assert folders == set(HANDLERS) == set(CODE)


@pytest.mark.parametrize("function", sorted(HANDLERS))
def test_an_entry_point_is_one_import(function: str) -> None:
    """It imports the handler from a layer of the function, and says no more than that."""
    folder, handler = TEMPLATE.parent / "src" / function, HANDLERS[function]
    docstring, *code = ast.parse((folder / "app.py").read_text("utf-8")).body
    assert isinstance(docstring, ast.Expr)
    package = handler.parents[1].name
    assert ast.unparse(ast.Module(code, [])) == FORM.format(package=package, function=function)
    assert {path.name for path in folder.glob("*.*")} == {"__init__.py", "app.py"}
    assert CODE[function]["Handler"] == "app.lambda_handler"
    layers = {"bucketsum": "BucketsumLayer", "bucketsum_lab": "LabLayer"}
    assert {"Ref": layers[package]} in CODE[function]["Layers"]


@pytest.mark.parametrize("function", sorted(HANDLERS))
def test_each_function_logs_its_botocore(function: str) -> None:
    """A deployment may change it without a change of ours: the log tells since when."""
    nodes = ast.walk(tree_of(HANDLERS[function]))
    lines = [ast.unparse(node) for node in nodes if isinstance(node, ast.Expr)]
    assert "log_layer(logger)" in lines
