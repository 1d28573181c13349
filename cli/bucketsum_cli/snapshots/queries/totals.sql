-- Objects that exist, and their bytes, by bucket, status and storage class.
SELECT bucket, status, storage_class, count(*) AS objects,
  CAST(sum(size_bytes) AS BIGINT) AS size_bytes, min(created_at) AS oldest_created_at,
  max(created_at) AS newest_created_at, min(recorded_at) AS oldest_recorded_at
FROM objects WHERE present
GROUP BY bucket, status, storage_class
ORDER BY bucket, status, storage_class
