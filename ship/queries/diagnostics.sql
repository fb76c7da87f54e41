-- SPDX-License-Identifier: Apache-2.0
-- Diagnostics: which lines were wrong, by host and code.
-- Parameters: host, since, until.
\ir defaults.psql
SELECT s.host, d.severity, d.code, count(*) AS lines, max(d.at) AS latest, min(d.message) AS message
FROM nvtxt.diagnostics AS d JOIN nvtxt.stores AS s ON s.store_id = d.store_id
WHERE s.host LIKE :'host' AND d.at BETWEEN :'since' AND :'until'
GROUP BY s.store_id, s.host, d.severity, d.code
ORDER BY lines DESC, s.host, d.severity, d.code
LIMIT 1000;
