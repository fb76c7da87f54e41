-- Tree: what ran under what, also in other processes: ranges by their path, with count and time.
-- Parameters: :rows (default 100).
-- Reads every event: about 7 seconds of a processor for a million.
SELECT printf('%*s', t.depth * 2, '') || min(e.text) AS "range", count(*) AS "count",
       total(e."end" - e.start) / 1e6 AS ms, max(e."end" - e.start) / 1e6 AS maxMs, t.path
FROM NVTXT_TREE t CROSS JOIN NVTX_EVENTS e ON e.rowid = t.row
WHERE e.eventType IN (59, 60)
GROUP BY t.path, t.depth
ORDER BY replace(t.path, ';', char(1)) LIMIT coalesce(nullif(:rows, ''), 100) + 0;
