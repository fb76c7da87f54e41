-- SPDX-License-Identifier: Apache-2.0
-- Events a minute: what was committed, for each value of a label.
-- Parameters: label (its key), message ('': every one), host, since, until.
\ir defaults.psql
WITH x AS (
    SELECT date_trunc('minute', committed) AS minute, store_id, count(*) AS events
    FROM nvtxt.events
    WHERE committed BETWEEN :'since' AND :'until' AND (:'message' = '' OR text = :'message')
    GROUP BY 1, 2
)
SELECT x.minute AS time, coalesce(s.labels->>:'label', 'none') AS metric,
       sum(x.events)::bigint AS events
FROM x JOIN nvtxt.stores AS s ON s.store_id = x.store_id
WHERE s.host LIKE :'host'
GROUP BY 1, 2
ORDER BY 1, 2;
