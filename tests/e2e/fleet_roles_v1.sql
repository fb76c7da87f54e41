-- SPDX-License-Identifier: Apache-2.0
--
-- The roles of version 1 of nvtxt-ship's schema, as its own program made them after 1.sql: fleets
-- that are brought up have these. It never changes.

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
