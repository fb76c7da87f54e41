-- Errors per minute: lines of logs of level err or worse, and of level warning.
-- Parameters: :from_ns, :to_ns (ns since 1970; default: the last five minutes).
-- Quick: reads the batches that overlap that time, not the whole store.
WITH span AS (
    SELECT coalesce(nullif(:from_ns, ''), (unixepoch('now') - 300) * 1000000000) + 0 AS from_ns,
           coalesce(nullif(:to_ns, ''), 9223372036854775807) + 0 AS to_ns
)
SELECT e.start / 60000000000 * 60 AS time,
       sum(e.int64Value <= 3) AS errors,
       sum(e.int64Value = 4) AS warnings
FROM span CROSS JOIN NVTXT_BATCHES b ON b.maxEnd >= span.from_ns AND b.minStart <= span.to_ns
CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND b.lastRow
WHERE +e.eventType = 34 AND e.int64Value BETWEEN 0 AND 4
      AND e.start BETWEEN span.from_ns AND span.to_ns
      AND 1 = (SELECT s.levels FROM NVTXT_SOURCES s WHERE s.id =
               (SELECT CASE WHEN x.lastRow >= e.rowid THEN x.sourceId END
                FROM NVTXT_EVENT_SOURCES x WHERE x.firstRow <= e.rowid
                ORDER BY x.firstRow DESC LIMIT 1))
GROUP BY 1 ORDER BY 1;
