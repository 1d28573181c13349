-- The current objects of a bucket as a side of a comparison; names are relative to the prefix.
-- question: bucket, prefix, pattern (as in names.sql; of names that do not match, nothing is asked).
SELECT substr(c.key, length(q.prefix) + 1) AS name, c.size_bytes,
  CASE WHEN q.pattern <> ''
      AND coalesce(regexp_extract(substr(c.key, length(q.prefix) + 1), q.pattern), '') = ''
    THEN 'left out' ELSE c.state END AS status, c.reason AS detail,
  {CASE WHEN c.state = 'hashed' THEN c.@ END AS @, ...}
FROM question q JOIN current_objects c
  ON c.bucket = q.bucket AND starts_with(c.key, q.prefix)
