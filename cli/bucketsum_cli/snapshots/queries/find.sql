-- Where the digests in `wanted` are: objects and members of archives, deleted ones too.
-- wanted: place, name, digest, and the digests of an entry: those that a content has must agree.
-- question: bucket.
WITH contents AS (
  SELECT bucket, key, CAST(NULL AS VARCHAR) AS member, version, size_bytes, created_at, deleted_at,
    state, {@, ...}
  FROM objects WHERE status = 'hashed'
  UNION ALL
  SELECT bucket, key, member, version, size_bytes, NULL, deleted_at, state, {@, ...}
  FROM members WHERE status = 'hashed'
), found AS (
  SELECT DISTINCT * FROM (
  {SELECT w.place, c.* FROM wanted w JOIN contents c ON c.@ = coalesce(w.@, w.digest) UNION ALL ...}
  ) places
)
SELECT w.place, w.name, w.digest, f.bucket, f.key, f.member, f.version, f.size_bytes, f.created_at,
  f.state, f.deleted_at
FROM question q CROSS JOIN wanted w
LEFT JOIN found f ON f.place = w.place AND q.bucket IN ('', f.bucket)
  AND NOT coalesce({f.@ <> w.@ OR ...}, FALSE)
ORDER BY w.place, f.bucket, f.key, f.version, f.member
