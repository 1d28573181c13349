-- The tables beside `items` that a snapshot may have nothing for.
CREATE TABLE listed (bucket VARCHAR, prefix VARCHAR, until TIMESTAMP);
CREATE TABLE listing (
  bucket VARCHAR, key VARCHAR, version VARCHAR, latest BOOLEAN, size_bytes BIGINT, etag VARCHAR,
  created_at TIMESTAMP, storage_class VARCHAR
);
CREATE TABLE measurements (run_id VARCHAR, item VARCHAR, found MAP(VARCHAR, VARCHAR));
