-- The digests in the names of a bucket's current objects, where a name has one.
-- question: bucket, prefix, pattern (a regular expression), algorithm.
SELECT name, CAST(NULL AS BIGINT) AS size_bytes, 'hashed' AS status, CAST(NULL AS VARCHAR) AS detail,
  {CASE algorithm WHEN '@' THEN digest END AS @, ...}
FROM (
  SELECT substr(c.key, length(q.prefix) + 1) AS name, q.algorithm,
    lower(replace(regexp_extract(substr(c.key, length(q.prefix) + 1), q.pattern, 1), '/', ''))
      AS digest
  FROM question q JOIN current_objects c
    ON c.bucket = q.bucket AND starts_with(c.key, q.prefix)
) names
WHERE digest <> ''
