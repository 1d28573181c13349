-- What differs, what has no digest, and rows without an object, by state and reason: the most
-- frequent reasons of each state.
-- question: reasons.
WITH problems AS (
  SELECT CASE WHEN differing_digest IS NULL THEN status ELSE 'differs' END AS state,
    CASE WHEN differing_digest IS NULL THEN reason ELSE 'read twice with another digest' END
      AS reason, bucket, key, size_bytes,
    coalesce(differs_at, recorded_at) AS seen_at
  FROM objects WHERE present AND (status <> 'hashed' OR differing_digest IS NOT NULL)
  UNION ALL
  SELECT 'not recorded', NULL, l.bucket, l.key, l.size_bytes, l.created_at
  FROM listing l LEFT JOIN objects o
    ON o.bucket = l.bucket AND o.key = l.key AND o.version = l.version AND o.present
  WHERE o.key IS NULL
  UNION ALL
  SELECT 'unreadable member', reason, bucket, key, size_bytes, recorded_at
  FROM members WHERE status <> 'hashed' AND deleted_at IS NULL
  UNION ALL
  SELECT 'no object', NULL, bucket, key, size_bytes, recorded_at
  FROM objects WHERE deleted_at IS NULL AND NOT present
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
ORDER BY CASE state WHEN 'differs' THEN 1 WHEN 'no object' THEN 3 ELSE 2 END, state, place
