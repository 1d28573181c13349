-- Versions that exist, their bytes and the price of these, by bucket, storage class and state; what
-- S3 lists and no row has is `not recorded`.
SELECT v.bucket, v.storage_class, v.state, count(*) AS objects,
  CAST(coalesce(sum(v.size_bytes), 0) AS BIGINT) AS size_bytes,
  coalesce(sum(v.size_bytes * coalesce(p.usd_per_byte_month, s.usd_per_byte_month)), 0)
    AS usd_per_month,
  max(v.created_at) AS newest_at
FROM versions v
LEFT JOIN storage_prices p ON p.storage_class = v.storage_class
JOIN storage_prices s ON s.storage_class = 'STANDARD'
WHERE v.present
GROUP BY v.bucket, v.storage_class, v.state
ORDER BY v.bucket, v.storage_class, v.state
