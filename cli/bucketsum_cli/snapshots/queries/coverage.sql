-- What S3 has and what is recorded of it, by folder of the first level, storage class and state;
-- with the objects that are lost.
-- question: bucket, prefix.
SELECT v.bucket,
  CASE WHEN strpos(v.key, '/') > 0 THEN substr(v.key, 1, strpos(v.key, '/')) ELSE '' END AS folder,
  v.storage_class, v.state, CASE WHEN v.state <> 'hashed' THEN v.reason END AS reason,
  count(*) AS objects, CAST(sum(v.size_bytes) AS BIGINT) AS size_bytes,
  min(CASE WHEN v.state = 'hashed' THEN coalesce(v.verified_at, v.recorded_at) END)
    AS oldest_verified_at, min(v.key) AS first_key
FROM question q JOIN versions v
  ON q.bucket IN ('', v.bucket) AND starts_with(v.key, q.prefix)
WHERE v.latest IS NOT NULL OR v.state = 'lost' OR (v.state = 'damaged' AND NOT v.present)
GROUP BY 1, 2, 3, 4, 5
ORDER BY 1, 2, CASE v.state WHEN 'hashed' THEN 1 ELSE 0 END, 4, 5, 3
