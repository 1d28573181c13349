-- Groups of equal content among the objects that exist: the groups that waste most, each with its
-- objects, a current one first, which is to stay. The stored bytes of a group without its most
-- expensive object are wasted. A member of an archive is a copy that wastes nothing by itself.
-- If no bucket is named, and some were listed, the others do not count.
-- question: bucket, prefix, least_bytes, with_members, groups.
WITH existing AS (
  SELECT c.bucket, c.key, c.member, c.version, c.sha1, c.size_bytes, c.storage_class,
    CASE WHEN c.member IS NULL THEN c.is_current END AS is_current,
    CASE WHEN c.member IS NULL
      THEN coalesce(p.usd_per_byte_month, s.usd_per_byte_month) * c.size_bytes END AS usd
  FROM question q JOIN contents c
    ON q.bucket IN ('', c.bucket) AND starts_with(c.key, q.prefix)
      AND c.size_bytes >= q.least_bytes AND (q.with_members OR c.member IS NULL)
  LEFT JOIN storage_prices p ON p.storage_class = c.storage_class
  JOIN storage_prices s ON s.storage_class = 'STANDARD'
  WHERE c.state = 'hashed' AND (q.bucket <> '' OR c.bucket IN (SELECT bucket FROM listed)
    OR NOT EXISTS (SELECT 1 FROM listed))
), grouped AS (
  SELECT sha1, size_bytes, count(*) AS copies,
    size_bytes * greatest(count(usd) - 1, 0) AS wasted_bytes,
    coalesce(sum(usd) - max(usd), 0) AS wasted_usd_per_month
  FROM existing GROUP BY sha1, size_bytes HAVING count(*) > 1
), ranked AS (
  SELECT sha1, size_bytes, copies, wasted_bytes, wasted_usd_per_month,
    row_number() OVER (ORDER BY wasted_bytes DESC, copies DESC, sha1) AS place,
    count(*) OVER () AS all_groups,
    CAST(sum(wasted_bytes) OVER () AS BIGINT) AS all_wasted_bytes,
    sum(wasted_usd_per_month) OVER () AS all_wasted_usd_per_month
  FROM grouped
)
SELECT r.place, r.sha1, r.size_bytes, r.copies, r.wasted_bytes, r.wasted_usd_per_month,
  r.all_groups, r.all_wasted_bytes, r.all_wasted_usd_per_month,
  c.bucket, c.key, c.member, c.version, c.storage_class
FROM question q JOIN ranked r ON r.place <= q.groups
JOIN existing c ON c.sha1 = r.sha1 AND c.size_bytes = r.size_bytes
ORDER BY r.place, c.is_current DESC NULLS LAST, c.usd DESC NULLS LAST, c.bucket, c.key, c.version,
  c.member
