"""Samples of an experiment, saved one by one: an experiment that was stopped can be resumed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench.sandbox.server import FOLDER
from bucketsum.digest import digest_of
from bucketsum_lab.results.record_values import item_values, sample_of

if TYPE_CHECKING:
    from pathlib import Path

    from bench.workloads.experiments import Experiment
    from bucketsum_lab.protocol.samples import Sample


@dataclass(frozen=True, slots=True)
class SavedSamples:
    """A file with a sample in each line."""

    path: Path

    @classmethod
    def of(cls, experiment: Experiment, folder: Path = FOLDER) -> SavedSamples:
        """Return the samples of *experiment*; all its fields except ``runs`` decide the file."""
        sweep = {name: value for name, value in experiment.sweep.items() if name != "runs"}
        digest = digest_of([repr(replace(experiment, sweep=sweep)).encode()])
        return cls(folder / "samples" / f"{experiment.name}-{digest.sha1[:12]}.jsonl")

    def read(self) -> list[Sample]:
        """The samples of all earlier runs."""
        lines = self.path.read_text("utf-8").splitlines() if self.path.exists() else ()
        return [sample_of(json.loads(line)) for line in lines]

    def none(self) -> list[Sample]:
        """Delete the samples of all earlier runs."""
        self.path.unlink(missing_ok=True)
        return []

    def add(self, sample: Sample) -> None:
        """Save one more sample."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            print(json.dumps(item_values(sample)), file=file)
