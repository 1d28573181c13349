-- Objects that were created on each day, and their bytes; deleted ones too.
-- question: since (YYYY-MM-DD).
SELECT CAST(CAST(o.created_at AS DATE) AS VARCHAR) AS day, count(*) AS objects,
  CAST(coalesce(sum(o.size_bytes), 0) AS BIGINT) AS size_bytes
FROM question q JOIN objects o ON o.created_at >= CAST(q.since AS TIMESTAMP)
GROUP BY 1
ORDER BY 1
