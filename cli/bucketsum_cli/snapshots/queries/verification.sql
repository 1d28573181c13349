-- Objects with a digest, by the days since they were last read again, and their digests compared.
-- question: day (YYYY-MM-DD).
SELECT CASE WHEN v.days IS NULL THEN 'never' WHEN v.days <= 30 THEN 'in the last 30 days'
    WHEN v.days <= 90 THEN '31 to 90 days ago' WHEN v.days <= 365 THEN '91 to 365 days ago'
    ELSE 'longer ago' END AS verified,
  count(*) AS objects, CAST(coalesce(sum(v.size_bytes), 0) AS BIGINT) AS size_bytes,
  min(v.verified_at) AS oldest_at, max(v.verified_at) AS newest_at
FROM (
  SELECT r.size_bytes, r.verified_at,
    date_diff('day', CAST(r.verified_at AS DATE), CAST(q.day AS DATE)) AS days
  FROM question q CROSS JOIN (
    SELECT size_bytes, CASE WHEN state IN ('differs', 'repaired') THEN coalesce(differs_at, verified_at)
      ELSE verified_at END AS verified_at
    FROM objects WHERE sha1 IS NOT NULL AND present
  ) r
) v
GROUP BY 1
ORDER BY min(v.days)
