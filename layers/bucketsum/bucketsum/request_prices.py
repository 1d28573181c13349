"""Prices of requests in us-east-1; bench/cost/prices.py has their sources."""

from __future__ import annotations

from typing import Final

SQS_REQUEST: Final = 0.40e-6
"""Standard queue, up to 64 KB."""
S3_GET: Final = 0.40e-6
S3_LIST: Final = 5.00e-6
S3_PUT: Final = 5.00e-6
WRITE_UNIT: Final = 0.625e-6
"""DynamoDB, on demand, 1 KB."""
READ_UNIT: Final = 0.125e-6
"""DynamoDB, on demand, 4 KB, consistent; half of it if not."""
STATE_TRANSITION: Final = 25e-6
"""Step Functions, Standard."""
LOG_BYTE: Final = 0.50e-9
"""CloudWatch Logs, ingested."""
