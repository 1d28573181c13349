-- Where the digests in `wanted` are: objects and members of archives, deleted ones too.
-- wanted: place, name, digest, and sha1 … crc32 of an entry: those that a content has must agree.
-- question: bucket.
WITH contents AS (
  SELECT bucket, key, CAST(NULL AS VARCHAR) AS member, version, size_bytes, created_at, deleted_at,
    sha1, sha256, sha512, md5, crc32
  FROM objects WHERE status = 'hashed'
  UNION ALL
  SELECT bucket, key, member, version, size_bytes, NULL, deleted_at, sha1, sha256, sha512, md5, crc32
  FROM members WHERE status = 'hashed'
), found AS (
  SELECT w.place, c.* FROM wanted w JOIN contents c ON c.sha1 = w.digest
  UNION ALL SELECT w.place, c.* FROM wanted w JOIN contents c ON c.sha256 = w.digest
  UNION ALL SELECT w.place, c.* FROM wanted w JOIN contents c ON c.sha512 = w.digest
  UNION ALL SELECT w.place, c.* FROM wanted w JOIN contents c ON c.md5 = w.digest
  UNION ALL SELECT w.place, c.* FROM wanted w JOIN contents c ON c.crc32 = w.digest
)
SELECT w.place, w.name, w.digest, f.bucket, f.key, f.member, f.version, f.size_bytes, f.created_at,
  f.deleted_at
FROM question q CROSS JOIN wanted w
LEFT JOIN found f ON f.place = w.place AND q.bucket IN ('', f.bucket)
  AND NOT coalesce(f.sha1 <> w.sha1 OR f.sha256 <> w.sha256 OR f.sha512 <> w.sha512
    OR f.md5 <> w.md5 OR f.crc32 <> w.crc32, FALSE)
ORDER BY w.place, f.bucket, f.key, f.version, f.member
