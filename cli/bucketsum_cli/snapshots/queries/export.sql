-- The current objects with their digests, sorted by key; members follow their archive.
-- question: bucket, prefix, with_members.
SELECT bucket, key, member, version, state, reason, {@, ...}, size_bytes, etag,
  created_at, recorded_at
FROM (
  SELECT c.bucket, c.key, CAST(NULL AS VARCHAR) AS member, c.version, c.state, c.reason, {c.@, ...},
    c.size_bytes, c.etag, c.created_at, c.recorded_at
  FROM question q JOIN current_objects c
    ON c.bucket = q.bucket AND starts_with(c.key, q.prefix)
  UNION ALL
  SELECT m.bucket, m.key, m.member, m.version, m.state, m.reason, {m.@, ...}, m.size_bytes,
    NULL, NULL, m.recorded_at
  FROM question q JOIN members m
    ON q.with_members AND m.bucket = q.bucket AND starts_with(m.key, q.prefix)
  JOIN current_objects c
    ON c.bucket = m.bucket AND c.key = m.key AND c.version = m.version
) contents
ORDER BY bucket, key, member NULLS FIRST
