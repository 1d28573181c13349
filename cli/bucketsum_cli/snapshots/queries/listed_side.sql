-- As side.sql, if the other side is a list: objects that it cannot have are left out.
-- question: bucket, prefix, scope (payload or tags, if the list is a manifest of a bag).
SELECT s.name, s.size_bytes,
  CASE WHEN s.why IS NOT NULL AND n.name IS NULL THEN 'left out' ELSE s.status END AS status,
  CASE WHEN s.why IS NOT NULL AND n.name IS NULL THEN s.why ELSE s.detail END AS detail, {s.@, ...}
FROM (
  SELECT substr(c.key, length(q.prefix) + 1) AS name, c.size_bytes, c.state AS status, c.reason AS detail,
    CASE WHEN c.size_bytes = 0 AND (c.key = q.prefix OR substr(c.key, -1) = '/')
        THEN 'a folder marker'
      WHEN q.scope = 'payload' AND NOT starts_with(substr(c.key, length(q.prefix) + 1), 'data/')
        THEN 'a tag file of the bag'
      WHEN q.scope = 'tags' AND (starts_with(substr(c.key, length(q.prefix) + 1), 'data/')
        OR starts_with(substr(c.key, length(q.prefix) + 1), 'tagmanifest-'))
        THEN 'not of the tag manifest' END AS why, {CASE WHEN c.state = 'hashed' THEN c.@ END AS @, ...}
  FROM question q JOIN current_objects c ON c.bucket = q.bucket AND starts_with(c.key, q.prefix)
) s LEFT JOIN (SELECT DISTINCT name FROM lines) n ON n.name = s.name
