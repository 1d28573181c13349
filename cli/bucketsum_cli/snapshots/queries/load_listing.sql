-- Files of `listing.py` → the table `listing`; a version that several of them have is there once.
INSERT INTO listing
SELECT bucket, key, version, max(latest), max(size_bytes), max(etag), max(created_at),
  max(storage_class)
FROM read_json($files, format = 'newline_delimited', records = 'true', columns = {
  bucket: 'VARCHAR', key: 'VARCHAR', version: 'VARCHAR', latest: 'BOOLEAN',
  size_bytes: 'BIGINT', etag: 'VARCHAR', created_at: 'TIMESTAMP', storage_class: 'VARCHAR'})
GROUP BY bucket, key, version;
