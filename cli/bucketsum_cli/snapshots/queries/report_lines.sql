-- Lines of a list with the names of a side: those of a report of S3 are relative to its prefix, and
-- a version that is not the current one has its own name. Of several buckets, the side's counts.
-- question: bucket, prefix.
SELECT CASE WHEN l.bucket IS NULL OR l.bucket = '' OR NOT o.has_own THEN l.name
    WHEN l.bucket <> q.bucket OR NOT starts_with(l.name, q.prefix)
      THEN 's3://' || l.bucket || '/' || l.name
    WHEN l.version IN ('', c.version) THEN substr(l.name, length(q.prefix) + 1)
    ELSE substr(l.name, length(q.prefix) + 1) || '?versionId=' || l.version END AS name,
  l.size_bytes,
  CASE WHEN o.has_own AND (l.bucket <> q.bucket OR NOT starts_with(l.name, q.prefix))
    THEN 'left out' ELSE l.status END AS status,
  CASE WHEN o.has_own AND l.bucket <> q.bucket THEN 'of another bucket'
    WHEN o.has_own AND NOT starts_with(l.name, q.prefix) THEN 'not below the prefix'
    ELSE l.detail END AS detail,
  l.bucket, l.version, {l.@, ...}
FROM lines l CROSS JOIN question q
CROSS JOIN (
  SELECT coalesce(bool_or(s.bucket = p.bucket), FALSE) AS has_own FROM lines s CROSS JOIN question p
) o
LEFT JOIN current_objects c ON c.bucket = q.bucket AND c.key = l.name AND l.bucket = q.bucket
