-- Where the digests in `wanted` are: objects and members of archives, deleted ones too.
-- wanted: place, name, digest, and the digests of an entry: those that a content has must agree.
-- question: bucket.
SELECT w.place, w.name, w.digest, f.bucket, f.key, f.member, f.version, f.size_bytes, f.created_at,
  f.state, f.deleted_at
FROM question q CROSS JOIN wanted w
LEFT JOIN (
  {SELECT w.place, '@' AS algorithm, c.* FROM wanted w JOIN contents c ON c.@ = w.@ UNION ALL ...}
) f ON f.place = w.place AND f.status = 'hashed' AND q.bucket IN ('', f.bucket)
  AND f.algorithm = CASE {WHEN f.@ = w.@ THEN '@' ...} END
  AND NOT coalesce({f.@ <> w.@ OR ...}, FALSE)
ORDER BY w.place, f.bucket, f.key, f.version, f.member
