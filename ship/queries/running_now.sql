-- SPDX-License-Identifier: Apache-2.0
-- Running now: ranges that are open, the longest first.
-- Parameters: host, message ('': every one).
\ir defaults.psql
SELECT host, labels, message, round(seconds::numeric, 1) AS seconds, pid, tid
FROM nvtxt.running
WHERE host LIKE :'host' AND (:'message' = '' OR message = :'message')
ORDER BY seconds DESC, host, source_id, seq
LIMIT 1000;
