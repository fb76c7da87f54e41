-- How busy each thread is: its time inside at least one push/pop range that has ended.
-- Parameters: :from_ns, :to_ns (ns since 1970; default: the last five minutes).
-- Grows with the span: sorts the ranges of that time, a tenth of a second for 35,000.
WITH span AS (
    SELECT coalesce(nullif(:from_ns, ''), (unixepoch('now') - 300) * 1000000000) + 0 AS from_ns,
           coalesce(nullif(:to_ns, ''), 9223372036854775807) + 0 AS to_ns
),
found AS (
    SELECT e.globalTid, max(e.start, span.from_ns) AS start, min(e."end", span.to_ns) AS stop,
           e.rowid AS row
    FROM span CROSS JOIN NVTXT_BATCHES b ON b.maxEnd >= span.from_ns AND b.minStart <= span.to_ns
    CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND b.lastRow
    WHERE +e.eventType = 59 AND e."end" >= max(e.start, span.from_ns) AND e.start <= span.to_ns
),
reached AS ( -- the latest end of earlier ranges on its thread
    SELECT *, max(stop) OVER (PARTITION BY globalTid ORDER BY start, stop, row
                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach
    FROM found
),
sums AS (
    SELECT max(row) AS eventRow, count(*) AS ranges, globalTid,
           total(max(stop - max(start, coalesce(reach, start)), 0)) AS ns
    FROM reached GROUP BY globalTid
)
SELECT t.process, t.thread, t.pid, t.tid, sums.ranges, sums.ns / 1e9 AS seconds,
       sum(sums.ns) OVER (PARTITION BY t.pid) / 1e9 AS secondsOfProcess
FROM sums CROSS JOIN NVTXT_TIMELINE t ON t.eventRow = sums.eventRow
ORDER BY sums.ns DESC, sums.globalTid;
