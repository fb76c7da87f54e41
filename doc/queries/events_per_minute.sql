-- Events per minute: marks and ranges that began in each minute.
-- Parameters: :from_ns, :to_ns (ns since 1970; default: the last five minutes).
-- Quick: reads the batches that overlap that time, not the whole store.
WITH span AS (
    SELECT coalesce(nullif(:from_ns, ''), (unixepoch('now') - 300) * 1000000000) + 0 AS from_ns,
           coalesce(nullif(:to_ns, ''), 9223372036854775807) + 0 AS to_ns
)
SELECT e.start / 60000000000 * 60 AS time,
       count(*) AS events,
       sum(e.eventType = 34) AS marks,
       sum(e.eventType <> 34) AS ranges
FROM span CROSS JOIN NVTXT_BATCHES b ON b.maxEnd >= span.from_ns AND b.minStart <= span.to_ns
CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND b.lastRow
WHERE e.eventType IN (34, 59, 60) AND e.start BETWEEN span.from_ns AND span.to_ns
GROUP BY 1 ORDER BY 1;
