-- What is running now: the ranges that were open at the last commit, longest first.
-- Parameters: none.
-- Quick: does not read the events.
SELECT unixepoch('now') - o.start / 1000000000 AS seconds,
       o.text AS message,
       p.name AS process,
       s.value AS thread,
       o.globalTid / 0x1000000 % 0x1000000 AS pid,
       o.globalTid % 0x1000000 AS tid,
       CASE o.kind WHEN 59 THEN 'push/pop' ELSE 'start/end' END AS kind
FROM NVTXT_OPEN_RANGES o
LEFT JOIN PROCESSES p ON p.globalPid = o.globalTid - o.globalTid % 0x1000000
LEFT JOIN ThreadNames t ON t.globalTid = o.globalTid
LEFT JOIN StringIds s ON s.id = t.nameId
ORDER BY o.start, o.sourceId, o.seq;
