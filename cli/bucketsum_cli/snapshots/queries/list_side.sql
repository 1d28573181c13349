-- A list as a side of a comparison: each name once; lines of it that contradict each other differ.
SELECT name, max(size_bytes) AS size_bytes,
  CASE WHEN {count(DISTINCT @) > 1 OR ...} OR count(DISTINCT size_bytes) > 1 THEN 'contradiction'
    ELSE min(status) END AS status,
  CASE WHEN {count(DISTINCT @) > 1 OR ...} OR count(DISTINCT size_bytes) > 1
    THEN 'the list has ' || CAST(count(*) AS VARCHAR) || ' different lines of it' ELSE min(detail) END AS detail,
  {max(@) AS @, ...}
FROM lines WHERE name IS NOT NULL GROUP BY name
UNION ALL
SELECT name, size_bytes, status, detail, {@, ...} FROM lines WHERE name IS NULL
