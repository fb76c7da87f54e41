-- SPDX-License-Identifier: Apache-2.0
--
-- The step from version 3 of nvtxt-ship's schema to version 4: what a database of several machines
-- needs, where tables are cut by store_id. Run after 3.sql, or where version 3 is, in one
-- transaction. It says the same on one machine: distributed.sql is what has to be added on several.
--
-- Numbers of stores come from one sequence. Rows that belong together have the same store_id, so that
-- whatever is joined by it is on one machine, and views start from a table that is cut.

SET LOCAL search_path = "nvtxt", pg_temp;

-- Whoever runs this step: what is new belongs to whom the rest belongs.
DO $$
DECLARE
  holder name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'meta'::regclass);
BEGIN
  IF holder <> current_user THEN
    EXECUTE format('SET LOCAL ROLE %I', holder);
  END IF;
END $$;

-- ---- Numbers of stores ---------------------------------------------------------------------------

-- Who registers a store, and does not end, is waited for; who comes meanwhile waits, too.
SET LOCAL lock_timeout = '5s';

-- An identity of type integer cannot be had on several machines. It goes on where that one was.
CREATE SEQUENCE store_numbers AS integer;
LOCK TABLE stores IN ACCESS EXCLUSIVE MODE;
SELECT setval('store_numbers', last_value, is_called) FROM stores_store_id_seq;
DROP POLICY IF EXISTS own_number ON stores; -- of version 1, whose shippers are refused since 2
ALTER TABLE stores ALTER store_id DROP IDENTITY;

SET LOCAL lock_timeout = DEFAULT;

-- ---- Several machines ----------------------------------------------------------------------------

-- Whether the table is on several machines (Citus).
CREATE FUNCTION is_cut(name text) RETURNS boolean LANGUAGE plpgsql STABLE
  SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  found boolean := false;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1)'
      INTO found USING name::regclass;
  END IF;
  RETURN found;
END $$;

-- Whether this machine is not the one that gives numbers and makes tables.
CREATE FUNCTION is_worker() RETURNS boolean LANGUAGE plpgsql STABLE
  SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  number integer := 0;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_local_group') IS NOT NULL THEN
    EXECUTE 'SELECT groupid FROM pg_dist_local_group' INTO number;
  END IF;
  RETURN number <> 0;
END $$;

-- What the coordinator answers to a query of one value, in a transaction of its own.
CREATE FUNCTION ask_coordinator(text) RETURNS text LANGUAGE plpgsql
  SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  good boolean;
  answer text;
BEGIN
  EXECUTE 'SELECT success, result FROM run_command_on_coordinator($1)' INTO good, answer USING $1;
  IF good IS NOT TRUE THEN
    RAISE connection_exception USING MESSAGE = 'the coordinator did not answer: ' ||
      coalesce(answer, 'it is not known');
  END IF;
  RETURN answer;
END $$;

-- A number that no store has. nextval waits for nobody.
CREATE FUNCTION next_store() RETURNS integer LANGUAGE plpgsql
  SET search_path = "nvtxt", pg_temp AS $$
BEGIN
  IF is_worker() THEN
    RETURN ask_coordinator($sql$SELECT nextval('"nvtxt".store_numbers')$sql$)::integer;
  END IF;
  RETURN nextval('store_numbers');
END $$;

REVOKE EXECUTE ON FUNCTION ask_coordinator(text), next_store() FROM PUBLIC;

-- ---- Registering ---------------------------------------------------------------------------------

-- Takes a name for this session's role. Whoever takes the same one at the same time waits. A name
-- that is taken is only read.
CREATE OR REPLACE FUNCTION take_host(text) RETURNS void LANGUAGE plpgsql
  SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  holder name;
BEGIN
  IF octet_length($1) > 255 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'the host name has more than 255 bytes';
  END IF;
  PERFORM check_host($1);
  IF NOT EXISTS (SELECT FROM hosts WHERE host = $1) THEN
    holder := coalesce(host_owner($1), session_user);
    INSERT INTO hosts (host, owner) VALUES ($1, holder) ON CONFLICT (host) DO NOTHING;
    PERFORM check_host($1);
  END IF;
END $$;

-- Refuses a store that another role registered, and a name that is another role's. Writes nothing.
CREATE OR REPLACE FUNCTION check_store(store uuid, host text) RETURNS void LANGUAGE plpgsql STABLE
  SECURITY DEFINER SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  me name := session_user;
BEGIN
  IF EXISTS (SELECT FROM stores AS s WHERE s.store = $1 AND s.owner <> me) THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('the store %s belongs to another role than %I', $1, me);
  END IF;
  PERFORM check_host($2);
END $$;

-- Registers a store of this session's role, with a cursor at this place. One that it registered
-- already stays as it is.
CREATE OR REPLACE FUNCTION register_store(store uuid, host text, labels jsonb, machine text,
  path text, product text, segment bigint, event_row bigint, diagnostic_row bigint,
  loss_row bigint, batch bigint, batch_ns bigint, base bigint) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  me name := session_user; -- in a statement each machine would ask for its own
  number integer;
BEGIN
  PERFORM check_store($1, $2);
  PERFORM take_host($2);
  IF NOT EXISTS (SELECT FROM stores AS s WHERE s.store = $1) THEN
    number := next_store();
    INSERT INTO stores AS s (store_id, store, host, labels, machine, path, product, owner)
      VALUES (number, $1, $2, $3, $4, $5, $6, me)
      ON CONFLICT ON CONSTRAINT stores_store_key DO NOTHING RETURNING s.store_id INTO number;
    IF number IS NOT NULL THEN
      INSERT INTO cursors (store_id, segment, event_row, diagnostic_row, loss_row, batch, batch_ns,
        base) VALUES (number, $7, $8, $9, $10, $11, $12, $13);
    END IF;
    PERFORM check_store($1, $2);
  END IF;
END $$;

-- A row that need not change is only read: on several machines each change is one on all of them.
CREATE OR REPLACE FUNCTION describe_store(store_id integer, host text, labels jsonb, machine text,
  path text, product text) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = "nvtxt", pg_temp AS $$
BEGIN
  IF NOT mine($1) AND keeps_owners() THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('the store %s belongs to another role than %I', $1, session_user);
  END IF;
  IF EXISTS (SELECT FROM stores AS s WHERE s.store_id = $1 AND s.host <> $2) THEN
    PERFORM take_host($2);
  END IF;
  IF EXISTS (SELECT FROM stores AS s WHERE s.store_id = $1 AND (s.host, s.labels, s.machine, s.path,
             s.product) IS DISTINCT FROM ($2, $3, $4, $5, $6)) THEN
    UPDATE stores AS s SET host = $2, labels = $3, machine = $4, path = $5, product = $6
      WHERE s.store_id = $1;
  END IF;
END $$;

-- ---- Partitions ----------------------------------------------------------------------------------

-- As before; another machine has the coordinator make them.
CREATE OR REPLACE FUNCTION make_partitions(from_day date, to_day date) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = "nvtxt", pg_temp SET timezone = 'UTC'
  SET datestyle = 'ISO' SET default_tablespace = '' SET default_table_access_method = 'heap' AS $$
DECLARE
  today date := now()::date;
  first date := greatest(from_day, today - (SELECT keep_days FROM meta));
  missing date[];
  day date;
  partition text;
BEGIN
  IF (SELECT relkind FROM pg_class WHERE oid = 'events'::regclass) <> 'p' THEN
    RETURN 0;
  END IF;
  FOR look IN 1..2 LOOP
    missing := ARRAY(SELECT first + n FROM generate_series(0, least(to_day, today + 7) - first)
      AS n WHERE NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = '"nvtxt"'::regnamespace
                             AND relname = 'events_' || to_char(first + n, 'YYYYMMDD')));
    IF missing = '{}' THEN
      RETURN 0;
    END IF;
    IF is_worker() THEN
      RETURN ask_coordinator(format('SELECT "nvtxt".make_partitions(%L, %L)', from_day, to_day));
    END IF;
    IF look = 1 THEN
      PERFORM FROM meta FOR UPDATE;
    END IF;
  END LOOP;
  FOREACH day IN ARRAY missing LOOP
    partition := 'events_' || to_char(day, 'YYYYMMDD');
    EXECUTE format('CREATE TABLE %I (LIKE events)', partition);
    EXECUTE format('ALTER TABLE events ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   partition, day::timestamptz, (day + 1)::timestamptz);
  END LOOP;
  RETURN cardinality(missing);
END $$;

-- ---- The tree of a store -------------------------------------------------------------------------

-- The same query in a language whose parameters several machines understand.
DO $$
BEGIN
  EXECUTE format('CREATE OR REPLACE FUNCTION tree_of(store integer, since timestamptz DEFAULT
    ''-infinity'', until timestamptz DEFAULT ''infinity'') RETURNS TABLE (segment integer,
    row_id bigint, parent_segment integer, parent_row bigint, depth integer, path text)
    LANGUAGE plpgsql STABLE SET search_path = "nvtxt", pg_temp AS %L',
    E'\n#variable_conflict use_column\nBEGIN\n  RETURN QUERY' ||
    (SELECT prosrc FROM pg_proc WHERE oid = 'tree_of(integer, timestamptz, timestamptz)'::regprocedure)
    || E';\nEND ');
END $$;

-- ---- Views ---------------------------------------------------------------------------------------

-- Who looks at a view, and does not end, is waited for; who comes meanwhile waits, too.
SET LOCAL lock_timeout = '5s';

-- A store has a cursor from its first moment on.
CREATE OR REPLACE VIEW fleet AS
SELECT s.store_id, s.host, s.labels, c.events, c.committed, c.seen, c.behind_rows,
  CASE WHEN c.behind_rows > 0
         THEN CASE WHEN isfinite(c.committed) THEN extract(epoch FROM now() - c.committed) END
       WHEN isfinite(c.seen) THEN extract(epoch FROM now() - c.seen) END AS lag_seconds,
  least(coalesce(l.lost, 0), 9223372036854775807)::bigint AS lost, s.owner
FROM cursors AS c JOIN stores AS s ON s.store_id = c.store_id
LEFT JOIN (SELECT store_id, sum(greatest(count, 0)) AS lost FROM losses GROUP BY store_id) AS l
  ON l.store_id = c.store_id;

-- Say the store: the tree of each store that is asked for is worked out as a whole.
CREATE OR REPLACE VIEW tree AS
SELECT c.store_id, s.host, t.segment, t.row_id, t.parent_segment, t.parent_row, t.depth, t.path
FROM cursors AS c JOIN stores AS s ON s.store_id = c.store_id
CROSS JOIN LATERAL tree_of(c.store_id) AS t;

SET LOCAL lock_timeout = DEFAULT;

UPDATE meta SET version = 4, compatible = 4, changed = now();
