-- The views of a snapshot, which docs/how-to/ask-questions.md describes: their columns are its interface.
CREATE VIEW objects AS
SELECT * FROM versions WHERE status <> 'not recorded';

CREATE VIEW current_objects AS
SELECT * FROM versions WHERE is_current;

CREATE VIEW contents AS
SELECT bucket, key, CAST(NULL AS VARCHAR) AS member, version, state, status, reason, {@, ...},
  size_bytes, etag, storage_class, created_at, recorded_at, deleted_at, is_current, s3_checksum,
  s3_checksum_result
FROM versions
UNION ALL
SELECT bucket, key, member, version, state, status, reason, {@, ...}, size_bytes, NULL, NULL, NULL,
  recorded_at, deleted_at, is_current, NULL, NULL
FROM members;

CREATE VIEW samples AS
SELECT run_id, found['cell_id'] AS cell_id, TRY_CAST(found['run'] AS BIGINT) AS repetition,
  TRY_CAST(found['invocation'] AS BIGINT) AS invocation, found['status'] AS status,
  TRY_CAST(found['at'] AS TIMESTAMP) AS measured_at, found['error'] AS error,
  TRY_CAST(found['size_bytes'] AS BIGINT) AS size_bytes, TRY_CAST(found['seconds'] AS DOUBLE) AS seconds,
  TRY_CAST(found['mb_per_s'] AS DOUBLE) AS mb_per_s,
  TRY_CAST(found['cpu_seconds'] AS DOUBLE) AS cpu_seconds,
  TRY_CAST(found['max_rss_bytes'] AS BIGINT) AS max_rss_bytes, TRY_CAST(found['cold'] AS BOOLEAN) AS cold,
  TRY_CAST(found['billed_ms'] AS DOUBLE) AS billed_ms, TRY_CAST(found['init_ms'] AS DOUBLE) AS init_ms,
  TRY_CAST(found['memory_mb'] AS BIGINT) AS memory_mb, CAST(to_json(found) AS VARCHAR) AS attributes
FROM measurements WHERE starts_with(item, 'sample#');

CREATE VIEW cells AS
SELECT run_id, found['cell_id'] AS cell_id, TRY_CAST(found['concurrency'] AS BIGINT) AS concurrency,
  TRY_CAST(found['object_bytes'] AS BIGINT) AS object_bytes, found['key'] AS key,
  TRY_CAST(found['memory_mb'] AS BIGINT) AS memory_mb, TRY_CAST(found['failed'] AS BIGINT) AS failed,
  found['cause'] AS cause, TRY_CAST(found['n'] AS BIGINT) AS warm_samples,
  TRY_CAST(found['n_cold'] AS BIGINT) AS cold_samples,
  TRY_CAST(found['mean_seconds'] AS DOUBLE) AS mean_seconds,
  TRY_CAST(found['mb_per_s'] AS DOUBLE) AS mb_per_s,
  TRY_CAST(found['cpu_seconds'] AS DOUBLE) AS cpu_seconds,
  TRY_CAST(found['billed_ms'] AS DOUBLE) AS billed_ms,
  TRY_CAST(found['usd_per_gb'] AS DOUBLE) AS usd_per_gb, TRY_CAST(found['best'] AS BOOLEAN) AS best,
  CAST(to_json(found) AS VARCHAR) AS attributes
FROM measurements WHERE starts_with(item, 'cell#');
