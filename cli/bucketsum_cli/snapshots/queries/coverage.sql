-- What S3 has and what is recorded of it, by folder of the first level, storage class and reason.
-- question: bucket, prefix.
WITH wanted AS (
  SELECT l.bucket, l.key, l.size_bytes, l.storage_class, coalesce(o.status, 'not recorded') AS state,
    CASE WHEN o.status <> 'hashed' THEN o.reason END AS reason,
    CASE WHEN o.status = 'hashed' THEN coalesce(o.verified_at, o.recorded_at) END AS verified_at
  FROM question q JOIN listing l
    ON q.bucket IN ('', l.bucket) AND starts_with(l.key, q.prefix)
  LEFT JOIN objects o
    ON o.bucket = l.bucket AND o.key = l.key AND o.version = l.version AND o.present
  UNION ALL
  SELECT o.bucket, o.key, o.size_bytes, NULL, 'no object', NULL, NULL
  FROM question q JOIN objects o
    ON q.bucket IN ('', o.bucket) AND starts_with(o.key, q.prefix)
  WHERE o.deleted_at IS NULL AND NOT o.present
)
SELECT bucket,
  CASE WHEN strpos(key, '/') > 0 THEN substr(key, 1, strpos(key, '/')) ELSE '' END AS folder,
  storage_class, state, reason, count(*) AS objects, CAST(sum(size_bytes) AS BIGINT) AS size_bytes,
  min(verified_at) AS oldest_verified_at, min(key) AS first_key
FROM wanted
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, CASE state WHEN 'hashed' THEN 1 ELSE 0 END, 4, 5, 3
