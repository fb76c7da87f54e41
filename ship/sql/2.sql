-- SPDX-License-Identifier: Apache-2.0
--
-- The step from version 1 of nvtxt-ship's schema to version 2: rights. Run after 1.sql, or where
-- version 1 is, in one transaction.
--
-- With a key that was stolen from a host nobody stops another host. Whoever may update, delete or
-- truncate a table may also lock it in every mode, which row-level security does not see; so nobody
-- who ships has one of these rights (roles.sql). What needs more is done by functions of the owner,
-- which look at session_user. None of them is part of a round.

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

-- ---- Names of hosts ------------------------------------------------------------------------------

-- Whose a name is: the role's that registered a store of it first, or the one that nvtxt-ship init
-- --host gave it to. There may be neither a store nor a role of these names yet.
CREATE TABLE hosts (host text COLLATE "C" PRIMARY KEY, owner name NOT NULL);

-- Whether a role ships only stores of its own: not where there are neither roles nor the trigger.
CREATE FUNCTION keeps_owners() RETURNS boolean LANGUAGE sql STABLE
  SET search_path = "nvtxt", pg_temp AS
  $$ SELECT (SELECT relrowsecurity FROM pg_class WHERE oid = 'stores'::regclass) OR EXISTS (SELECT
     FROM pg_trigger WHERE tgname = 'own_rows' AND tgrelid = 'events'::regclass) $$;

-- Whose the name is; NULL: nobody's.
CREATE FUNCTION host_owner(text) RETURNS name LANGUAGE sql STABLE
  SET search_path = "nvtxt", pg_temp AS
  $$ SELECT coalesce((SELECT owner FROM hosts WHERE host = $1),
                     (SELECT owner FROM stores WHERE host = $1 ORDER BY store_id LIMIT 1)) $$;

-- Refuses a name that is another role's.
CREATE FUNCTION check_host(text) RETURNS void LANGUAGE plpgsql STABLE
  SET search_path = "nvtxt", pg_temp AS $$
BEGIN
  IF host_owner($1) <> session_user AND keeps_owners() THEN
    RAISE insufficient_privilege USING MESSAGE = format('the host name %s belongs to another role '
      'than %I: to %I; it can be given away with nvtxt-ship init --host %s=%s', $1, session_user,
      host_owner($1), $1, session_user);
  END IF;
END $$;

-- Takes a name for this session's role. Whoever takes the same one at the same time waits.
CREATE FUNCTION take_host(text) RETURNS void LANGUAGE plpgsql
  SET search_path = "nvtxt", pg_temp AS $$
BEGIN
  IF octet_length($1) > 255 THEN
    RAISE invalid_parameter_value USING MESSAGE = 'the host name has more than 255 bytes';
  END IF;
  PERFORM check_host($1);
  INSERT INTO hosts (host, owner) VALUES ($1, coalesce(host_owner($1), session_user))
    ON CONFLICT (host) DO NOTHING;
  PERFORM check_host($1);
END $$;

-- ---- Registering ---------------------------------------------------------------------------------

-- Refuses a store that another role registered, and a name that is another role's. Writes nothing.
CREATE FUNCTION check_store(store uuid, host text) RETURNS void LANGUAGE plpgsql STABLE
  SECURITY DEFINER SET search_path = "nvtxt", pg_temp AS $$
BEGIN
  IF EXISTS (SELECT FROM stores AS s WHERE s.store = $1 AND s.owner <> session_user) THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('the store %s belongs to another role than %I', $1, session_user);
  END IF;
  PERFORM check_host($2);
END $$;

-- Registers a store of this session's role, with a cursor at this place. One that it registered
-- already stays as it is. A number comes from a sequence: nextval waits for nobody.
CREATE FUNCTION register_store(store uuid, host text, labels jsonb, machine text, path text,
  product text, segment bigint, event_row bigint, diagnostic_row bigint, loss_row bigint,
  batch bigint, batch_ns bigint, base bigint) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  number integer;
BEGIN
  PERFORM check_store($1, $2);
  PERFORM take_host($2);
  INSERT INTO stores AS s (store, host, labels, machine, path, product, owner)
    VALUES ($1, $2, $3, $4, $5, $6, session_user) ON CONFLICT ON CONSTRAINT stores_store_key
    DO NOTHING RETURNING s.store_id INTO number;
  IF number IS NOT NULL THEN
    INSERT INTO cursors VALUES (number, $7, $8, $9, $10, $11, $12, $13);
  END IF;
  PERFORM check_store($1, $2);
END $$;

-- Writes what has changed of a store of this session's role.
CREATE FUNCTION describe_store(store_id integer, host text, labels jsonb, machine text, path text,
  product text) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = "nvtxt", pg_temp AS $$
BEGIN
  IF NOT mine($1) AND keeps_owners() THEN
    RAISE insufficient_privilege USING
      MESSAGE = format('the store %s belongs to another role than %I', $1, session_user);
  END IF;
  IF EXISTS (SELECT FROM stores AS s WHERE s.store_id = $1 AND s.host <> $2) THEN
    PERFORM take_host($2);
  END IF;
  UPDATE stores AS s SET host = $2, labels = $3, machine = $4, path = $5, product = $6
    WHERE s.store_id = $1 AND (s.host, s.labels, s.machine, s.path, s.product)
      IS DISTINCT FROM ($2, $3, $4, $5, $6);
END $$;

REVOKE EXECUTE ON FUNCTION keeps_owners(), host_owner(text), check_host(text), take_host(text),
  check_store(uuid, text), register_store(uuid, text, jsonb, text, text, text, bigint, bigint,
  bigint, bigint, bigint, bigint, bigint), describe_store(integer, text, jsonb, text, text, text)
  FROM PUBLIC;

-- ---- Partitions ----------------------------------------------------------------------------------

-- Makes the partitions of these days, both included, that are missing: only kept days and seven
-- ahead. A day is one of UTC. ATTACH waits for nobody who writes into other partitions. Who makes
-- some locks the row of meta, which only the owner can; who finds none missing locks nothing.
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

-- ---- Views ---------------------------------------------------------------------------------------

-- Who looks at a view, and does not end, is waited for; who comes meanwhile waits, too.
SET LOCAL lock_timeout = '5s';

CREATE OR REPLACE VIEW fleet AS
SELECT s.store_id, s.host, s.labels, c.events, c.committed, c.seen, c.behind_rows,
  CASE WHEN c.behind_rows > 0
         THEN CASE WHEN isfinite(c.committed) THEN extract(epoch FROM now() - c.committed) END
       WHEN isfinite(c.seen) THEN extract(epoch FROM now() - c.seen) END AS lag_seconds,
  least(coalesce(l.lost, 0), 9223372036854775807)::bigint AS lost, s.owner
FROM stores AS s LEFT JOIN cursors AS c ON c.store_id = s.store_id
LEFT JOIN (SELECT store_id, sum(greatest(count, 0)) AS lost FROM losses GROUP BY store_id) AS l
  ON l.store_id = s.store_id;

-- A row of open_ranges without a beginning is free: its range has ended, and another one takes it.
CREATE OR REPLACE VIEW running AS
SELECT s.host, s.labels, o.text AS message,
  ((ns(now()) - o.start_ns::numeric) / 1000000000)::double precision AS seconds,
  o.global_tid >> 24 & 16777215 AS pid, o.global_tid & 16777215 AS tid, o.*
FROM open_ranges AS o LEFT JOIN stores AS s ON s.store_id = o.store_id
WHERE o.start_ns IS NOT NULL;

SET LOCAL lock_timeout = DEFAULT;

UPDATE meta SET version = 2, compatible = 2, changed = now();
