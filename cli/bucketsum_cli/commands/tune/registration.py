"""The lab's parts in the product's commands: running sweeps, a check, a demonstration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from bucketsum.errors import DamagedItem
from bucketsum_cli.aws.executions import new_execution_name
from bucketsum_cli.commands.lab import Lab
from bucketsum_cli.selftest.check import Finding, SelftestCheck, failed, passed, skipped
from bucketsum_cli.terminal import output
from bucketsum_cli.tune.plan_view import priced_plan, print_plan
from bucketsum_cli.tune.progress import ended_execution, recorded_results, settled_run
from bucketsum_cli.tune.report import write_report
from bucketsum_cli.tune.report.table_view import print_results
from bucketsum_cli.tune.sweep_input import naming, sweep_input
from bucketsum_cli.tune.sweeper import Sweeper, has_sweeps
from bucketsum_lab.protocol.run_records import RunStatus

if TYPE_CHECKING:
    from bucketsum_cli.aws.stack import Stack
    from bucketsum_cli.emulator.emulator_state import LocalProject
    from bucketsum_cli.selftest.scratch import Scratch

CHECK_SWEEP: Final = {
    "object_bytes": [1_000_000],
    "memory_mb": [128, 256],
    "chunk_bytes": [1_048_576],
    "runs": 2,
}
_NEWEST_SWEEPS: Final = 50


def running_sweeps(stack: Stack) -> Iterator[str | DamagedItem]:
    """Yield the identifiers of running sweeps, among the newest sweeps of *stack*.

    In place of a damaged one its error, as it may be running.
    """
    if has_sweeps(stack):
        for run in islice(Sweeper(stack).measurements.runs(), _NEWEST_SWEEPS):
            if isinstance(run, DamagedItem):
                yield run
            elif run.status is RunStatus.RUNNING:
                yield run.run_id


def _check_sweep(scratch: Scratch) -> Finding:
    if not has_sweeps(scratch.stack):
        return skipped("the stack has no sweeps")
    sweeper, run_id = Sweeper(scratch.stack), new_execution_name()
    with naming():
        plan = priced_plan(sweeper, CHECK_SWEEP).plan
    scratch.expect_sweep(run_id)
    sweeper.state_machine.start(run_id, CHECK_SWEEP)
    execution = ended_execution(sweeper, run_id, plan)
    run = settled_run(sweeper, run_id)
    if run is None or run.status is not RunStatus.SUCCEEDED:
        cause = run.cause if run else None
        return failed(f"{run.status if run else 'nothing recorded'}: {cause or execution.cause}")
    samples = sweeper.measurements.samples(run_id)
    probers = [sample.process for sample in samples if sample.process]
    runtimes = sorted({f"Python {prober.runtime}, boto3 {prober.boto3}" for prober in probers})
    return passed(f"{len(plan.cells)} cells; {'; '.join(runtimes)}")


def _check_usd(stack: Stack) -> float:
    if not has_sweeps(stack):
        return 0.0
    with naming():
        priced = priced_plan(Sweeper(stack), CHECK_SWEEP)
    return priced.plan.estimated_usd(priced.prices)


def demonstrate_sweep(project: LocalProject, stack: Stack, as_json: bool) -> bool:
    """Run the quick sweep, show its table and write its report; returns whether it is complete.

    With *as_json* the table is not shown: stdout has another document.

    Raises:
        CannotDoError: It could not start.
        BotoCoreError: The local emulator cannot be reached.
        ClientError: It refused a request.
    """
    sweeper, run_id = Sweeper(stack), new_execution_name()
    with naming():
        fields = sweep_input(project.folder / "events" / "sweep-quick.json", {})
        priced = priced_plan(sweeper, fields)
    print_plan(priced)
    sweeper.state_machine.start(run_id, fields)
    execution = ended_execution(sweeper, run_id, priced.plan)
    results = recorded_results(sweeper, run_id, execution)
    report = project.home / "sweep.html"
    write_report(results, report)
    if as_json:
        output.note(f"report: {report}")
    else:
        output.say("")
        print_results(results, can_apply=False)  # the demonstration ends with its stack
        output.say(f"report: {report}")
    return results.run.status is RunStatus.SUCCEEDED


LAB: Final = Lab(
    running_sweeps,
    (SelftestCheck("sweep", "a small sweep succeeds", _check_sweep, usd=_check_usd),),
    demonstrate_sweep,
)
