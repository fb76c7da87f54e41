-- The latest diagnostics, as compilers print them, latest first.
-- Parameters: :rows (default 50).
-- Quick: does not read the events.
SELECT strftime('%Y-%m-%dT%H:%M:%SZ', d.atNs / 1000000000, 'unixepoch') AS utcTime,
       d.severity,
       coalesce(s.name, s.displayName, s.peerComm, 'source ' || s.id) || ':' || d.line || ':'
       || d."column" || ': ' || d.severity || ': ' || d.message || ' [' || d.code || ']' AS text,
       d.excerpt
FROM NVTXT_DIAGNOSTICS d LEFT JOIN NVTXT_SOURCES s ON s.id = d.sourceId
ORDER BY d.rowid DESC LIMIT coalesce(nullif(:rows, ''), 50) + 0;
