-- The current objects with their digests, in any order, and members of archives.
-- question: bucket, prefix, with_members.
SELECT c.bucket, c.key, c.member, c.version, c.state, c.reason, {c.@, ...}, c.size_bytes, c.etag,
  c.created_at, c.recorded_at, c.s3_checksum, c.s3_checksum_result
FROM question q JOIN contents c
  ON c.bucket = q.bucket AND starts_with(c.key, q.prefix)
    AND (q.with_members OR c.member IS NULL)
WHERE c.is_current
