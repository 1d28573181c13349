-- States of the current objects; whether members of an archive are missing; whether there is a digest.
-- question: bucket, prefix, with_members.
SELECT c.state, q.with_members AND coalesce(c.archive_status <> 'read', false) AS is_partial,
  c.sha1 IS NOT NULL AS has_digest, count(*) AS objects
FROM question q JOIN current_objects c ON c.bucket = q.bucket AND starts_with(c.key, q.prefix)
GROUP BY 1, 2, 3
