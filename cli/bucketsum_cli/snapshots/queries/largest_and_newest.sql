-- The ten largest and the ten newest of the versions that exist.
WITH versions AS (
  SELECT bucket, key, version, size_bytes, created_at, status FROM objects WHERE present
  UNION ALL
  SELECT l.bucket, l.key, l.version, l.size_bytes, l.created_at, 'not recorded'
  FROM listing l LEFT JOIN objects o
    ON o.bucket = l.bucket AND o.key = l.key AND o.version = l.version AND o.present
  WHERE o.key IS NULL
)
SELECT * FROM (
  SELECT 'largest' AS list, * FROM versions
  WHERE size_bytes IS NOT NULL ORDER BY size_bytes DESC, bucket, key, version LIMIT 10
) largest
UNION ALL
SELECT * FROM (
  SELECT 'newest' AS list, * FROM versions
  WHERE created_at IS NOT NULL ORDER BY created_at DESC, bucket, key, version LIMIT 10
) newest
