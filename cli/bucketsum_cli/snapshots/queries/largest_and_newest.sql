-- The ten largest and the ten newest of the versions that exist.
WITH existing AS (
  SELECT bucket, key, version, size_bytes, created_at, state FROM versions WHERE present
)
SELECT * FROM (
  SELECT 'largest' AS list, * FROM existing
  WHERE size_bytes IS NOT NULL ORDER BY size_bytes DESC, bucket, key, version LIMIT 10
) largest
UNION ALL
SELECT * FROM (
  SELECT 'newest' AS list, * FROM existing
  WHERE created_at IS NOT NULL ORDER BY created_at DESC, bucket, key, version LIMIT 10
) newest
