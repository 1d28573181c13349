-- Files of `listing.py` → the table `listing`.
INSERT INTO listing SELECT * FROM read_json($files, format = 'newline_delimited', records = 'true',
  columns = {
  bucket: 'VARCHAR', key: 'VARCHAR', version: 'VARCHAR', latest: 'BOOLEAN',
  size_bytes: 'BIGINT', etag: 'VARCHAR', created_at: 'TIMESTAMP', storage_class: 'VARCHAR'});
