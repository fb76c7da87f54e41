-- Sources with errors or warnings, worst first, with the last message of each in this segment.
-- Parameters: none.
-- Quick: does not read the events.
SELECT coalesce(s.name, s.displayName, s.peerComm, 'source ' || s.id) AS source,
       s.kind, s.peerPid AS pid, s.peerUid AS uid,
       s.errors, s.warnings, s.events, s.lines,
       (SELECT d.line || ': ' || d.message FROM NVTXT_DIAGNOSTICS d
        WHERE d.sourceId = s.id ORDER BY d.line DESC, d.rowid DESC LIMIT 1) AS lastMessage
FROM NVTXT_SOURCES s
WHERE s.errors > 0 OR s.warnings > 0
ORDER BY s.errors DESC, s.warnings DESC, s.id;
