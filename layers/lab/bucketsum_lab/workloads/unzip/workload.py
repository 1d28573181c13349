"""Workload ``unzip``: SHA-1 of zip archives and of their members, without writing rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Final

from bucketsum.memory import MEMORY_MB_PER_CPU
from bucketsum.table.archive_settings import Engine, Mode
from bucketsum_lab.errors import BadSweep

# What only a probe or a generated archive needs is imported there: the planner reads no archives.
# ruff: noqa: PLC0415
from bucketsum_lab.protocol.objects import Generated, disk_refusal, whole_in
from bucketsum_lab.protocol.parameters import Parameter
from bucketsum_lab.protocol.run_records import WorkloadStatistics
from bucketsum_lab.protocol.workload import Workload, read_seconds

if TYPE_CHECKING:
    from bucketsum_lab.protocol.objects import PlannedObject
    from bucketsum_lab.protocol.parameters import Setting, Value, Variant
    from bucketsum_lab.protocol.probe import ProbeAnswer, ProbeContext, ProbeEvent
    from bucketsum_lab.protocol.samples import Sample

NULL: Final = "null"
"""As stream, but members are not hashed: the time of decompression alone."""

MODE: Final = Parameter(
    "mode",
    (*Mode, NULL),
    meaning="stream (no disk), tmp (archive and members on disk), discard (only archive on disk), "
    "null (no disk, members not hashed)",
)
INFLATE: Final = Parameter("inflate", tuple(Engine), meaning="decompression library ({})")
AUTO_THREADS: Final = "auto"
"""As the hasher: see `archive_threads`."""

THREADS: Final = Parameter(
    "archive_threads",
    (AUTO_THREADS, 1, 2, 4, 8, 16, 32, 64),
    "{} threads",
    meaning="threads that read the archive on the disk ({}); `auto`: one for each vCPU, at least 2",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnzipStatistics(WorkloadStatistics):
    """The contents of the archive."""

    members: int
    directories: int
    member_bytes: int


ARCHIVE_BYTES_MIN: Final = 1_000_000
ARCHIVE_BYTES_MAX: Final = 2_000_000_000
"""Of generated archives: small members find room, and none needs Zip64."""

_KEEPS_ARCHIVE: Final = (Mode.TMP, Mode.DISCARD)
_MB_PER_VCPU_SECOND: Final[Mapping[Value, int]] = {
    Mode.STREAM: 150,
    Mode.TMP: 100,
    Mode.DISCARD: 140,
    NULL: 150,
}
"""MB of archive, SHA-1 of all included: slower column of bench/measured/unzip.md, less a sixth."""

_ZLIB_SLOWDOWN: Final = 1.6
"""Time of zlib over that of ISA-L; bench/measured/unzip.md."""


class UnzipWorkload(Workload):
    """Unzip and hash the members.

    The modes ``discard`` and ``null`` and the engine zlib are measured for comparison only.
    """

    name = "unzip"
    task = "unzipping archives"
    noun = "archive"
    parameters = (MODE, INFLATE, THREADS)
    object_bytes = range(ARCHIVE_BYTES_MIN, ARCHIVE_BYTES_MAX + 1)
    object_name = "objects/{size_bytes}.zip"
    sample_names = ("mode", "inflate", "members", "directories", "member_bytes")
    statistics_type = UnzipStatistics
    folded_first = "chunk_bytes"
    undeployable = "discard, null, zlib and threads other than auto cannot be deployed"

    def seconds(self, setting: Setting, size_bytes: int) -> float:
        """The slower of network and CPU; their sum if members are read from the disk."""
        mode, inflate = setting.own["mode"], setting.own["inflate"]
        threads = setting.own.get("archive_threads", 1)  # without a disk it is one
        mb_per_vcpu_second = _MB_PER_VCPU_SECOND[mode]
        slowdown = _ZLIB_SLOWDOWN if inflate == Engine.ZLIB else 1.0
        vcpus = setting.memory_mb / MEMORY_MB_PER_CPU
        if threads != AUTO_THREADS:
            vcpus = min(vcpus, float(threads))
        return read_seconds(
            size_bytes, mb_per_vcpu_second / slowdown * vcpus, in_turn=mode in _KEEPS_ARCHIVE
        )

    def effective(self, variant: Variant) -> Variant:
        """Remove `THREADS` if the mode uses no disk."""
        has_threads = dict(variant)[MODE] in _KEEPS_ARCHIVE
        return tuple(pair for pair in variant if has_threads or pair[0] is not THREADS)

    def uses_disk(self, setting: Setting) -> bool:
        """The modes tmp and discard write the archive to /tmp."""
        return setting.own["mode"] in _KEEPS_ARCHIVE

    def refusal(self, setting: Setting, planned: PlannedObject, storage_mb: int) -> str | None:
        """Reason if /tmp has no room for the archive or, if generated, for its members too."""
        from bucketsum_lab.workloads.unzip.generated_archive import CONTENT_RATIO

        if not self.uses_disk(setting):
            return None
        mode = setting.own["mode"]
        kept = 1 + CONTENT_RATIO * (planned.generated and mode == Mode.TMP)
        reason = f"mode is {mode}; an archive of {planned.size_bytes} bytes"
        return disk_refusal(reason, round(planned.size_bytes * kept), storage_mb)

    def generate(self, size_bytes: int) -> Generated:
        """An archive, with its contents in its metadata."""
        from bucketsum_lab.workloads.unzip.generated_archive import GeneratedArchive

        archive = GeneratedArchive(size_bytes)
        contents = asdict(archive.contents)
        return Generated(
            archive.chunks,
            {_metadata_name(name): str(value) for name, value in contents.items()},
        )

    def contents(self, key: str, metadata: Mapping[str, str]) -> Mapping[str, Value] | None:
        """All of `ArchiveContents` for a generated archive; otherwise those in its metadata."""
        from bucketsum_lab.workloads.unzip.generated_archive import ArchiveContents

        contents = {
            field.name: text if field.name == "members_sha1" else _count(key, field.name, metadata)
            for field in fields(ArchiveContents)
            if (text := metadata.get(_metadata_name(field.name)))
        }
        return contents or None

    def probe(self, event: ProbeEvent, context: ProbeContext) -> ProbeAnswer:
        """Read the archive and its members, and compare them with the known contents."""
        from bucketsum_lab.workloads.unzip.probe import probe

        return probe(event, context)

    def statistics(self, samples: Sequence[Sample]) -> UnzipStatistics | None:
        """The archive's contents: equal in all good samples, because the prober checks them."""
        return UnzipStatistics.of_values(samples[0].own) if samples else None

    def is_deployable(self, setting: Setting) -> bool:
        """Whether the template has the mode, with the default engine and number of threads."""
        own = setting.own
        return own["mode"] in (Mode.STREAM, Mode.TMP) and all(
            own.get(parameter.name, parameter.default_value) == parameter.default_value
            for parameter in (INFLATE, THREADS)
        )

    def deployed_variant(self, parameters: Mapping[str, str]) -> Variant:
        """The deployed mode, with the hasher's first engine and its number of threads."""
        defaults = ((parameter, parameter.default_value) for parameter in (INFLATE, THREADS))
        return self.effective(((MODE, parameters["ArchiveMode"]), *defaults))

    def template_parameters(self, setting: Setting, storage_mb: int) -> Mapping[str, Value]:
        """The mode, and the /tmp that it was measured with if it uses one."""
        mode = setting.own["mode"]
        storage = {"EphemeralStorageSize": storage_mb} if mode == Mode.TMP else {}
        return {"ArchiveMode": mode, **storage}


def _count(key: str, field: str, metadata: Mapping[str, str]) -> int:
    name = _metadata_name(field)
    count = whole_in(metadata, name)
    if count is None:
        raise BadSweep(f"{key!r} has {name}={metadata[name]!r} in its metadata, not a whole number")
    return count


def _metadata_name(name: str) -> str:
    """S3 sends metadata as headers, in which some proxies drop names with ``_``."""
    return name.replace("_", "-")
