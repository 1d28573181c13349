"""Log lines and metrics of one slice, and of its object at its end."""

from __future__ import annotations

import time
from datetime import datetime

from bucketsum.hashing import metric
from bucketsum.hashing.report import Report
from bucketsum.hashing.result import HashResult
from bucketsum.long_objects.slice_result import SliceReport
from bucketsum.measure import Measurement
from bucketsum.table.outcome import Outcome


def publish_slice(report: SliceReport, objects: Report) -> None:
    """Log and count the slice; if its object has an outcome, report it through *objects*."""
    progress, measurement, created = report.progress, report.measurement, report.message.created
    objects.logger.info(
        "slice",
        bucket=created.bucket,
        key=created.key,
        version_id=created.version_id,
        outcome=report.outcome,
        sha1=report.sha1,
        size_bytes=created.size_bytes,
        reason=report.reason,
        offset=report.message.offset,
        hop=report.message.hop,
        slice_bytes=measurement.size_bytes if measurement else None,
        seconds=round(measurement.seconds, 6) if measurement else None,
        mb_per_s=round(measurement.mb_per_s, 3) if measurement else None,
    )
    if measurement and progress:
        started = datetime.fromisoformat(progress.started_at).timestamp()
        metric.SLICES.add(objects.metrics)
        metric.SLICE_BYTES.add(objects.metrics, measurement.size_bytes)
        metric.SLICE_SPEED.add(objects.metrics, measurement.mb_per_s)
        metric.AGE.add(objects.metrics, time.time() - started)
    if isinstance(report.outcome, Outcome):
        whole = None
        if progress and report.sha1:
            whole = Measurement(progress.size_bytes, progress.seconds)
        objects.publish(HashResult(created, report.outcome, report.sha1, whole, report.reason))
