-- SPDX-License-Identifier: Apache-2.0
-- Find a message: which hosts have it at all, of all days that are kept.
-- Parameters: message, host.
\ir defaults.psql
SELECT s.host, s.labels, count(*) AS events, min(e.committed) AS first, max(e.committed) AS latest
FROM nvtxt.events AS e JOIN nvtxt.stores AS s ON s.store_id = e.store_id
WHERE e.text = :'message' AND s.host LIKE :'host'
GROUP BY s.store_id, s.host, s.labels
ORDER BY events DESC, s.host;
