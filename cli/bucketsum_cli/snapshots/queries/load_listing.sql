-- Files of `listing.py` → the table `listing`; a version that several of them have is there once. No
-- object has more than 50 TiB.
INSERT INTO listing
SELECT bucket, key, version, max(latest) AS latest,
  max(CASE WHEN size_bytes BETWEEN 0 AND 54975581388800 THEN size_bytes END) AS size_bytes,
  max(etag) AS etag, max(created_at) AS created_at, max(storage_class) AS storage_class
FROM <listed>
GROUP BY bucket, key, version;
