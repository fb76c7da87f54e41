-- Nesting: each push/pop range with its depth and its parent, the range around it on its thread.
-- Ranges that are still open are shown too, without a duration.
-- Parameters: :from_ns, :to_ns (ns since 1970; default: the last five minutes), :rows (1000).
-- Grows with the span: reads each range of that time, and sorts those that it shows.
WITH span AS (
    SELECT coalesce(nullif(:from_ns, ''), (unixepoch('now') - 300) * 1000000000) + 0 AS from_ns,
           coalesce(nullif(:to_ns, ''), 9223372036854775807) + 0 AS to_ns
),
found AS (
    SELECT e.globalTid, e.start, e."end" AS stop, e.rowid AS row, e.text
    FROM span CROSS JOIN NVTXT_BATCHES b ON b.maxEnd >= span.from_ns AND b.minStart <= span.to_ns
    CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND b.lastRow
    WHERE +e.eventType = 59 AND e."end" >= max(e.start, span.from_ns) AND e.start <= span.to_ns
    UNION ALL
    SELECT o.globalTid, o.start, 9223372036854775807, 9223372036854775807 - o.depth, o.text
    FROM span CROSS JOIN NVTXT_OPEN_RANGES o WHERE o.kind = 59 AND o.start <= span.to_ns
),
shown AS ( -- an outer range comes first, so ranges after the last row do not matter
    SELECT * FROM found ORDER BY globalTid, start, stop DESC, row DESC
    LIMIT coalesce(nullif(:rows, ''), 1000) + 0
),
numbered AS MATERIALIZED ( -- outer ranges before inner ones
    SELECT row_number() OVER (ORDER BY globalTid, start, stop DESC, row DESC) AS n, * FROM shown
),
steps AS ( -- if one range ends when another begins, the end is first
    SELECT n, globalTid, start AS at, 1 AS turn, 1 AS step FROM numbered
    UNION ALL
    SELECT n, globalTid, stop, CASE WHEN stop > start THEN 0 ELSE 2 END, -1 FROM numbered
),
depths AS (
    SELECT n, globalTid, step,
           sum(step) OVER (PARTITION BY globalTid ORDER BY at, turn, n
                           ROWS UNBOUNDED PRECEDING) AS depth
    FROM steps
),
levels AS ( -- the parent is the last range before it, one level up
    SELECT n, globalTid, depth, depth AS level, n AS candidate FROM depths WHERE step = 1
    UNION ALL
    SELECT n, globalTid, depth, depth - 1, NULL FROM depths WHERE step = 1
),
parents AS (
    SELECT n, depth, candidate,
           max(candidate) OVER (PARTITION BY globalTid, level ORDER BY n
                                ROWS UNBOUNDED PRECEDING) AS parent
    FROM levels
)
SELECT r.globalTid / 0x1000000 % 0x1000000 AS pid, r.globalTid % 0x1000000 AS tid,
       x.depth, r.text AS message, p.text AS parent, r.start AS startNs,
       CASE WHEN r.stop < 9223372036854775807 THEN (r.stop - r.start) / 1e6 END AS ms
FROM parents x JOIN numbered r ON r.n = x.n LEFT JOIN numbered p ON p.n = x.parent
WHERE x.candidate IS NULL
ORDER BY x.n;
