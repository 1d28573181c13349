-- Versions that a report of S3 names, and that are not the current ones: as listed_side.sql.
SELECT v.name, v.size_bytes, v.status, v.detail, {v.@, ...}
FROM (
  SELECT substr(o.key, length(q.prefix) + 1) || '?versionId=' || o.version AS name, o.size_bytes,
    o.state AS status, o.reason AS detail, {CASE WHEN o.state = 'hashed' THEN o.@ END AS @, ...}
  FROM question q JOIN objects o ON o.bucket = q.bucket AND starts_with(o.key, q.prefix)
  WHERE o.present
) v WHERE v.name IN (SELECT name FROM lines)
