-- Rows and the listing → the table `versions`: every version that a row or S3 has, and its state as
-- `state_of` says, with the reason. What S3 lists and no row has is `not recorded`; so is a row
-- whose version `null` S3 lists with another entity tag, which is not present; a version with an ID
-- never changes, whatever tag another program gave its row. An inventory is older than
-- the rows: what was created since it was written is unknown to it, and what was deleted is gone.
CREATE TABLE versions AS
WITH inventories AS (
  SELECT bucket, max(until) AS until FROM listed GROUP BY bucket HAVING max(until) IS NOT NULL
), recorded AS (
  SELECT o.*, l.latest, l.storage_class AS listed_class, i.until AS listed_until,
    CASE WHEN l.key IS NULL THEN CASE WHEN EXISTS (
        SELECT 1 FROM listed WHERE listed.bucket = o.bucket AND starts_with(o.key, listed.prefix)
      ) AND coalesce(o.created_at < i.until, true) THEN 'absent' ELSE 'unknown' END
      WHEN o.deleted_at IS NULL AND (o.version <> 'null' OR coalesce(o.etag, l.etag) = l.etag)
        THEN 'listed'
      WHEN o.created_at >= i.until THEN 'unknown' ELSE 'changed' END AS presence
  FROM items o LEFT JOIN listing l
    ON l.bucket = o.bucket AND l.key = o.key AND l.version = o.version
  LEFT JOIN inventories i ON i.bucket = o.bucket
  WHERE o.kind = 'object'
), judged AS <inline> (
  SELECT *,
    CASE WHEN status = 'damaged' THEN 'damaged' WHEN deleted_at IS NOT NULL THEN 'deleted'
      WHEN presence = 'absent' THEN 'lost' WHEN presence = 'changed' THEN 'not recorded'
      WHEN s3_checksum_result = 'differs' THEN 'differs'
      WHEN differing_digest IS NOT NULL AND coalesce(differs_at >= verified_at, true) THEN 'differs'
      WHEN unreadable_reason IS NOT NULL AND coalesce(unreadable_at >= verified_at, true)
        AND coalesce(unreadable_at > differs_at, true) THEN 'unreadable'
      ELSE status END AS state
  FROM recorded
), known AS (
  SELECT bucket, key, version, sha1, status, sequencer, created_at, deleted_at, presence, state,
    latest, listed_until
  FROM judged
), repaired AS (
  SELECT DISTINCT d.bucket, d.key, d.version
  FROM known d JOIN known n ON n.bucket = d.bucket AND n.key = d.key AND n.sha1 = d.sha1
    AND n.state = 'hashed' AND CASE
      WHEN '00000000000000000000000000000000' IN (n.sequencer, d.sequencer)
        OR n.sequencer = d.sequencer THEN n.created_at > d.created_at
      ELSE n.sequencer > d.sequencer END
  WHERE d.state IN ('differs', 'lost')
), newest AS (
  SELECT bucket, key, version FROM (
    SELECT bucket, key, version, row_number() OVER (PARTITION BY bucket, key
      ORDER BY status = 'damaged' DESC, sequencer DESC, created_at DESC, version DESC) AS place
    FROM known WHERE deleted_at IS NULL
      AND (presence = 'unknown' OR (presence = 'listed' AND latest AND listed_until IS NOT NULL))
  ) candidates WHERE place = 1
)
SELECT j.bucket, j.key, j.version, CASE WHEN r.key IS NULL THEN j.state ELSE 'repaired' END AS state,
  j.status, CASE j.state
    WHEN 'differs' THEN CASE WHEN j.s3_checksum_result = 'differs'
      THEN concat_ws('', 'S3''s own checksum is ', j.s3_checksum, ', not that of the bytes: ', j.s3_checksum_reason)
      ELSE concat_ws('', 'S3 returned ', j.differing_digest, ' on ',
        CAST(CAST(j.differs_at AS DATE) AS VARCHAR)) END
    WHEN 'unreadable' THEN coalesce(j.unreadable_reason, j.reason)
    ELSE j.reason END AS reason, {j.@, ...},
  j.size_bytes, j.etag, coalesce(j.listed_class, j.archived_class) AS storage_class,
  j.presence IN ('listed', 'unknown') AND j.deleted_at IS NULL AS present,
  CASE WHEN j.presence = 'listed' THEN j.latest AND coalesce(n.version = j.version, true) END
    AS latest,
  CASE WHEN n.key IS NULL THEN coalesce(j.presence = 'listed' AND j.latest, false)
    ELSE n.version = j.version END AS is_current,
  j.created_at, {j.@column, ...}
FROM judged j
LEFT JOIN repaired r ON r.bucket = j.bucket AND r.key = j.key AND r.version = j.version
LEFT JOIN newest n ON n.bucket = j.bucket AND n.key = j.key
UNION ALL
SELECT l.bucket, l.key, l.version, 'not recorded', 'not recorded', NULL, {NULL AS @, ...},
  l.size_bytes, l.etag, l.storage_class, true, l.latest AND n.key IS NULL,
  l.latest AND n.key IS NULL, l.created_at, {NULL AS @column, ...}
FROM listing l LEFT JOIN inventories i ON i.bucket = l.bucket LEFT JOIN items o
  ON o.kind = 'object' AND o.bucket = l.bucket AND o.key = l.key AND o.version = l.version
    AND (o.deleted_at IS NULL AND (o.version <> 'null' OR coalesce(o.etag, l.etag) = l.etag)
      OR o.created_at >= i.until OR o.deleted_at >= i.until)
LEFT JOIN newest n ON n.bucket = l.bucket AND n.key = l.key
WHERE o.key IS NULL;

-- A member is known only as well as its archive; that of an earlier archive at the key is lost.
CREATE TABLE members AS
SELECT m.bucket, m.key, m.version, m.member,
  CASE WHEN a.state <> 'hashed' THEN a.state WHEN m.version <> 'null' OR m.sequencer = a.sequencer THEN m.status
    ELSE 'lost' END AS state,
  m.status, m.reason, {m.@, ...},
  m.size_bytes, m.method, m.compressed_bytes, m.recorded_at, m.remarks,
  CASE WHEN m.version <> 'null' OR m.sequencer = a.sequencer THEN a.deleted_at END AS deleted_at,
  a.is_current
FROM items m JOIN versions a
  ON a.bucket = m.bucket AND a.key = m.key AND a.version = m.version AND a.status <> 'not recorded'
WHERE m.kind = 'member';

CREATE TABLE deletions AS
SELECT bucket, key, version, deleted_at, deleted_by, expires_at, deletion_sequencer AS sequencer,
  status, sha1
FROM items WHERE kind IN ('object', 'tombstone') AND deletion_sequencer IS NOT NULL;
