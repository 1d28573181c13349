-- Items of the digests table, in the form of DynamoDB's export → the table `items`.
-- An attribute of another type than here is present, but NULL within: its row is damaged, by the
-- rules of `row_of`. Without `records`, DuckDB reads each line twice and four times as long.
CREATE TEMP MACRO is_integer(a) AS
  coalesce(regexp_full_match(a.N, '-?[0-9]+'), false) AND TRY_CAST(a.N AS HUGEINT) IS NOT NULL;
CREATE TEMP MACRO is_number(a) AS TRY_CAST(a.N AS DOUBLE) IS NOT NULL;
CREATE TEMP MACRO is_text(a) AS a.S IS NOT NULL;
CREATE TEMP MACRO is_sequencer(a) AS coalesce(regexp_full_match(a.S, '[0-9A-F]{32}'), false);
CREATE TEMP MACRO is_moment(a) AS coalesce(regexp_full_match(
  a.S, '\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z'), false)
  AND TRY_CAST(a.S AS TIMESTAMP) IS NOT NULL;
CREATE TEMP MACRO is_between(a, least, most) AS
  is_integer(a) AND TRY_CAST(a.N AS HUGEINT) BETWEEN least AND most;
CREATE TEMP MACRO integer_of(a) AS TRY_CAST(a.N AS BIGINT);
CREATE TEMP MACRO number_of(a) AS TRY_CAST(a.N AS DOUBLE);
CREATE TEMP MACRO time_of(a) AS TRY_CAST(a.S AS TIMESTAMP);
CREATE TEMP MACRO unless(is_right, name) AS CASE WHEN is_right THEN NULL ELSE name END;

CREATE TABLE items AS
WITH raw AS (
  SELECT
    parse_filename(filename) AS file, Item AS i,
    Item.status.S IS NOT DISTINCT FROM 'not_hashed' AS is_tombstone,
    coalesce(Item.duration_ms, Item.mb_per_s) IS NULL AS no_timing,
    coalesce(Item.chunk_bytes, Item.streams, Item.memory_mb) IS NULL AS no_setup,
    coalesce(Item.member, Item.method, Item.crc32, Item.compressed_bytes) IS NULL AS no_member,
    coalesce(Item.archive_status, Item.archive_mode, Item.member_count, Item.members_unreadable,
      Item.directory_count, Item.member_bytes, Item.ratio) IS NULL AS no_archive,
    coalesce(Item.deleted_at, Item.deleted_by, Item.deletion_sequencer) IS NULL AS no_deletion,
    coalesce(Item.verified_at, Item.verifications) IS NULL AS no_verification,
    coalesce(Item.differing_digest, Item.differs_at) IS NULL AS no_difference,
    coalesce(Item.unreadable_at, Item.unreadable_reason) IS NULL AS no_failed_reading
  FROM read_json($files, format = 'newline_delimited', records = 'true', filename = true,
    columns = {Item: 'STRUCT(
    object STRUCT(S VARCHAR), entry STRUCT(S VARCHAR), status STRUCT(S VARCHAR), sha1
    STRUCT(S VARCHAR), sequencer STRUCT(S VARCHAR), arrived_at STRUCT(S VARCHAR),
    recorded_at STRUCT(S VARCHAR), etag STRUCT(S VARCHAR), reason STRUCT(S VARCHAR), remarks
    STRUCT(S VARCHAR), {digest_@extra STRUCT(S VARCHAR), ...}, deleted_at STRUCT(S
    VARCHAR), deleted_by STRUCT(S VARCHAR), deletion_sequencer STRUCT(S VARCHAR), verified_at STRUCT(S VARCHAR),
    storage_class STRUCT(S VARCHAR), unreadable_at STRUCT(S VARCHAR),
    unreadable_reason STRUCT(S VARCHAR), differing_digest STRUCT(S VARCHAR), differs_at STRUCT(S VARCHAR), verifications STRUCT(N VARCHAR), member
    STRUCT(S VARCHAR), method STRUCT(S VARCHAR), crc32 STRUCT(S VARCHAR), archive_status
    STRUCT(S VARCHAR), archive_mode STRUCT(S VARCHAR), archive_reason STRUCT(S VARCHAR),
    size_bytes STRUCT(N VARCHAR), expires_at STRUCT(N VARCHAR), duration_ms STRUCT(N
    VARCHAR), mb_per_s STRUCT(N VARCHAR), chunk_bytes STRUCT(N VARCHAR), streams STRUCT(N
    VARCHAR), memory_mb STRUCT(N VARCHAR), compressed_bytes STRUCT(N VARCHAR), member_count
    STRUCT(N VARCHAR), members_unreadable STRUCT(N VARCHAR), directory_count STRUCT(N
    VARCHAR), member_bytes STRUCT(N VARCHAR), ratio STRUCT(N VARCHAR))'})
), judged AS (
  SELECT *,
    concat_ws(', ',
      unless(no_deletion OR is_text(i.deleted_at), 'deleted_at'),
      unless(no_deletion OR coalesce(i.deleted_by.S, '') IN ('request', 'lifecycle'),
        'deleted_by'),
      unless(no_deletion OR is_sequencer(i.deletion_sequencer), 'deletion_sequencer'),
      unless(no_deletion OR i.expires_at IS NULL OR is_between(i.expires_at, 0, 253402300799)
        OR (is_tombstone AND is_integer(i.expires_at)), 'expires_at'),
      CASE WHEN NOT is_tombstone THEN nullif(concat_ws(', ',
        unless(coalesce(i.status.S, '') IN ('hashed', 'unreadable', 'archived'), 'status'),
        unless(CASE WHEN i.status.S = 'hashed'
          THEN coalesce(regexp_full_match(i.sha1.S, '[0-9a-f]{40}'), false)
          ELSE i.sha1 IS NULL OR is_text(i.sha1) END, 'sha1'),
        unless(is_between(i.size_bytes, 0, 9223372036854775807), 'size_bytes'),
        unless(is_sequencer(i.sequencer), 'sequencer'),
        unless(is_moment(i.arrived_at), 'arrived_at'),
        unless(is_text(i.recorded_at), 'recorded_at'),
        unless(i.etag IS NULL OR is_text(i.etag), 'etag'),
        unless(i.reason IS NULL OR is_text(i.reason), 'reason'),
        unless(i.storage_class IS NULL OR is_text(i.storage_class), 'storage_class'),
        unless(i.remarks IS NULL OR is_text(i.remarks), 'remarks'),
        {unless(i.digest_@extra IS NULL OR is_text(i.digest_@extra), 'digest_@extra'), ...},
        unless(no_timing OR is_number(i.duration_ms), 'duration_ms'),
        unless(no_timing OR is_number(i.mb_per_s), 'mb_per_s'),
        unless(no_verification OR is_text(i.verified_at), 'verified_at'),
        unless(no_verification OR is_integer(i.verifications), 'verifications'),
        unless(no_difference OR is_text(i.differing_digest), 'differing_digest'),
        unless(no_difference OR is_text(i.differs_at), 'differs_at'),
        unless(no_failed_reading OR is_text(i.unreadable_at), 'unreadable_at'),
        unless(no_failed_reading OR is_text(i.unreadable_reason), 'unreadable_reason'),
        unless(no_setup OR is_integer(i.chunk_bytes), 'chunk_bytes'),
        unless(no_setup OR is_integer(i.streams), 'streams'),
        unless(no_setup OR is_integer(i.memory_mb), 'memory_mb'),
        unless(no_member OR is_text(i.member), 'member'),
        unless(no_member OR is_text(i.method), 'method'),
        unless(no_member OR is_text(i.crc32), 'crc32'),
        unless(no_member OR is_integer(i.compressed_bytes), 'compressed_bytes'),
        unless(no_archive OR coalesce(i.archive_status.S, '') IN ('read', 'not-an-archive',
          'truncated', 'broken', 'encrypted', 'split', 'overlapping', 'contradictory',
          'too-many-members', 'too-large', 'too-dense', 'no-room', 'out-of-time'),
          'archive_status'),
        unless(no_archive OR coalesce(i.archive_mode.S, '') IN ('stream', 'tmp', 'discard'),
          'archive_mode'),
        unless(no_archive OR i.archive_reason IS NULL OR is_text(i.archive_reason),
          'archive_reason'),
        unless(no_archive OR is_integer(i.member_count), 'member_count'),
        unless(no_archive OR is_integer(i.members_unreadable), 'members_unreadable'),
        unless(no_archive OR is_integer(i.directory_count), 'directory_count'),
        unless(no_archive OR is_integer(i.member_bytes), 'member_bytes'),
        unless(no_archive OR is_number(i.ratio), 'ratio')
      ), '') END
    ) AS damage
  FROM raw
), known AS (
  SELECT
    file, damage, is_tombstone, strpos(i.entry.S, '!/') AS mark, strpos(i.object.S, '/') AS slash,
    i.object.S AS object, i.entry.S AS entry,
    CASE WHEN is_sequencer(i.sequencer) THEN i.sequencer.S END AS sequencer,
    CASE WHEN damage = '' THEN i END AS i
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
  CASE WHEN mark > 0 THEN coalesce(i.member.S, substr(entry, mark + 2)) END AS member,
  CASE WHEN damage = '' THEN i.status.S ELSE 'damaged' END AS status,
  CASE WHEN damage = '' THEN i.reason.S ELSE concat('another program changed ', damage,
    '; correct its item in the table, or delete it and hash the object again') END AS reason,
  i.sha1.S AS sha1,
  {coalesce(i.digest_@extra.S, CASE '@extra' WHEN 'crc32' THEN i.crc32.S END) AS @extra, ...},
  integer_of(i.size_bytes) AS size_bytes,
  i.etag.S AS etag,
  time_of(i.arrived_at) AS created_at,
  time_of(i.recorded_at) AS recorded_at,
  CASE WHEN i.deletion_sequencer IS NOT NULL
    THEN coalesce(time_of(i.deleted_at), TIMESTAMP '1970-01-01') END AS deleted_at,
  i.deleted_by.S AS deleted_by,
  CASE WHEN is_between(i.expires_at, 0, 253402300799)
    THEN make_timestamp(integer_of(i.expires_at) * 1000000) END AS expires_at,
  sequencer,
  i.deletion_sequencer.S AS deletion_sequencer,
  time_of(i.verified_at) AS verified_at,
  integer_of(i.verifications) AS verifications,
  i.differing_digest.S AS differing_digest,
  time_of(i.differs_at) AS differs_at,
  number_of(i.duration_ms) AS duration_ms,
  number_of(i.mb_per_s) AS mb_per_s,
  integer_of(i.chunk_bytes) AS chunk_bytes,
  integer_of(i.streams) AS streams,
  integer_of(i.memory_mb) AS memory_mb,
  i.remarks.S AS remarks,
  i.method.S AS method,
  integer_of(i.compressed_bytes) AS compressed_bytes,
  i.archive_status.S AS archive_status,
  i.archive_mode.S AS archive_mode,
  i.archive_reason.S AS archive_reason,
  integer_of(i.member_count) AS member_count,
  integer_of(i.members_unreadable) AS members_unreadable,
  integer_of(i.directory_count) AS directory_count,
  integer_of(i.member_bytes) AS member_bytes,
  number_of(i.ratio) AS ratio
FROM known;
