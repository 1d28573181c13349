-- The views of a snapshot, which docs/how-to/ask-questions.md describes: their columns are its interface.
CREATE VIEW objects AS
SELECT o.bucket, o.key, o.version, o.status, o.reason, {o.@, ...},
  o.size_bytes, o.etag, o.created_at, o.recorded_at, o.deleted_at, o.deleted_by, o.expires_at,
  o.verified_at, o.verifications, o.differing_digest, o.differs_at,
  o.deleted_at IS NULL AND (l.key IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM listed WHERE listed.bucket = o.bucket AND starts_with(o.key, listed.prefix)
  )) AS present, l.latest, l.storage_class, o.sequencer, o.duration_ms, o.mb_per_s, o.chunk_bytes,
  o.streams, o.memory_mb, o.remarks, o.archive_status, o.archive_mode, o.archive_reason,
  o.member_count, o.members_unreadable, o.directory_count, o.member_bytes, o.ratio
FROM items o LEFT JOIN listing l
  ON l.bucket = o.bucket AND l.key = o.key AND l.version = o.version AND o.deleted_at IS NULL
  AND coalesce(o.etag, l.etag) = l.etag
WHERE o.kind = 'object';

CREATE VIEW members AS
SELECT m.bucket, m.key, m.version, m.member, m.status, m.reason, {m.@, ...},
  m.size_bytes, m.method, m.compressed_bytes, m.recorded_at, m.remarks,
  CASE WHEN m.sequencer = a.sequencer THEN a.deleted_at END AS deleted_at
FROM items m JOIN items a
  ON a.bucket = m.bucket AND a.key = m.key AND a.version = m.version AND a.kind = 'object'
WHERE m.kind = 'member';

CREATE VIEW deletions AS
SELECT bucket, key, version, deleted_at, deleted_by, expires_at, deletion_sequencer AS sequencer,
  status, sha1
FROM items WHERE kind IN ('object', 'tombstone') AND deletion_sequencer IS NOT NULL;

CREATE VIEW current_objects AS
SELECT bucket, key, version, status, reason, {@, ...}, size_bytes, etag,
  storage_class, created_at, recorded_at, verified_at, differing_digest
FROM (
  SELECT *, latest IS NOT NULL OR row_number() OVER (
    PARTITION BY bucket, key ORDER BY coalesce(sequencer, '') DESC, created_at DESC,
      version DESC
  ) = 1 AS is_newest
  FROM objects WHERE present AND coalesce(latest, true)
) candidates
WHERE is_newest
UNION ALL
SELECT l.bucket, l.key, l.version, 'not recorded', NULL, {NULL AS @, ...},
  l.size_bytes, l.etag, l.storage_class, l.created_at, NULL, NULL, NULL
FROM listing l
WHERE l.latest AND NOT EXISTS (
  SELECT 1 FROM items o WHERE o.kind = 'object' AND o.bucket = l.bucket AND o.key = l.key
    AND o.version = l.version AND o.deleted_at IS NULL AND coalesce(o.etag, l.etag) = l.etag);

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
