-- What changed from left_side to right_side (of changes_side.sql), by folder of the first level.
-- A new version has other content than the left side's current one of its key, or is not a change.
-- question: since (when the left side was read), rows.
WITH kept AS (
  SELECT *, row_number() OVER (PARTITION BY bucket, key
    ORDER BY CASE WHEN latest THEN 0 ELSE 1 END, created_at DESC, sequencer DESC, version) AS place
  FROM left_side WHERE state NOT IN ('deleted', 'lost')
), now AS (
  SELECT *, max(CASE WHEN latest THEN 1 WHEN NOT latest THEN 0 END)
    OVER (PARTITION BY bucket, key) AS has_latest
  FROM right_side
), pairs AS (
  SELECT coalesce(r.bucket, l.bucket) AS bucket, coalesce(r.key, l.key) AS key,
    coalesce(r.version, l.version) AS version, coalesce(r.size_bytes, l.size_bytes) AS size_bytes,
    coalesce(l.state NOT IN ('deleted', 'lost'), false) AS was,
    coalesce(r.state, 'lost') NOT IN ('deleted', 'lost') AS is_there,
    r.version <> 'null' OR coalesce(l.etag = r.etag, l.sequencer = r.sequencer, true) AS is_same,
    l.state AS before, coalesce(r.state, 'lost') AS state,
    r.key IS NULL AS is_forgotten, l.verified_at AS verified_before, r.verified_at, r.created_at,
    l.latest AND NOT r.latest AND r.has_latest = 0 AS is_hidden,
    {l.@ <> r.@ OR ...} AS is_other_digest,
    coalesce({l.@, ...}) AS digest_before, coalesce({r.@, ...}) AS digest, {c.@ <> r.@ OR ...} AS is_other,
    {c.@ = r.@ OR ...} AS is_equal, c.etag = r.etag AND c.size_bytes = r.size_bytes AS is_like,
    c.key IS NOT NULL AS had_key
  FROM now r
  FULL OUTER JOIN left_side l
    ON l.bucket = r.bucket AND l.key = r.key AND l.version = r.version
  LEFT JOIN kept c ON c.bucket = r.bucket AND c.key = r.key AND c.place = 1
), changes AS (
  SELECT bucket, key, version, size_bytes,
    CASE WHEN state = 'lost' AND is_forgotten THEN 'its row is gone, and no deletion is recorded'
      WHEN state = 'lost' THEN 'S3 does not list it, and no deletion is recorded'
      WHEN state <> 'differs' AND is_other_digest THEN 'another digest is recorded'
      WHEN digest IS NULL AND digest_before IS NOT NULL THEN 'it had a digest' END AS reason,
    CASE
      WHEN NOT is_there THEN CASE
        WHEN was OR (state = 'lost' AND NOT is_forgotten AND coalesce(before, '') <> 'lost')
          THEN state END
      WHEN state IN ('differs', 'repaired', 'unreadable', 'damaged')
        AND coalesce(before, '') <> state THEN state
      WHEN was AND is_same THEN CASE
        WHEN coalesce(is_other_digest, false) THEN 'differs'
        WHEN digest IS NULL AND digest_before IS NOT NULL THEN state
        WHEN is_hidden THEN 'hidden'
        WHEN digest IS NOT NULL AND digest_before IS NULL THEN 'recorded'
        WHEN verified_at > coalesce(verified_before, TIMESTAMP '1970-01-01') THEN 'verified' END
      WHEN had_key THEN CASE WHEN coalesce(is_other, false) THEN 'overwritten'
        WHEN NOT coalesce(is_equal, is_like, false) THEN 'overwritten' END
      WHEN created_at < CAST(since AS TIMESTAMP) AND NOT EXISTS (SELECT 1 FROM left_listed t
        WHERE t.bucket = p.bucket AND starts_with(p.key, t.prefix)) THEN 'recorded'
      ELSE 'added' END AS change
  FROM pairs p CROSS JOIN (SELECT since FROM question) q
), numbered AS (
  SELECT *, count(*) OVER part AS objects, CAST(sum(size_bytes) OVER part AS BIGINT) AS all_bytes,
    row_number() OVER (PARTITION BY change, bucket, folder ORDER BY key, version) AS place
  FROM (
    SELECT *, CASE WHEN strpos(key, '/') > 0 THEN substr(key, 1, strpos(key, '/')) ELSE '' END
      AS folder
    FROM changes WHERE change IS NOT NULL
  ) placed
  WINDOW part AS (PARTITION BY change, bucket, folder)
)
SELECT n.bucket, n.folder, n.change, n.objects, n.all_bytes AS size_bytes, n.key, n.version,
  n.reason
FROM numbered n JOIN question q ON n.place <= q.rows
ORDER BY n.bucket, n.folder, n.change, n.key, n.version
