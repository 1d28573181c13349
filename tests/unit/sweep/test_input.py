"""input: JSON → the sweep's input, or an error that names the field."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.support.sam_template import TEMPLATE
from tests.support.sweeps import DEPLOYED

from bucketsum.prices import prices_in
from bucketsum_lab.errors import BadSweep
from bucketsum_lab.plan.input import Strategy, SweepInput, SweepLimits
from bucketsum_lab.plan.input_fields import StrategyName
from bucketsum_lab.plan.plan import plan_of
from bucketsum_lab.protocol.parameters import Parameter, Setting
from bucketsum_lab.workloads import WORKLOADS, WorkloadName

EVENTS = TEMPLATE.parent / "events"
LEAST: Mapping[str, Any] = {
    "object_bytes": [1000],
    "memory_mb": [128, 256],
    "chunk_bytes": [65_536, 1_048_576],
}


def test_the_least_input_has_five_runs_of_the_product() -> None:
    """Memory × chunk, streams by the rule, one at a time, five runs, the cheapest."""
    sweep = SweepInput.from_json(LEAST)
    assert sweep == SweepInput(
        settings=(
            Setting(128, 65_536), Setting(128, 1_048_576),
            Setting(256, 65_536), Setting(256, 1_048_576),
        ),
        object_bytes=(1000,),
        repetitions=5,
        strategy=Strategy(StrategyName.CHEAPEST),
        limits=SweepLimits(),
    )  # fmt: skip
    assert sweep.memory_mb == (128, 256)
    assert not sweep.few_samples


def test_pairs_are_taken_as_they_are() -> None:
    """The baseline's settings are not a full product."""
    pairs = [{"memory_mb": 256, "chunk_bytes": 65_536}, {"memory_mb": 128, "chunk_bytes": 70_000}]
    sweep = SweepInput.from_json({"keys": ["a"], "pairs": pairs, "runs": 2})
    assert sweep.settings == (Setting(256, 65_536), Setting(128, 70_000))
    assert (sweep.keys, sweep.few_samples) == (("a",), True)


def test_streams_are_numbers_and_the_rule() -> None:
    """In the order asked for; sorted, the rule comes last."""
    sweep = SweepInput.from_json(
        {**LEAST, "memory_mb": [512], "chunk_bytes": [65_536], "streams": ["auto", 16, 1]}
    )
    assert [setting.streams for setting in sweep.settings] == ["auto", 16, 1]
    ordered = sorted(sweep.settings, key=lambda setting: setting.order)
    assert [setting.streams for setting in ordered] == [1, 16, "auto"]
    assert [setting.read_policy.count for setting in ordered] == [1, 16, None]


@pytest.mark.parametrize("streams", [["auto"], [1], [1, "auto"]])
def test_a_chunk_size_without_an_effect_is_not_asked_for(streams: list[int | str]) -> None:
    """Only several streams read parts of that size; else the template's default stands there."""
    sweep = SweepInput.from_json({"keys": ["a"], "memory_mb": [512], "streams": streams})
    assert sweep.settings == tuple(Setting(512, 1_048_576, count) for count in streams)
    assert DEPLOYED["ChunkBytes"] == "1048576"


def test_what_is_named_twice_is_measured_once() -> None:
    """Repeated entries of an axis do not make repeated cells."""
    sweep = SweepInput.from_json({**LEAST, "memory_mb": [128, 128], "chunk_bytes": [65_536] * 3})
    assert sweep.settings == (Setting(128, 65_536),)


@pytest.mark.parametrize("path", sorted(EVENTS.glob("sweep-*.json")), ids=lambda path: path.stem)
def test_the_inputs_that_ship_are_inputs(path: Any) -> None:  # noqa: ANN401 - a Path
    """Every sweep input in events/ can be started."""
    assert SweepInput.from_json(json.loads(path.read_text())).settings


@pytest.mark.parametrize("name", ["fetch", "objects", "records", "transfer"])
def test_an_included_sweep_costs_less_than_ten_cents(name: str) -> None:
    """It can be run without a thought, whole, on the disk of the default stack."""
    raw = json.loads((EVENTS / f"sweep-{name}.json").read_text())
    plan = plan_of(SweepInput.from_json(raw))
    assert plan.estimated_usd(prices_in("us-east-1", "x86_64")) < 0.10
    assert not [cell.refused for cell in plan.cells if cell.refused]


def test_the_baselines_experiment_has_its_settings_objects_and_runs() -> None:
    """10 pairs × 4 sizes × 2 runs, as its table has them."""
    sweep = SweepInput.from_json(json.loads((EVENTS / "sweep-article.json").read_text()))
    assert len(sweep.settings) == 10
    assert sweep.object_bytes == (100_000_000, 500_000_000, 1_000_000_000, 5_000_000_000)
    assert (sweep.repetitions, sweep.few_samples) == (2, True)
    assert Setting(128, 1_000_000, 1) in sweep.settings
    assert Setting(2048, 20_000_000, 1) in sweep.settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"memory": [128]}, "memory is not a field; known are object_bytes"),
        ({"object_bytes": ...}, "give either object_bytes"),
        ({"keys": ["a"]}, "give either object_bytes"),
        ({"object_bytes": []}, r"object_bytes is \[\], not a list with at least one entry"),
        ({"object_bytes": 5}, "object_bytes is 5, not a list"),
        ({"object_bytes": ..., "keys": [""]}, r'keys\[0\] is "", but must be a non-empty string'),
        ({"object_bytes": [0]}, r"object_bytes\[0\] is 0, not a whole number in 1\.\."),
        ({"object_bytes": [1, 2.5]}, r"object_bytes\[1\] is 2\.5, not a whole number"),
        ({"object_bytes": [True]}, r"object_bytes\[0\] is true"),
        ({"memory_mb": ...}, "memory_mb is missing"),
        ({"memory_mb": [127]}, r"memory_mb\[0\] is 127, not a whole number in 128\.\.10240"),
        ({"memory_mb": [10_241]}, r"memory_mb\[0\] is 10241"),
        ({"chunk_bytes": ..., "streams": [1, 2]}, "chunk_bytes is missing"),
        ({"chunk_bytes": [1]}, r"chunk_bytes\[0\] is 1, not a whole number in 16384\.\."),
        ({"pairs": [{"memory_mb": 128}]}, "give either pairs, or memory_mb and chunk_bytes"),
        ({"streams": [17]}, r"streams\[0\] is 17, not a whole number in 1\.\.16, nor auto"),
        ({"streams": [1, 0]}, r"streams\[1\] is 0, not a whole number"),
        ({"streams": [True]}, r"streams\[0\] is true, not a whole number"),
        ({"workload": "count"}, 'workload is "count"; allowed: hash, unzip'),
        ({"runs": 0}, r"runs is 0, not a whole number in 1\.\.1000"),
        ({"runs": "5"}, 'runs is "5"'),
        ({"concurrency": [41]}, r"concurrency\[0\] is 41, not a whole number in 1\.\.40"),
        ({"warm_up": "no"}, 'warm_up is "no", neither true nor false'),
        ({"strategy": "cheapest"}, 'strategy is "cheapest", not an object'),
        ({"strategy": {}}, "strategy.name is missing"),
        ({"strategy": {"name": "best"}}, 'strategy.name is "best"; allowed: cheapest, fastest'),
        ({"strategy": {"name": "balanced", "weight": 2}}, "strategy.weight is 2, not a number in"),
        ({"strategy": {"name": "cheapest", "weight": 0}}, "weight does not apply to the strategy"),
        ({"strategy": {"name": "cheapest-at-least"}}, "strategy.mb_per_s is missing"),
        ({"strategy": {"name": "fastest-below"}}, "strategy.usd_per_gb is missing"),
        ({"limits": {"max_eur": 1}}, "limits.max_eur is not a field"),
        ({"limits": {"max_usd": -1}}, "limits.max_usd is -1, not a number in"),
    ],
)
def test_an_error_names_the_field(change: dict[str, Any], message: str) -> None:
    """The message names the field, its value and the allowed values."""
    raw = {name: value for name, value in {**LEAST, **change}.items() if value is not ...}
    with pytest.raises(BadSweep, match=message):
        SweepInput.from_json(raw)


@pytest.mark.parametrize(
    ("workload", "parameter"),
    [(name, parameter) for name in WORKLOADS for parameter in WORKLOADS[name].parameters],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_workloads_parameter_takes_its_own_values(
    workload: WorkloadName, parameter: Parameter
) -> None:
    """Another value is refused by the field's name, and so is the field of another workload."""
    name, allowed = parameter.name, parameter.allowed
    beyond = [allowed[0] - 1, allowed[-1] + 1] if isinstance(allowed, range) else []
    raw = {"workload": workload, "memory_mb": [1769], name: [allowed[0], allowed[-1]]}
    if WORKLOADS[workload].default_object_bytes is None:
        raw |= {"object_bytes": [100_000_000], "chunk_bytes": [65_536]}
    assert SweepInput.from_json(raw).settings
    for value in (*beyond, "other", True, None):
        with pytest.raises(BadSweep, match=rf"^{name}\[0\] is "):
            SweepInput.from_json(raw | {name: [value]})
    with pytest.raises(BadSweep, match=f"^{name} does not apply to the workload hash"):
        SweepInput.from_json({**LEAST, name: [allowed[0]]})


@pytest.mark.parametrize("pair", [{"memory_mb": 1, "chunk_bytes": 65_536}, {"memory_mb": 128}, 5])
def test_an_error_in_a_pair_names_its_place(pair: object) -> None:
    """The message begins with the index of the pair."""
    with pytest.raises(BadSweep, match=r"^pairs\[0\]"):
        SweepInput.from_json({"object_bytes": [1], "pairs": [pair]})


@pytest.mark.parametrize("raw", [None, [], "text", 5])
def test_an_input_is_an_object(raw: object) -> None:
    """Any other JSON value is refused."""
    with pytest.raises(BadSweep, match=r"the input is .+, not an object"):
        SweepInput.from_json(raw)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ({"name": "balanced"}, Strategy(StrategyName.BALANCED, weight=0.5)),
        ({"name": "balanced", "weight": 1}, Strategy(StrategyName.BALANCED, weight=1.0)),
        (
            {"name": "cheapest-at-least", "mb_per_s": 50},
            Strategy(StrategyName.CHEAPEST_AT_LEAST, mb_per_s=50.0),
        ),
        (
            {"name": "fastest-below", "usd_per_gb": 1e-4},
            Strategy(StrategyName.FASTEST_BELOW, usd_per_gb=1e-4),
        ),
    ],
)
def test_a_strategy_takes_its_own_number(strategy: object, expected: Strategy) -> None:
    """Each strategy has at most one number, of its own name."""
    assert SweepInput.from_json({**LEAST, "strategy": strategy}).strategy == expected


@pytest.mark.parametrize(
    "lists",
    [
        {"memory_mb": list(range(128, 3128)), "chunk_bytes": list(range(65_536, 68_536))},
        {"object_bytes": list(range(1, 3001)), "concurrency": list(range(1, 41))},
        {"memory_mb": list(range(128, 10_241)), "streams": [1, 2]},
    ],
)
def test_an_input_with_too_many_combinations_is_refused_at_once(lists: Mapping[str, Any]) -> None:
    """A short input can have billions of cells; they are counted before they are made."""
    with pytest.raises(BadSweep, match="combinations, and a sweep can have at most 10000"):
        SweepInput.from_json({**LEAST, **lists})


def test_an_unknown_field_is_printable_in_the_error() -> None:
    """Its name may have characters that drive a terminal."""
    with pytest.raises(BadSweep, match=r"\\x1b\[31m is not a field") as error:
        SweepInput.from_json({**LEAST, "\x1b[31m": 1})
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    "wrong", [{"runs": "x" * 50_000}, {"workload": [128] * 50_000}, {"n" * 50_000: 1}]
)
def test_a_long_value_is_cut_in_the_error(wrong: Mapping[str, Any]) -> None:
    """Step Functions and a terminal show the text; it names the field all the same."""
    with pytest.raises(BadSweep, match=r"^(runs|workload|n+) is ") as error:
        SweepInput.from_json({**LEAST, **wrong})
    assert len(str(error.value)) < 1000
