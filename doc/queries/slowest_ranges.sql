-- The longest ranges, longest first.
-- Parameters: :from_ns, :to_ns (ns since 1970; default: the last five minutes), :rows (10).
-- Quick: reads the batches that overlap that time, and looks up names only for the rows it shows.
WITH span AS (
    SELECT coalesce(nullif(:from_ns, ''), (unixepoch('now') - 300) * 1000000000) + 0 AS from_ns,
           coalesce(nullif(:to_ns, ''), 9223372036854775807) + 0 AS to_ns
),
longest AS (
    SELECT e.rowid AS eventRow, e."end" - e.start AS ns
    FROM span CROSS JOIN NVTXT_BATCHES b ON b.maxEnd >= span.from_ns AND b.minStart <= span.to_ns
    CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND b.lastRow
    WHERE e.eventType IN (59, 60) AND e."end" >= span.from_ns AND e.start <= span.to_ns
    ORDER BY ns DESC, eventRow LIMIT coalesce(nullif(:rows, ''), 10) + 0
)
SELECT t.utcTime, longest.ns / 1e6 AS ms, t.message, CAST(t.category AS TEXT) AS category,
       t.process, t.thread, t.source
FROM longest CROSS JOIN NVTXT_TIMELINE t ON t.eventRow = longest.eventRow
ORDER BY longest.ns DESC, longest.eventRow;
