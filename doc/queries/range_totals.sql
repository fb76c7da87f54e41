-- Count, total, mean and longest of the ranges of each message, of the whole store.
-- Parameters: :rows (default 20).
-- Reads every event: about 15 seconds for 10 million.
SELECT message, CAST(category AS TEXT) AS category, domain, "count" AS ranges,
       total / 1e9 AS seconds, mean / 1e6 AS meanMs, "max" / 1e6 AS maxMs
FROM NVTXT_RANGE_SUMMARY
ORDER BY total DESC, message LIMIT coalesce(nullif(:rows, ''), 20) + 0;
