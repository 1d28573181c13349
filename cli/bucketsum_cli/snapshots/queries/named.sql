-- The ten largest and the ten newest of the versions that exist, and the fifteen last that are gone.
WITH named AS (
  SELECT bucket, key, version, size_bytes, created_at, state, deleted_at, deleted_by, present
  FROM versions
)
SELECT * FROM (
  SELECT * FROM (
    SELECT 'largest' AS list, * FROM named
    WHERE present AND size_bytes IS NOT NULL ORDER BY size_bytes DESC, bucket, key, version LIMIT 10
  ) largest
  UNION ALL
  SELECT * FROM (
    SELECT 'newest' AS list, * FROM named
    WHERE present AND created_at IS NOT NULL ORDER BY created_at DESC, bucket, key, version LIMIT 10
  ) newest
  UNION ALL
  SELECT * FROM (
    SELECT 'gone' AS list, * FROM named WHERE state IN ('lost', 'deleted')
    ORDER BY state DESC, deleted_at DESC, bucket, key, version LIMIT 15
  ) gone
) lists
ORDER BY list, CASE list WHEN 'largest' THEN size_bytes END DESC,
  CASE list WHEN 'newest' THEN created_at END DESC, CASE list WHEN 'gone' THEN state END DESC,
  deleted_at DESC, bucket, key, version
