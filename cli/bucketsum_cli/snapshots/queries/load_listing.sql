-- Files of `listing.py` → the table `listing`; a version that several of them have is there once.
INSERT INTO listing
SELECT bucket, key, version, max(latest) AS latest, max(size_bytes) AS size_bytes, max(etag) AS etag,
  max(created_at) AS created_at, max(storage_class) AS storage_class
FROM <listed>
GROUP BY bucket, key, version;
