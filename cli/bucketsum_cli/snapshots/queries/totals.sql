-- Versions that exist, their bytes and the price of these, by bucket, storage class and status; what
-- S3 lists and no row has is `not recorded`.
SELECT v.bucket, v.storage_class, v.status, count(*) AS objects,
  CAST(coalesce(sum(v.size_bytes), 0) AS BIGINT) AS size_bytes,
  coalesce(sum(v.size_bytes * coalesce(p.usd_per_byte_month, s.usd_per_byte_month)), 0)
    AS usd_per_month,
  max(v.created_at) AS newest_at
FROM (
  SELECT bucket, status, storage_class, size_bytes, created_at FROM objects WHERE present
  UNION ALL
  SELECT l.bucket, 'not recorded', l.storage_class, l.size_bytes, l.created_at
  FROM listing l LEFT JOIN objects o
    ON o.bucket = l.bucket AND o.key = l.key AND o.version = l.version AND o.present
  WHERE o.key IS NULL
) v
LEFT JOIN storage_prices p ON p.storage_class = v.storage_class
JOIN storage_prices s ON s.storage_class = 'STANDARD'
GROUP BY v.bucket, v.storage_class, v.status
ORDER BY v.bucket, v.storage_class, v.status
