-- SPDX-License-Identifier: Apache-2.0
-- Slow hosts: which hosts had a range that took longer than the fleet's 99th percentile.
-- Parameters: message ('': every range), host, since, until.
-- A range that ends before it begins, or began before 1970, is left out.
\ir defaults.psql
WITH x AS (
    SELECT store_id, end_ns - start_ns AS ns
    FROM nvtxt.events
    WHERE committed BETWEEN :'since' AND :'until' AND event_type IN (59, 60)
      AND (:'message' = '' OR text = :'message') AND start_ns >= 0 AND end_ns >= start_ns
),
fleet AS (SELECT percentile_disc(0.99) WITHIN GROUP (ORDER BY ns) AS p99 FROM x)
SELECT s.host, s.labels, count(*) AS slower, max(x.ns) / 1e6::float8 AS longest_ms, f.p99 / 1e6::float8 AS p99_ms
FROM fleet AS f JOIN x ON x.ns > f.p99 JOIN nvtxt.stores AS s ON s.store_id = x.store_id
WHERE s.host LIKE :'host'
GROUP BY s.store_id, s.host, s.labels, f.p99
ORDER BY slower DESC, longest_ms DESC, s.host;
