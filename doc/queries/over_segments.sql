-- One query over two segments: events per process, of the one in use (main) and an attached one.
-- Before: ATTACH 'file:/var/lib/nvtxtd/nvtxt-<time>-<n>.sqlite?mode=ro' AS older;
-- Parameters: none.
-- Reads every event of both segments.
WITH events AS (
    SELECT globalTid / 0x1000000 % 0x1000000 AS pid, start, "end"
    FROM main.NVTX_EVENTS WHERE eventType IN (34, 59, 60)
    UNION ALL
    SELECT globalTid / 0x1000000 % 0x1000000, start, "end"
    FROM older.NVTX_EVENTS WHERE eventType IN (34, 59, 60)
),
names AS ( -- join within a segment, never across: most ids are its own
    SELECT pid, name FROM main.PROCESSES
    UNION ALL
    SELECT pid, name FROM older.PROCESSES WHERE pid NOT IN (SELECT pid FROM main.PROCESSES)
)
SELECT e.pid, n.name AS process, count(*) AS events, min(e.start) AS firstNs, max(e."end") AS lastNs
FROM events e LEFT JOIN names n ON n.pid = e.pid
GROUP BY e.pid ORDER BY events DESC, e.pid;
