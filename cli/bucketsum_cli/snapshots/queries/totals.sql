-- Versions that exist, their bytes and the price of these, by bucket, storage class and state; how many
-- have a digest, and agree with S3's own checksum; also rows without an object, which are not present.
SELECT v.bucket, v.storage_class, v.state, v.present, count(*) AS objects,
  CAST(coalesce(sum(v.size_bytes), 0) AS BIGINT) AS size_bytes,
  coalesce(sum(v.size_bytes * coalesce(p.usd_per_byte_month, s.usd_per_byte_month)), 0)
    AS usd_per_month,
  count(v.sha1) AS digests,
  count(CASE WHEN v.s3_checksum_result = 'equal' THEN 1 END) AS agreeing,
  count(CASE WHEN v.s3_checksum_result = 'differs' THEN 1 END) AS contradicted,
  max(v.created_at) AS newest_at
FROM versions v
LEFT JOIN storage_prices p ON p.storage_class = v.storage_class
JOIN storage_prices s ON s.storage_class = 'STANDARD'
WHERE v.present OR v.state IN ('lost', 'deleted')
GROUP BY v.bucket, v.storage_class, v.state, v.present
ORDER BY v.bucket, v.storage_class, v.state, v.present
