-- Every event of the last minutes, in words, in the order of the store: through NVTXT_RECENT.
-- Parameters: :minutes (default 5, at most 60).
-- Grows with the span: looks up the names of each event, a quarter of a second for 35,000.
SELECT utcTime, duration / 1e6 AS ms, kind, message, CAST(category AS TEXT) AS category,
       CAST(payload AS REAL) AS payload, process, thread, source
FROM NVTXT_RECENT
WHERE batchEnd >= (unixepoch('now') - 60 * coalesce(nullif(:minutes, ''), 5)) * 1000000000
      AND "end" >= (unixepoch('now') - 60 * coalesce(nullif(:minutes, ''), 5)) * 1000000000;
