-- SPDX-License-Identifier: Apache-2.0
-- Hosts by lag: how far each host's store is shipped, the one that is farthest behind first.
-- Parameters: host (a pattern of LIKE).
\ir defaults.psql
SELECT host, labels, behind_rows, round(lag_seconds::numeric, 1) AS lag_seconds, events, lost,
       committed, seen
FROM nvtxt.fleet
WHERE host LIKE :'host'
ORDER BY behind_rows > 0 DESC, lag_seconds DESC NULLS FIRST, host;
