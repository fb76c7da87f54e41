-- All losses, latest first. No rows: nothing was lost.
-- Parameters: none.
-- Quick: does not read the events.
SELECT strftime('%Y-%m-%dT%H:%M:%SZ', l.atNs / 1000000000, 'unixepoch') AS utcTime,
       l.reason, l.count,
       coalesce(s.name, s.displayName, s.peerComm, 'source ' || s.id) AS source,
       nullif(l.pid, 0) AS pid, nullif(l.uid, -1) AS uid
FROM NVTXT_LOSSES l LEFT JOIN NVTXT_SOURCES s ON s.id = l.sourceId
ORDER BY l.rowid DESC;
