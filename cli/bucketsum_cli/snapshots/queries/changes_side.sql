-- Every version that a snapshot has a row, a listing's entry or a deletion of, once, with its state.
-- question: bucket, prefix, until (empty, or a time: what was recorded since then is not known).
WITH candidates AS (
  SELECT 1 AS place, o.bucket, o.key, o.version, o.status, {o.@, ...}, o.size_bytes, o.etag,
    o.sequencer, o.created_at, o.recorded_at, o.verified_at, o.differing_digest, o.differs_at,
    o.deleted_at, o.latest, o.present
  FROM objects o WHERE o.present
  UNION ALL
  SELECT 2, l.bucket, l.key, l.version, 'not recorded', {NULL AS @, ...}, l.size_bytes, l.etag,
    NULL, l.created_at, NULL, NULL, NULL, NULL, NULL, l.latest, true
  FROM listing l
  UNION ALL
  SELECT 3, o.bucket, o.key, o.version, o.status, {o.@, ...}, o.size_bytes, o.etag,
    o.sequencer, o.created_at, o.recorded_at, o.verified_at, o.differing_digest, o.differs_at,
    o.deleted_at, o.latest, false
  FROM objects o WHERE NOT o.present
  UNION ALL
  SELECT 4, d.bucket, d.key, d.version, 'not recorded', {NULL AS @, ...}, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, d.deleted_at, NULL, false
  FROM deletions d WHERE d.status = 'not_hashed'
), known AS (
  SELECT c.*, CASE WHEN q.until <> '' THEN CAST(q.until AS TIMESTAMP) ELSE TIMESTAMP '9999-12-31' END
      AS until, q.until <> '' AS is_past,
    row_number() OVER (PARTITION BY c.bucket, c.key, c.version ORDER BY c.place) AS number
  FROM question q JOIN candidates c ON q.bucket IN ('', c.bucket) AND starts_with(c.key, q.prefix)
), past AS (
  SELECT bucket, key, version, size_bytes, etag, sequencer, created_at, latest,
    CASE WHEN is_past AND recorded_at >= until THEN 'not recorded' ELSE status END AS status,
    {CASE WHEN NOT is_past OR recorded_at < until THEN @ END AS @, ...},
    CASE WHEN verified_at < until THEN verified_at END AS verified_at,
    differing_digest IS NOT NULL AND coalesce(differs_at < until, true)
      AND coalesce(differs_at > verified_at, true) AS is_other,
    coalesce(deleted_at < until, false) AS is_deleted, present OR is_past AS is_there
  FROM known
  WHERE number = 1 AND coalesce(created_at < until, true)
)
SELECT bucket, key, version, size_bytes, etag, sequencer, created_at, latest, {@, ...}, verified_at,
  CASE WHEN status = 'damaged' THEN status WHEN is_deleted THEN 'deleted'
    WHEN NOT is_there THEN 'lost' WHEN is_other THEN 'differs' ELSE status END AS state
FROM past
