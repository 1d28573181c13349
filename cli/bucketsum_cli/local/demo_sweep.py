"""The demonstration's sweep: a small one, with a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bucketsum.sweep.records import RunStatus
from bucketsum_cli.errors import CannotDoError
from bucketsum_cli.executions import new_execution_name
from bucketsum_cli.output import note, say
from bucketsum_cli.tune.commands.report import write_report
from bucketsum_cli.tune.plan_view import priced_plan, print_plan
from bucketsum_cli.tune.progress import ended_execution, settled_run
from bucketsum_cli.tune.results import results_of
from bucketsum_cli.tune.sweep_input import sweep_input
from bucketsum_cli.tune.sweeper import Sweeper
from bucketsum_cli.tune.table_view import print_results

if TYPE_CHECKING:
    from bucketsum_cli.emulator import LocalProject
    from bucketsum_cli.stack import Stack


def demonstrate_sweep(project: LocalProject, stack: Stack, *, as_json: bool) -> bool:
    """Run the quick sweep, show its table and write its report; returns whether it is complete.

    With *as_json* the table is not shown: stdout has another document.

    Raises:
        CannotDoError: It could not start.
        BotoCoreError: The local emulator cannot be reached.
        ClientError: It refused a request.
    """
    fields = sweep_input(project.folder / "events" / "sweep-quick.json", {})
    sweeper, run_id = Sweeper(stack), new_execution_name()
    priced = priced_plan(sweeper, fields)
    print_plan(priced)
    execution = ended_execution(sweeper, sweeper.start(run_id, fields), run_id, priced.plan)
    if settled_run(sweeper, run_id) is None:
        raise CannotDoError(f"the sweep ended before it recorded anything: {execution.cause}")
    results = results_of(sweeper.measurements, run_id)
    report = project.home / "sweep.html"
    write_report(results, report)
    if as_json:
        note(f"report: {report}")
    else:
        say("")
        print_results(results, can_apply=False)  # the demonstration ends with its stack
        say(f"report: {report}")
    return results.run.status is RunStatus.SUCCEEDED
