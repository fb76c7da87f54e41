-- The latest events in words, latest first, from a store of any size: through NVTXT_BATCHES.
-- Parameters: :from_ns, :to_ns (ns since 1970; default: the last five minutes), :rows (100).
-- Quick: reads the batches that overlap that time, and looks up names only for the rows it shows.
WITH span AS (
    SELECT coalesce(nullif(:from_ns, ''), (unixepoch('now') - 300) * 1000000000) + 0 AS from_ns,
           coalesce(nullif(:to_ns, ''), 9223372036854775807) + 0 AS to_ns
),
latest AS (
    SELECT e.rowid AS eventRow, e."end" AS at
    FROM span CROSS JOIN NVTXT_BATCHES b ON b.maxEnd >= span.from_ns AND b.minStart <= span.to_ns
    CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND b.lastRow
    WHERE e.eventType IN (34, 59, 60) AND e."end" >= span.from_ns AND e.start <= span.to_ns
    ORDER BY at DESC, eventRow DESC LIMIT coalesce(nullif(:rows, ''), 100) + 0
)
SELECT t.utcTime, t.duration / 1e6 AS ms, t.kind, t.message, CAST(t.category AS TEXT) AS category,
       CAST(t.payload AS REAL) AS payload, t.process, t.thread, t.source
FROM latest CROSS JOIN NVTXT_TIMELINE t ON t.eventRow = latest.eventRow
ORDER BY latest.at DESC, latest.eventRow DESC;
