-- Two sides by name: left_side and right_side have name, size_bytes, status, digests, detail.
-- A pair is equal if all digests that both have are, and their sizes; sizes alone can only differ.
-- A line of a manifest that is not an entry has no name.
-- A content that only one side has at a name, and the other at another name, has moved.
WITH moved_by AS (
  SELECT CASE {WHEN l.@ * r.@ > 0 AND '@' <> 'crc32' THEN '@' ...} ELSE 'none' END AS algorithm
  FROM (SELECT {count(@) AS @, ...} FROM left_side) l
  CROSS JOIN (SELECT {count(@) AS @, ...} FROM right_side) r
), pairs AS (
  SELECT l.name AS left_name, r.name AS right_name, l.size_bytes AS left_bytes,
    r.size_bytes AS right_bytes,
    coalesce(CASE WHEN l.status <> 'hashed' THEN l.detail END,
      CASE WHEN r.status <> 'hashed' THEN r.detail END,
      CASE WHEN l.size_bytes <> r.size_bytes
        THEN CAST(r.size_bytes AS VARCHAR) || ' bytes in B' END) AS reason,
    CASE WHEN coalesce(l.name, r.name) IS NULL THEN 'bad line'
      WHEN 'left out' IN (l.status, r.status) THEN 'left out'
      WHEN l.name IS NULL THEN 'only right' WHEN r.name IS NULL THEN 'only left'
      WHEN 'contradiction' IN (l.status, r.status) OR 'differs' IN (l.status, r.status) THEN 'differs'
      WHEN {l.@ <> r.@ OR ...} OR l.size_bytes <> r.size_bytes THEN 'differs'
      WHEN {l.@ = r.@ OR ...} THEN 'equal'
      ELSE 'not recorded' END AS result,
    CASE a.algorithm {WHEN '@' THEN coalesce(l.@, r.@) ...} END AS content
  FROM left_side l FULL OUTER JOIN right_side r ON r.name = l.name CROSS JOIN moved_by a
), numbered AS (
  SELECT left_name, right_name, left_bytes, right_bytes, reason, result, content,
    row_number() OVER (PARTITION BY content, result ORDER BY coalesce(left_name, right_name))
      AS place
  FROM pairs WHERE result IN ('only left', 'only right')
), results AS (
  SELECT result, left_name, right_name, left_bytes, right_bytes, reason
  FROM pairs WHERE result NOT IN ('only left', 'only right')
  UNION ALL
  SELECT CASE WHEN l.left_name IS NULL THEN 'only right' WHEN r.right_name IS NULL THEN 'only left'
    ELSE 'moved' END, l.left_name, r.right_name, l.left_bytes, r.right_bytes,
    coalesce(l.reason, r.reason)
  FROM (SELECT * FROM numbered WHERE result = 'only left') l
  FULL OUTER JOIN (SELECT * FROM numbered WHERE result = 'only right') r
    ON r.content = l.content AND r.place = l.place
)
SELECT result, left_name, right_name, left_bytes, right_bytes, reason, objects, size_bytes
FROM (
  SELECT result, left_name, right_name, left_bytes, right_bytes, reason,
    count(*) OVER (PARTITION BY result) AS objects,
    CAST(sum(coalesce(left_bytes, right_bytes)) OVER (PARTITION BY result) AS BIGINT) AS size_bytes,
    row_number() OVER (PARTITION BY result ORDER BY coalesce(left_name, right_name)) AS place
  FROM results
) counted
CROSS JOIN question q
WHERE place <= CASE result WHEN 'equal' THEN 1 ELSE q.rows END
ORDER BY result, place
