-- Every version that a snapshot has a row, a listing's entry or a deletion of, once, with its state.
-- question: bucket, prefix, until (empty, or a time: what was recorded since then is not known).
WITH candidates AS (
  SELECT CASE WHEN v.present THEN 1 ELSE 2 END AS place, v.bucket, v.key, v.version, v.state,
    v.status, {v.@, ...}, v.size_bytes, v.etag, v.sequencer, v.created_at, v.recorded_at,
    v.verified_at, v.differs_at, v.unreadable_at, v.deleted_at, v.latest
  FROM versions v
  UNION ALL
  SELECT 3, d.bucket, d.key, d.version, 'deleted', 'not recorded', {NULL AS @, ...}, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, d.deleted_at, NULL
  FROM deletions d WHERE d.status = 'not_hashed'
), known AS (
  SELECT c.*, CAST(nullif(q.until, '') AS TIMESTAMP) AS until,
    row_number() OVER (PARTITION BY c.bucket, c.key, c.version ORDER BY c.place) AS number
  FROM question q JOIN candidates c ON q.bucket IN ('', c.bucket) AND starts_with(c.key, q.prefix)
)
SELECT bucket, key, version, size_bytes, etag, sequencer, created_at, latest,
  {CASE WHEN coalesce(recorded_at < until, true) THEN @ END AS @, ...},
  CASE WHEN coalesce(verified_at < until, true) THEN verified_at END AS verified_at,
  CASE WHEN until IS NULL THEN state WHEN recorded_at >= until THEN 'not recorded'
    WHEN state = 'lost' OR coalesce(deleted_at >= until, false) OR coalesce(verified_at >= until, false)
      OR coalesce(differs_at >= until, false) OR coalesce(unreadable_at >= until, false) THEN status
    ELSE state END AS state
FROM known
WHERE number = 1 AND coalesce(created_at < until, true)
