-- SPDX-License-Identifier: Apache-2.0
-- Losses: what could not be kept, on a host or on the way, the latest first.
-- Parameters: host, since, until.
\ir defaults.psql
SELECT l.at, s.host, l.reason, l.count, l.segment, l.source_id, l.uid, l.pid
FROM nvtxt.losses AS l JOIN nvtxt.stores AS s ON s.store_id = l.store_id
WHERE s.host LIKE :'host' AND (l.at IS NULL OR l.at BETWEEN :'since' AND :'until')
ORDER BY l.at DESC NULLS FIRST, s.host, l.segment, l.row_id
LIMIT 1000;
