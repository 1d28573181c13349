-- What differs, what has no digest, and rows without an object, by state and reason: the most
-- frequent reasons of each state.
-- question: reasons.
WITH problems AS (
  SELECT state, reason, bucket, key, size_bytes,
    coalesce(differs_at, unreadable_at, recorded_at, created_at) AS seen_at
  FROM versions
  WHERE state NOT IN ('hashed', 'deleted') AND (present OR state IN ('lost', 'damaged'))
  UNION ALL
  SELECT 'unreadable member', reason, bucket, key, size_bytes, recorded_at
  FROM members WHERE status <> 'hashed' AND deleted_at IS NULL
  UNION ALL
  SELECT 'deleted', NULL, bucket, key, size_bytes, deleted_at
  FROM versions WHERE state = 'deleted'
), counted AS (
  SELECT state, reason, count(*) AS objects, CAST(coalesce(sum(size_bytes), 0) AS BIGINT) AS size_bytes,
    max(seen_at) AS newest_at, min('s3://' || bucket || '/' || key) AS first_key
  FROM problems GROUP BY state, reason
), ranked AS (
  SELECT *, CAST(sum(objects) OVER (PARTITION BY state) AS BIGINT) AS state_objects,
    row_number() OVER (PARTITION BY state ORDER BY objects DESC, reason) AS place
  FROM counted
)
SELECT state, reason, objects, size_bytes, newest_at, first_key, state_objects
FROM question q JOIN ranked r ON r.place <= q.reasons
ORDER BY CASE state WHEN 'differs' THEN 1 WHEN 'lost' THEN 2
  WHEN 'repaired' THEN 4 WHEN 'archived' THEN 4 WHEN 'deleted' THEN 5 ELSE 3 END, state, place
