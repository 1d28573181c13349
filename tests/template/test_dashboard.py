"""The dashboard shows what the code measures, and follows the resources."""

import json
from typing import Any, Final

from tests.support.sam_template import load_template, properties
from tests.template.references import variables_of

from bucketsum.hashing.metric import METRICS
from bucketsum.table.outcome import Outcome

RESOURCES: Final[dict[str, dict[str, Any]]] = load_template()["Resources"]


def dashboard() -> dict[str, Any]:
    """The dashboard's body, its variables as they stand."""
    body: dict[str, Any] = json.loads(properties("Dashboard")["DashboardBody"]["Fn::Sub"])
    return body


def test_dashboard_has_a_place_for_every_widget() -> None:
    """Widgets lie side by side on a grid of 24 columns, none upon another."""
    widgets = dashboard()["widgets"]
    cells = [
        (x, y)
        for widget in widgets
        for x in range(widget["x"], widget["x"] + widget["width"])
        for y in range(widget["y"], widget["y"] + widget["height"])
    ]
    assert len(cells) == len(set(cells)) == 24 * 18
    assert {x for x, _ in cells} == set(range(24))
    assert {widget["properties"]["region"] for widget in widgets} == {"${AWS::Region}"}


def test_dashboard_shows_every_outcome() -> None:
    """Every outcome of an object has a line of its own, under the name that code gives it."""
    [widget] = [w for w in dashboard()["widgets"] if "outcome" in w["properties"]["title"]]
    namespace, _, dimension, service = widget["properties"]["metrics"][0]
    variables = properties("HasherFunction")["Environment"]["Variables"]
    assert namespace == variables["POWERTOOLS_METRICS_NAMESPACE"]
    assert (dimension, service) == ("service", "${AWS::StackName}")
    assert variables["POWERTOOLS_SERVICE_NAME"] == {"Ref": "AWS::StackName"}
    shown = {metric[1] for metric in widget["properties"]["metrics"]}
    assert shown == {f"Objects{outcome.title()}" for outcome in Outcome}


def test_dashboard_shows_metrics_that_exist() -> None:
    """Our own metrics on the dashboard are in the registry of those that are emitted."""
    emitted = {metric.name for metric in METRICS}
    namespace = ""
    for widget in dashboard()["widgets"]:
        for first, *rest in widget["properties"]["metrics"]:
            namespace = first if first not in {".", "..."} else namespace
            if namespace == "bucketsum" and first != "...":
                assert rest[0] in emitted


def test_dashboard_follows_its_resources() -> None:
    """Queue and function are named by reference, so that a replaced one is still shown."""
    body = properties("Dashboard")["DashboardBody"]["Fn::Sub"]
    assert variables_of(body) == {
        "AWS::Region",
        "AWS::StackName",
        "ArrivalsQueue.QueueName",
        "BackfillQueue.QueueName",
        "DeadLetterQueue.QueueName",
        "HasherFunction",
        "LongObjectsQueue.QueueName",
        "SlicerFunction",
    }
