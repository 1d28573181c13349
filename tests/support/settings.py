"""Settings of a hasher that needs no environment, and the environment of all functions."""

from typing import Final

from bucketsum.s3.read_plan import ReadPolicy
from bucketsum.settings import Settings

SETTINGS: Final = Settings(
    digests_table="digests",
    arrivals_queue_url="arrivals",
    dead_letter_queue_url="dead-letters",
    max_receives=5,
    chunk_bytes=65_536,
    extra_algorithms=(),
    memory_mb=512,
    read_policy=ReadPolicy(None, 65_536, 512),
    threads=4,
)

VARIABLES: Final = {
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
    "DIGESTS_TABLE": "table",
    "BACKFILLS_TABLE": "backfills",
    "ARRIVALS_QUEUE_URL": "https://queue",
    "DEAD_LETTER_QUEUE_URL": "https://queue",
    "LONG_OBJECTS_QUEUE_URL": "https://queue",
    "BACKFILL_QUEUE_URL": "https://queue",
    "BACKFILL_CONCURRENCY": "2",
    "MAX_RECEIVES": "5",
    "DELETED_ROW_DAYS": "0",
    "CHUNK_BYTES": "1048576",
    "STREAMS": "auto",
    # and the sweep's:
    "AWS_REGION": "us-east-1",
    "MEASUREMENTS_TABLE": "table",
    "SWEEP_BUCKET": "bucket",
    "PROBER_STORAGE_MB": "512",
    "DEPLOYED_PARAMETERS": "{}",
    "ARCHITECTURE": "arm64",
    "PROBER_FUNCTION": "prober",
    "PROBER_MEMORY_MB": "512",
    "PROBER_DESCRIPTION": "what the template says",
}
"""What the functions need to start."""
