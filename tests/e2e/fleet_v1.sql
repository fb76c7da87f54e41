-- SPDX-License-Identifier: Apache-2.0
--
-- nvtxt-ship's schema, version 1: what nvtxt-ship init runs, and nvtxt-fleet(7) describes. "nvtxt"
-- stands for the name of the schema everywhere. It is run once, in one transaction (psql -1), by
-- the role that shall own the tables.
--
-- A row of events never changes. There is no key on it: cursors says what is there, and is changed
-- in the same transaction.

CREATE SCHEMA IF NOT EXISTS "nvtxt";
SET LOCAL search_path = "nvtxt", pg_temp;

-- ---- Tables --------------------------------------------------------------------------------------

CREATE TABLE meta (version integer NOT NULL, compatible integer NOT NULL,
  keep_days integer NOT NULL, changed timestamptz NOT NULL DEFAULT now());
INSERT INTO meta (version, compatible, keep_days) VALUES (1, 1, 30);

CREATE TABLE stores (store_id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  store uuid NOT NULL UNIQUE, host text NOT NULL, labels jsonb NOT NULL DEFAULT '{}', machine text,
  path text, product text, owner name NOT NULL DEFAULT session_user,
  first_seen timestamptz NOT NULL DEFAULT now());

CREATE TABLE cursors (store_id integer PRIMARY KEY REFERENCES stores ON DELETE CASCADE,
  segment bigint NOT NULL DEFAULT 0, event_row bigint NOT NULL DEFAULT 0,
  diagnostic_row bigint NOT NULL DEFAULT 0, loss_row bigint NOT NULL DEFAULT 0,
  batch bigint NOT NULL DEFAULT 0, batch_ns bigint NOT NULL DEFAULT 0,
  base bigint NOT NULL DEFAULT 0, events bigint NOT NULL DEFAULT 0, committed timestamptz,
  behind_rows bigint NOT NULL DEFAULT 0, shipper text, seen timestamptz);

CREATE TABLE segments (store_id integer NOT NULL REFERENCES stores ON DELETE CASCADE,
  segment bigint NOT NULL, name text NOT NULL, started timestamptz,
  events bigint NOT NULL DEFAULT 0, last timestamptz, complete boolean NOT NULL DEFAULT false,
  PRIMARY KEY (store_id, segment));

CREATE TABLE events (committed timestamptz NOT NULL, start_ns bigint NOT NULL,
  end_ns bigint NOT NULL, row_id bigint NOT NULL, global_tid bigint NOT NULL,
  source_id bigint NOT NULL, range_id bigint, domain_id bigint, category bigint, color bigint,
  end_global_tid bigint, int64_value bigint, double_value double precision, json_text text,
  store_id integer NOT NULL, segment integer NOT NULL, event_type smallint NOT NULL,
  payload_type smallint, unclosed boolean NOT NULL, text text COLLATE "C" NOT NULL)
  PARTITION BY RANGE (committed);
CREATE INDEX events_brin ON events USING brin (committed, start_ns int8_minmax_multi_ops,
  store_id int4_minmax_multi_ops, text text_bloom_ops)
  WITH (pages_per_range = 32, autosummarize = on);

CREATE TABLE sources (store_id integer NOT NULL REFERENCES stores ON DELETE CASCADE,
  source_id bigint NOT NULL, segment bigint NOT NULL, kind text, session text, name text,
  display_name text, peer_pid bigint, peer_uid bigint, peer_gid bigint, peer_comm text,
  opened timestamptz, closed timestamptz, ended text, lines bigint, events bigint,
  warnings bigint, errors bigint, first_ns bigint, last_ns bigint,
  PRIMARY KEY (store_id, source_id));

-- logs begins
-- Sources that are logs: payloads of their marks are levels of syslog, 0 (emerg) to 7 (debug), or
-- NULL. A schema that was made before there was this table gets it from nvtxt-ship init.
CREATE TABLE IF NOT EXISTS "nvtxt".logs (store_id integer NOT NULL
  REFERENCES "nvtxt".stores ON DELETE CASCADE, source_id bigint NOT NULL,
  PRIMARY KEY (store_id, source_id));
-- logs ends

CREATE TABLE domains (store_id integer NOT NULL REFERENCES stores ON DELETE CASCADE,
  domain_id bigint NOT NULL, name text NOT NULL, PRIMARY KEY (store_id, domain_id));

CREATE TABLE categories (store_id integer NOT NULL, segment bigint NOT NULL,
  domain_id bigint NOT NULL, pid bigint NOT NULL, category bigint NOT NULL, name text NOT NULL,
  PRIMARY KEY (store_id, segment, domain_id, pid, category),
  FOREIGN KEY (store_id, segment) REFERENCES segments ON DELETE CASCADE);

CREATE TABLE threads (store_id integer NOT NULL, segment bigint NOT NULL,
  global_tid bigint NOT NULL, name text NOT NULL, PRIMARY KEY (store_id, segment, global_tid),
  FOREIGN KEY (store_id, segment) REFERENCES segments ON DELETE CASCADE);

CREATE TABLE processes (store_id integer NOT NULL, segment bigint NOT NULL, pid bigint NOT NULL,
  name text NOT NULL, PRIMARY KEY (store_id, segment, pid),
  FOREIGN KEY (store_id, segment) REFERENCES segments ON DELETE CASCADE);

CREATE TABLE diagnostics (store_id integer NOT NULL REFERENCES stores ON DELETE CASCADE,
  segment bigint NOT NULL, row_id bigint NOT NULL, source_id bigint, line bigint, col bigint,
  severity text, stage text, code text, message text, excerpt text, at timestamptz,
  PRIMARY KEY (store_id, segment, row_id));
CREATE INDEX diagnostics_at ON diagnostics (at);

CREATE TABLE losses (store_id integer NOT NULL REFERENCES stores ON DELETE CASCADE,
  segment bigint NOT NULL, row_id bigint NOT NULL, at timestamptz, source_id bigint, uid bigint,
  pid bigint, reason text NOT NULL, count bigint NOT NULL,
  PRIMARY KEY (store_id, segment, row_id));

CREATE TABLE open_ranges (store_id integer NOT NULL REFERENCES stores ON DELETE CASCADE,
  source_id bigint NOT NULL, seq bigint NOT NULL, global_tid bigint, event_type smallint,
  start_ns bigint, domain_id bigint, category bigint, color bigint, text text,
  PRIMARY KEY (store_id, source_id, seq));

-- ---- Functions -----------------------------------------------------------------------------------

-- Nanoseconds since 1970 to a time, cut to microseconds, and back. An interval is read from text,
-- because the product of an interval and a number goes through floating point.
CREATE FUNCTION at(bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN timestamptz '1970-01-01 00:00:00+00' + (($1 / 1000)::text || ' microseconds')::interval;
CREATE FUNCTION ns(timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (extract(epoch FROM $1) * 1000000000)::bigint;

-- Makes the partitions of these days, both included, that are missing: only kept days and two
-- ahead. A day is one of UTC. ATTACH waits for nobody who writes into other partitions.
CREATE FUNCTION make_partitions(from_day date, to_day date) RETURNS integer LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = "nvtxt", pg_temp SET timezone = 'UTC' AS $$
DECLARE
  today date := now()::date;
  day date;
  partition text;
  made integer := 0;
BEGIN
  IF (SELECT relkind FROM pg_class WHERE oid = 'events'::regclass) <> 'p' THEN
    RETURN 0;
  END IF;
  PERFORM pg_advisory_xact_lock('events'::regclass::oid::bigint);
  day := greatest(from_day, today - (SELECT keep_days FROM meta));
  WHILE day <= least(to_day, today + 2) LOOP
    partition := 'events_' || to_char(day, 'YYYYMMDD');
    IF NOT EXISTS (SELECT FROM pg_class WHERE relname = partition
                   AND relnamespace = '"nvtxt"'::regnamespace) THEN
      EXECUTE format('CREATE TABLE %I (LIKE events)', partition);
      EXECUTE format('ALTER TABLE events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                     partition, day::timestamptz, (day + 1)::timestamptz);
      made := made + 1;
    END IF;
    day := day + 1;
  END LOOP;
  RETURN made;
END $$;

-- Whether the store is one that this session's role registered.
CREATE FUNCTION mine(integer) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = "nvtxt", pg_temp AS
  $$ SELECT EXISTS (SELECT FROM stores WHERE store_id = $1 AND owner = session_user) $$;

REVOKE EXECUTE ON FUNCTION make_partitions(date, date), mine(integer) FROM PUBLIC;

-- own_rows begins
-- COPY is refused on a table with row-level security, so a trigger keeps a host to its own rows.
-- OFFSET 0 has the question asked once for each store. Without it the planner asks for each row.
CREATE FUNCTION own_rows() RETURNS trigger LANGUAGE plpgsql
  SET search_path = "nvtxt", pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM (SELECT DISTINCT store_id FROM added OFFSET 0) AS a
             WHERE NOT mine(a.store_id)) THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('events of a store that belongs to another role than %I', session_user);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER own_rows AFTER INSERT ON events REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION own_rows();
-- own_rows ends

-- ---- Views ---------------------------------------------------------------------------------------

-- timeline begins
-- One row an event. The largest values of a UINT64 payload stand in int64_value as their two's
-- complement. A duration that no bigint holds is the nearest that one does. A name that a category
-- has in all processes (ca) is that of processes that gave it none; a schema that was made before
-- the view knew this gets the view from nvtxt-ship init.
CREATE OR REPLACE VIEW "nvtxt".timeline AS
SELECT e.committed, s.host, s.labels, at(e.start_ns) AS started,
  CASE WHEN e.start_ns < 0 AND e.end_ns > 9223372036854775807 + e.start_ns
         THEN 9223372036854775807
       WHEN e.start_ns >= 0 AND e.end_ns < (-9223372036854775807 - 1) + e.start_ns
         THEN (-9223372036854775807 - 1)
       ELSE e.end_ns - e.start_ns END AS duration,
  CASE e.event_type WHEN 34 THEN 'mark' WHEN 59 THEN 'push/pop' ELSE 'start/end' END AS kind,
  e.text AS message, coalesce(c.name, ca.name, e.category::text) AS category,
  '#' || upper(lpad(to_hex(e.color), 8, '0')) AS color, p.name AS process, t.name AS thread,
  coalesce(o.name, o.display_name, o.peer_comm, 'source ' || o.source_id) AS source,
  d.name AS domain,
  CASE WHEN e.payload_type = 1 AND e.int64_value < 0
         THEN (e.int64_value::numeric + 18446744073709551616)::text
       WHEN e.payload_type = 6 AND abs(e.double_value) < 3.4e38 THEN e.double_value::real::text
       ELSE coalesce(e.int64_value::text, e.double_value::text, e.json_text) END AS payload,
  e.global_tid >> 24 & 16777215 AS pid, e.global_tid & 16777215 AS tid, e.start_ns, e.end_ns,
  e.unclosed, e.store_id, e.segment, e.row_id, e.source_id
FROM events AS e
LEFT JOIN stores AS s ON s.store_id = e.store_id
LEFT JOIN sources AS o ON o.store_id = e.store_id AND o.source_id = e.source_id
LEFT JOIN domains AS d ON d.store_id = e.store_id AND d.domain_id = e.domain_id
LEFT JOIN categories AS c ON c.store_id = e.store_id AND c.segment = e.segment
  AND c.domain_id = coalesce(e.domain_id, 0) AND c.pid = (e.global_tid >> 24 & 16777215)
  AND c.category = coalesce(e.category, 0)
LEFT JOIN categories AS ca ON ca.store_id = e.store_id AND ca.segment = e.segment
  AND ca.domain_id = coalesce(e.domain_id, 0) AND ca.pid = -1
  AND ca.category = coalesce(e.category, 0)
LEFT JOIN processes AS p ON p.store_id = e.store_id AND p.segment = e.segment
  AND p.pid = (e.global_tid >> 24 & 16777215)
LEFT JOIN threads AS t ON t.store_id = e.store_id AND t.segment = e.segment
  AND t.global_tid = e.global_tid;
-- timeline ends

CREATE VIEW fleet AS
SELECT s.store_id, s.host, s.labels, c.events, c.committed, c.seen, c.behind_rows,
  (SELECT CASE WHEN isfinite(w.since) THEN extract(epoch FROM now() - w.since) END FROM (SELECT
    CASE WHEN c.behind_rows > 0 THEN c.committed ELSE c.seen END) AS w (since)) AS lag_seconds,
  least(coalesce((SELECT sum(greatest(l.count, 0)) FROM losses AS l
    WHERE l.store_id = s.store_id), 0), 9223372036854775807)::bigint AS lost
FROM stores AS s LEFT JOIN cursors AS c ON c.store_id = s.store_id;

CREATE VIEW running AS
SELECT s.host, s.labels, o.text AS message,
  ((ns(now()) - o.start_ns::numeric) / 1000000000)::double precision AS seconds,
  o.global_tid >> 24 & 16777215 AS pid, o.global_tid & 16777215 AS tid, o.*
FROM open_ranges AS o LEFT JOIN stores AS s ON s.store_id = o.store_id;
-- SPDX-License-Identifier: Apache-2.0
--
-- The roles of nvtxt-ship's schema: "nvtxt_ship" adds rows of stores that are its own, "nvtxt_read"
-- reads everything. Run after 1.sql, by the same role, in one transaction. Both are roles without
-- login, to be granted: CREATE ROLE host17 LOGIN IN ROLE nvtxt_ship. A key that was stolen from a
-- host can only add: with it nobody reads an event, changes one, or touches a row of another host.

SET LOCAL search_path = "nvtxt", pg_temp;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['nvtxt_ship', 'nvtxt_read'] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', name);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL; -- another database's init made it at the same time
      END;
    END IF;
  END LOOP;
END $$;

GRANT USAGE ON SCHEMA "nvtxt" TO "nvtxt_ship", "nvtxt_read";

-- COPY needs no more than INSERT. Nobody is granted anything on a partition.
GRANT INSERT ON events TO "nvtxt_ship";
GRANT SELECT, INSERT ON diagnostics, losses, logs TO "nvtxt_ship";
GRANT SELECT, INSERT, UPDATE ON stores, cursors, segments, sources, domains, categories, threads,
  processes TO "nvtxt_ship";
GRANT SELECT, INSERT, UPDATE, DELETE ON open_ranges TO "nvtxt_ship";
GRANT SELECT ON meta TO "nvtxt_ship";
GRANT SELECT ON SEQUENCE stores_store_id_seq TO "nvtxt_ship"; -- for the policy own_number
GRANT EXECUTE ON FUNCTION make_partitions(date, date), mine(integer) TO "nvtxt_ship";

GRANT SELECT ON meta, stores, cursors, segments, events, sources, domains, categories, threads,
  processes, diagnostics, losses, logs, open_ranges, timeline, fleet, running TO "nvtxt_read";

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['stores', 'cursors', 'segments', 'sources', 'domains', 'categories',
                              'threads', 'processes', 'diagnostics', 'losses', 'logs',
                              'open_ranges'] LOOP
    CONTINUE WHEN EXISTS (SELECT FROM pg_policies WHERE schemaname = 'nvtxt' AND tablename = name);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY read ON %I FOR SELECT TO "nvtxt_read" USING (true)', name);
    EXECUTE format('CREATE POLICY ship ON %I TO "nvtxt_ship" USING (%s)', name,
                   CASE name WHEN 'stores' THEN 'owner = session_user' ELSE 'mine(store_id)' END);
  END LOOP;
END $$;

-- Nobody chooses the number of a store: neither one that another store gets later, nor one that a
-- removed store had. Numbers below 0 are for trying, and rolled back.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_policies WHERE schemaname = 'nvtxt'
                 AND policyname = 'own_number') THEN
    CREATE POLICY own_number ON stores AS RESTRICTIVE FOR INSERT TO "nvtxt_ship" WITH CHECK
      (CASE WHEN store_id < 0 THEN true ELSE store_id = currval('stores_store_id_seq') END);
  END IF;
END $$;
