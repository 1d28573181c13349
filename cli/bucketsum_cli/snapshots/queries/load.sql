-- Items of the digests table, in the form of DynamoDB's export → the table `items`, in DuckDB and
-- in Trino: `schema.py` fills what is in angle brackets, for each.
-- An attribute of another type than here is present, but NULL within: its row is damaged, by the
-- rules of `row_of`.
CREATE TABLE items AS
WITH raw AS (
  SELECT <file> AS file, Item AS i,
    Item.status.S IS NOT DISTINCT FROM 'not_hashed' AS is_tombstone
  FROM <export>
), judged AS (
  SELECT *,
    concat_ws(', ', <deletion damage>,
      CASE WHEN NOT is_tombstone THEN nullif(concat_ws(', ', <damage>), '') END) AS damage
  FROM raw
), known AS (
  SELECT
    file, damage, damage = '' AS whole, is_tombstone, strpos(i.entry.S, '!/') AS mark,
    strpos(i.object.S, '/') AS slash, i.object.S AS object, i.entry.S AS entry,
    CASE WHEN <sequencer> THEN i.sequencer.S END AS sequencer, i
  FROM judged
)
SELECT
  file,
  CASE WHEN slash = 0 THEN 'other' WHEN is_tombstone THEN 'tombstone'
    WHEN mark > 0 THEN 'member' ELSE 'object' END AS kind,
  substr(object, 1, slash - 1) AS bucket,
  substr(object, slash + 1) AS key,
  CASE WHEN mark = 0 THEN entry WHEN starts_with(entry, 'null~') THEN 'null'
    ELSE substr(entry, 1, mark - 1) END AS version,
  CASE WHEN mark > 0
    THEN coalesce(CASE WHEN whole THEN i.member.S END, substr(entry, mark + 2)) END AS member,
  CASE WHEN whole THEN i.status.S ELSE 'damaged' END AS status,
  CASE WHEN whole THEN i.reason.S ELSE 'another program changed ' || damage
    || '; correct its item in the table, or delete it and hash the object again' END AS reason,
  CASE WHEN whole THEN i.sha1.S END AS sha1,
  {CASE WHEN whole
    THEN coalesce(i.digest_@extra.S, CASE '@extra' WHEN 'crc32' THEN i.crc32.S END) END AS @extra, ...},
  CASE WHEN whole AND i.deletion_sequencer IS NOT NULL
    THEN coalesce(<deleted_at>, TIMESTAMP '1970-01-01') END AS deleted_at,
  CASE WHEN whole AND TRY_CAST(i.expires_at.N AS BIGINT) BETWEEN 0 AND 253402300799
    THEN <expires_at> END AS expires_at,
  sequencer,
  <columns>
FROM known;
