-- SPDX-License-Identifier: Apache-2.0
-- Percentiles by host: how long a range takes on each host.
-- Parameters: message ('': every range), host, since, until.
-- A range that ends before it begins, or began before 1970, is left out.
\ir defaults.psql
WITH x AS (
    SELECT store_id, count(*) AS ranges, max(end_ns - start_ns) AS longest,
           percentile_disc(ARRAY[0.5, 0.9, 0.99]) WITHIN GROUP (ORDER BY end_ns - start_ns) AS p
    FROM nvtxt.events
    WHERE committed BETWEEN :'since' AND :'until' AND event_type IN (59, 60)
      AND (:'message' = '' OR text = :'message') AND start_ns >= 0 AND end_ns >= start_ns
    GROUP BY store_id
)
SELECT s.host, s.labels, x.ranges, x.p[1] / 1e6::float8 AS p50_ms, x.p[2] / 1e6::float8 AS p90_ms,
       x.p[3] / 1e6::float8 AS p99_ms, x.longest / 1e6::float8 AS longest_ms
FROM x JOIN nvtxt.stores AS s ON s.store_id = x.store_id
WHERE s.host LIKE :'host'
ORDER BY p99_ms DESC, s.host;
