"""The answer of a run, in sentences for the terminal and for the report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bucketsum_cli.terminal.formatting import count_text, speed_text, usd_text
from bucketsum_cli.tune.results import Results, has_failed
from bucketsum_cli.tune.setting_labels import streams_text
from bucketsum_lab.protocol.run_records import RunStatus
from bucketsum_lab.workloads import setting_of

_NOTABLE: Final = 0.005
"""Changes below half a percent are none."""


def headline(results: Results) -> str:
    """Return the answer in one line: ``Hashing objects of 20 MB: 512 MB is best``."""
    return f"{_subject(results)}: {_verdict(results)}"


def conclusion(results: Results) -> str:
    """Return the answer in one sentence, with speed, cost and gain."""
    best = results.recommendation.best
    if best is None:
        return f"{headline(results)}."
    numbers = f"{speed_text(best.mb_per_s)} MB/s for {usd_text(best.usd_per_tb)} USD per TB"
    if _deployed_to_keep(results):
        label = results.labels.effective(best.setting)
        return f"{headline(results)}; the best measured, {label}, with {numbers}, does not beat it."
    return f"{headline(results)}, with {numbers}, {gain_text(results)}."


def gain_text(results: Results) -> str:
    """Compare the recommended setting with the deployed one, in a clause."""
    best, gain = results.recommendation.best, results.improvement
    if best is None or gain is None:
        return "not compared with the deployed setting, which has no measurement"
    deployed = results.labels.effective(gain.deployed.setting)
    if best.setting == gain.deployed.setting:
        return "as deployed now"
    changes = [*_changes(results)]
    if not changes:
        return f"not better than the deployed setting, {deployed}"
    is_mixed = len({change > 0 for change, _, _ in changes}) > 1
    texts = (f"{abs(change):.0%} {good if change > 0 else bad}" for change, good, bad in changes)
    gains = (" but " if is_mixed else " and ").join(texts).replace("%", " %")
    return f"{gains} than the deployed setting, {deployed}"


def deploys_nothing(results: Results) -> bool:
    """Whether the recommended setting was the deployed one."""
    best, deployed = results.recommendation.best, results.run.deployed
    return bool(best and deployed and best.setting.equals(setting_of(deployed)))


def doubt_about(results: Results) -> str:
    """Reason why the recommendation may be wrong for the stack that it would be deployed to."""
    run = results.run
    if results.is_local:
        return f"{run.run_id} was measured in the local emulator, and no number of it is AWS's"
    if run.status in (RunStatus.STOPPED, RunStatus.FAILED):
        return f"{run.run_id} is {run.status}, and lacks measurements"
    return ""


def is_loss(results: Results) -> bool:
    """Whether the recommended setting may be slower or more expensive than the deployed one."""
    return results.improvement is None or any(change < 0 for change, _, _ in _changes(results))


def remarks_on(results: Results) -> Iterator[str]:
    """Yield remarks on the recommended setting, in sentences."""
    recommendation = results.recommendation
    if recommendation.best is None:
        return
    setting = recommendation.best.setting
    if recommendation.also:
        others = count_text(len(recommendation.also), "other setting")
        yield f"Its speed differs from that of {others} by less than the noise of these runs."
    chunks = {cell.setting.chunk_bytes for cell in results.cells}
    if not setting.chunk_has_effect and len(chunks) > 1:
        yield f"With {streams_text(setting.streams)}, the chunk size has no effect."
    if recommendation.best.few_samples:
        yield "Weak: a cell has fewer than 5 warm runs; measure again before you rely on this."


def _subject(results: Results) -> str:
    workload, sizes = results.workload, [*results.size_texts.items()]
    task = workload.task.capitalize() if workload else "Sweep"
    texts = [text.replace(".0 ", " ") for _, text in sorted(sizes)]
    extent = " to ".join(dict.fromkeys([*texts[:1], *texts[-1:]]))
    place = " on the local emulator" if results.is_local else ""
    return f"{task}{f' of {extent}' if extent else ''}{place}"


def _deployed_to_keep(results: Results) -> str | None:
    """The deployed setting, if another one was measured as best and brings nothing."""
    best, gain = results.recommendation.best, results.improvement
    if (
        best is None
        or gain is None
        or best.setting == gain.deployed.setting
        or [*_changes(results)]
    ):
        return None
    return results.labels.effective(gain.deployed.setting)


def _verdict(results: Results) -> str:
    best, effective = results.recommendation.best, results.labels.effective
    if best is not None:
        planned = {cell.setting for cell in results.cells}
        missing = {cell.setting for cell in results.cells if not (cell.stats or has_failed(cell))}
        if missing:
            count = f"{len(planned - missing)} of {count_text(len(planned), 'setting')} measured"
            return f"incomplete, {count}; {effective(best.setting)} is best so far"
        kept = _deployed_to_keep(results)
        return (
            f"keep the deployed setting, {kept}" if kept else f"{effective(best.setting)} is best"
        )
    if results.run.status is RunStatus.RUNNING:
        return "still being measured"
    stats = [(cell.setting, cell.stats) for cell in results.cells if cell.stats]
    if not stats:
        return "nothing was measured"
    fastest = {effective(setting) for setting, own in stats if own.best}
    if len(fastest) > 1:
        return "it depends on the object"
    rivals = {effective(setting) for setting, own in stats if own.indistinguishable_from_best}
    others = count_text(len(rivals - fastest), "other setting")
    suffix = f", not significantly faster than {others}" if rivals - fastest else ""
    return f"{fastest.pop()} is fastest{suffix}"


def _changes(results: Results) -> Iterator[tuple[float, str, str]]:
    """Yield each change beyond the noise, with its words for a gain and a loss.

    At one memory size, the cost changes with the time alone.
    """
    best, gain = results.recommendation.best, results.improvement
    if best is None or gain is None:
        return
    if gain.is_significant and abs(gain.faster) > _NOTABLE:
        yield gain.faster, "faster", "slower"
    has_other_memory = best.setting.memory_mb != gain.deployed.setting.memory_mb
    if (gain.is_significant or has_other_memory) and abs(gain.cheaper) > _NOTABLE:
        yield gain.cheaper, "cheaper", "more expensive"
