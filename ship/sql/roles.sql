-- SPDX-License-Identifier: Apache-2.0
--
-- The roles of nvtxt-ship's schema: "nvtxt_ship" adds rows of stores that are its own, "nvtxt_read"
-- reads everything. Run after 4.sql (and distributed.sql), by the same role, in one transaction. Both
-- are roles without login, to be granted: CREATE ROLE host17 LOGIN IN ROLE nvtxt_ship. A key that was
-- stolen from a host can only add: with it nobody reads an event, changes one, or touches a row of
-- another host. Nor does it stop one: without a right to update, delete or truncate a whole table no
-- LOCK TABLE is allowed that others would wait for. (On several machines it is: see below.)

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
GRANT SELECT, INSERT ON diagnostics, losses, logs, segments, sources, source_parents, range_keys,
  domains, categories, threads, processes, open_ranges TO "nvtxt_ship";
GRANT SELECT ON meta, stores, cursors TO "nvtxt_ship";

-- The columns that a shipper writes. Tables on several machines have no rights of columns: there it
-- may update all of them, and so may lock those tables.
DO $$
DECLARE
  name text;
  names text;
BEGIN
  FOR name, names IN VALUES
      ('cursors', 'segment, event_row, diagnostic_row, loss_row, batch, batch_ns, base, events, '
        'committed, behind_rows, shipper, seen'),
      ('segments', 'events, last, complete'),
      ('sources', 'segment, kind, session, name, display_name, peer_pid, peer_uid, peer_gid, '
        'peer_comm, opened, closed, ended, lines, events, warnings, errors, first_ns, last_ns'),
      ('domains', 'name'), ('categories', 'name'), ('threads', 'name'), ('processes', 'name'),
      ('open_ranges', 'source_id, seq, global_tid, event_type, start_ns, domain_id, category, '
        'color, text'), ('stores', NULL) LOOP
    -- What version 1 gave.
    IF has_table_privilege('nvtxt_ship', name, 'DELETE, TRUNCATE')
        OR NOT is_cut(name) AND has_table_privilege('nvtxt_ship', name, 'UPDATE') THEN
      EXECUTE format('REVOKE UPDATE, DELETE, TRUNCATE ON %I FROM "nvtxt_ship"', name);
    END IF;
    IF name IN ('stores', 'cursors') AND has_table_privilege('nvtxt_ship', name, 'INSERT') THEN
      EXECUTE format('REVOKE INSERT ON %I FROM "nvtxt_ship"', name);
    END IF;
    IF names IS NOT NULL THEN
      EXECUTE format('GRANT UPDATE %s ON %I TO "nvtxt_ship"',
                     CASE WHEN is_cut(name) THEN '' ELSE '(' || names || ')' END, name);
    END IF;
  END LOOP;
END $$;

GRANT EXECUTE ON FUNCTION make_partitions(date, date), mine(integer), check_store(uuid, text),
  register_store(uuid, text, jsonb, text, text, text, bigint, bigint, bigint, bigint, bigint,
  bigint, bigint), describe_store(integer, text, jsonb, text, text, text) TO "nvtxt_ship";

GRANT SELECT ON meta, stores, cursors, segments, events, sources, domains, categories, threads,
  processes, diagnostics, losses, logs, source_parents, range_keys, open_ranges, hosts, timeline,
  fleet, running, tree TO "nvtxt_read";

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['stores', 'cursors', 'segments', 'sources', 'domains', 'categories',
                              'threads', 'processes', 'diagnostics', 'losses', 'logs',
                              'source_parents', 'range_keys', 'open_ranges'] LOOP
    CONTINUE WHEN EXISTS (SELECT FROM pg_policies WHERE schemaname = 'nvtxt' AND tablename = name);
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY read ON %I FOR SELECT TO "nvtxt_read" USING (true)', name);
    EXECUTE format('CREATE POLICY ship ON %I TO "nvtxt_ship" USING (%s)', name,
                   CASE name WHEN 'stores' THEN 'owner = session_user' ELSE 'mine(store_id)' END);
  END LOOP;
END $$;
