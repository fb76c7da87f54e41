-- SPDX-License-Identifier: Apache-2.0
-- Timeline: the latest events of hosts in words.
-- Parameters: host, message ('': every one), since, until.
\ir defaults.psql
SELECT started, host, duration / 1e6::float8 AS duration_ms, kind, message, category, process, thread,
       source, domain, payload, pid, tid
FROM nvtxt.timeline
WHERE committed BETWEEN :'since' AND :'until' AND (:'message' = '' OR message = :'message')
  AND host LIKE :'host'
ORDER BY committed DESC, store_id, segment DESC, row_id DESC
LIMIT 1000;
