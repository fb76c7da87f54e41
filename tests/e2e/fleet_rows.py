# SPDX-License-Identifier: Apache-2.0
"""A fleet of generated rows in a database, and what the queries must say of it, by plain
computation."""
import math

MESSAGES = ("GET /", "PUT /", "flush")
MINUTES = 120  # the rows are spread over them, back from now


def took(host, row):
    """How long a range took, in ns."""
    return (host * 7919 + row * 104729) % 1000003 + 1000


def generate(server, hosts, rows):
    """Stores 1 to `hosts`, in ten racks, each with `rows` ranges in one segment."""
    server.rows("""
INSERT INTO nvtxt.stores (store_id, store, host, labels) SELECT k, gen_random_uuid(), 'host' || k,
  jsonb_build_object('rack', (k %% 10)::text) FROM generate_series(1, %(hosts)d) AS k ORDER BY k;
INSERT INTO nvtxt.cursors (store_id, segment, event_row, events, committed, behind_rows, seen)
  SELECT store_id, 1, %(rows)d, %(rows)d, now(), store_id %% 3, now() - interval '1 second' * store_id
  FROM nvtxt.stores;
INSERT INTO nvtxt.segments (store_id, segment, name) SELECT store_id, 1, 'one' FROM nvtxt.stores;
INSERT INTO nvtxt.sources (store_id, source_id, segment, name)
  SELECT store_id, 1, 1, 'source' FROM nvtxt.stores;
INSERT INTO nvtxt.open_ranges (store_id, source_id, seq, global_tid, event_type, start_ns, text)
  SELECT store_id, 1, 1, 117440520, 60, nvtxt.ns(now() - interval '1 second' * store_id), 'open'
  FROM nvtxt.stores;
SELECT nvtxt.make_partitions((now() - interval '2 days')::date, now()::date);
INSERT INTO nvtxt.events (committed, start_ns, end_ns, row_id, global_tid, source_id, store_id, segment,
  event_type, unclosed, text)
  SELECT now() - interval '1 minute' * (r * %(minutes)d / %(rows)d) - interval '1 second', 1700000000000000000 + r,
  1700000000000000000 + r + (s.store_id::bigint * 7919 + r::bigint * 104729) %% 1000003 + 1000,
  r, 117440520, 1, s.store_id, 1, 59, false,
  (ARRAY['GET /', 'PUT /', 'flush'])[r %% 3 + 1]
  FROM generate_series(%(rows)d - 1, 0, -1) AS r CROSS JOIN nvtxt.stores AS s;
SELECT brin_summarize_new_values(c.oid) FROM pg_class AS c JOIN pg_am AS a ON a.oid = c.relam
  WHERE a.amname = 'brin' AND c.relkind = 'i';
ANALYZE nvtxt.events""" % {"hosts": hosts, "rows": rows, "minutes": MINUTES})


def last_hour(rows):
    """Numbers of the rows that were committed within the last 59 minutes and some."""
    return [row for row in range(rows) if row * MINUTES // rows < 59]


def percentile(values, part):
    return sorted(values)[max(math.ceil(part * len(values)), 1) - 1]


def percentiles(hosts, rows, message):
    """Of each host: count, p50, p90, p99, longest."""
    chosen = [row for row in last_hour(rows) if MESSAGES[row % 3] == message]
    found = {}
    for host in range(1, hosts + 1):
        values = [took(host, row) for row in chosen]
        found["host%d" % host] = [len(values), *(percentile(values, part) for part in (0.5, 0.9, 0.99)),
                                  max(values)]
    return found


def slow_hosts(hosts, rows, message):
    """The fleet's p99, and how many ranges of which hosts took longer."""
    chosen = [row for row in last_hour(rows) if MESSAGES[row % 3] == message]
    limit = percentile([took(host, row) for host in range(1, hosts + 1) for row in chosen], 0.99)
    found = {}
    for host in range(1, hosts + 1):
        slower = sum(took(host, row) > limit for row in chosen)
        if slower:
            found["host%d" % host] = slower
    return limit, found
