-- Members of current archives that a list names as KEY!/PATH: as listed_side.sql.
-- An object of this name comes first.
SELECT v.name, v.size_bytes, v.status, v.detail, {v.@, ...}
FROM (
  SELECT substr(m.key, length(q.prefix) + 1) || '!/' || m.member AS name, m.size_bytes,
    m.state AS status, coalesce(c.reason, m.reason) AS detail,
    {CASE WHEN m.state = 'hashed' THEN m.@ END AS @, ...}
  FROM question q JOIN members m ON m.bucket = q.bucket AND starts_with(m.key, q.prefix)
  JOIN current_objects c ON c.bucket = m.bucket AND c.key = m.key AND c.version = m.version
) v WHERE v.name IN (SELECT name FROM lines) AND NOT EXISTS (
  SELECT 1 FROM question q JOIN current_objects c ON c.bucket = q.bucket
  WHERE c.key = q.prefix || v.name)
