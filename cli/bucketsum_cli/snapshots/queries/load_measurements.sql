-- Items of the measurements table, in the form of DynamoDB's export → the table `measurements`.
INSERT INTO measurements
SELECT Item['run_id'].S, Item['item'].S, map_from_entries(list_transform(map_entries(Item),
  lambda entry: {k: entry.key, v: coalesce(entry.value.S, entry.value.N, entry.value.BOOL)}))
FROM read_json($files, format = 'newline_delimited', records = 'true', columns = {
  Item: 'MAP(VARCHAR, STRUCT(S VARCHAR, N VARCHAR, BOOL VARCHAR))'});
