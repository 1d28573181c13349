-- The newest sweep that ended, and what it recommends; parameters is a JSON object.
SELECT run_id AS sweep, label AS measured_on,
  json_extract_string(summary, '$.recommendation.reason') AS reason,
  json_extract_string(summary, '$.recommendation.parameters') AS parameters,
  json_extract_string(summary, '$.recommendation.mb_per_s') || ' MB/s' AS speed,
  TRY_CAST(json_extract_string(summary, '$.recommendation.usd_per_gb') AS DOUBLE) * 1000 AS usd_per_tb
FROM (
  SELECT run_id, found['label'] AS label,
    CASE WHEN json_valid(found['summary']) THEN found['summary'] END AS summary
  FROM measurements WHERE item = 'run'
) runs
WHERE summary IS NOT NULL
ORDER BY run_id DESC LIMIT 1
