-- Time in ranges, per category and process. Inner ranges count, too.
-- Parameters: :from_ns, :to_ns (ns since 1970; default: the last five minutes).
-- Quick: reads the batches that overlap that time, and looks up names only for the rows it shows.
WITH span AS (
    SELECT coalesce(nullif(:from_ns, ''), (unixepoch('now') - 300) * 1000000000) + 0 AS from_ns,
           coalesce(nullif(:to_ns, ''), 9223372036854775807) + 0 AS to_ns
),
sums AS (
    SELECT max(e.rowid) AS eventRow, count(*) AS ranges,
           total(min(e."end", span.to_ns) - max(e.start, span.from_ns)) AS ns
    FROM span CROSS JOIN NVTXT_BATCHES b ON b.maxEnd >= span.from_ns AND b.minStart <= span.to_ns
    CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND b.lastRow
    WHERE e.eventType IN (59, 60) AND e."end" >= max(e.start, span.from_ns)
          AND e.start <= span.to_ns
    GROUP BY e.domainId, e.category, e.globalTid / 0x1000000
)
SELECT t.process, t.pid, t.domain, CAST(t.category AS TEXT) AS category, sums.ranges,
       sums.ns / 1e9 AS seconds
FROM sums CROSS JOIN NVTXT_TIMELINE t ON t.eventRow = sums.eventRow
ORDER BY sums.ns DESC, sums.eventRow;
