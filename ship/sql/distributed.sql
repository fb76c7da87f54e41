-- SPDX-License-Identifier: Apache-2.0
--
-- What nvtxt-ship init --distributed adds to the schema: its tables on several machines (Citus). Run
-- after 4.sql, by the same role, on the coordinator. What is done already is left alone, so it may be
-- broken off, and run again. nvtxt-ship init runs the last statements one by one, each in a
-- transaction of its own. Rows that are there are brought over by the engine's own functions.

SET LOCAL search_path = "nvtxt", pg_temp;

-- Whoever runs this: what is new belongs to whom the rest belongs.
DO $$
DECLARE
  holder name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'meta'::regclass);
BEGIN
  IF holder <> current_user THEN
    EXECUTE format('SET LOCAL ROLE %I', holder);
  END IF;
END $$;

-- The tables that are still on one machine, in the order in which they go. meta, hosts and stores are
-- small, and every machine has them; events are the last.
CREATE OR REPLACE FUNCTION uncut() RETURNS SETOF text LANGUAGE sql STABLE
  SET search_path = "nvtxt", pg_temp AS $$
  SELECT name FROM unnest('{meta,hosts,stores,cursors,segments,sources,logs,source_parents,domains,
    categories,threads,processes,diagnostics,losses,range_keys,open_ranges,events}'::text[])
    WITH ORDINALITY AS t (name, place) WHERE NOT is_cut(name) ORDER BY place $$;

-- Before the first table: a key cannot stand between a table that is cut and one that is not. What
-- asks for rows while it is asked for rows of another table has to be allowed that.
CREATE OR REPLACE FUNCTION begin_cut() RETURNS void LANGUAGE plpgsql
  SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  key record;
  name text;
BEGIN
  PERFORM FROM meta FOR UPDATE;
  IF is_cut('events') THEN
    RETURN;
  END IF;
  FOR key IN SELECT conrelid::regclass AS holder, conname FROM pg_constraint
      WHERE contype = 'f' AND conrelid IN (SELECT u::regclass FROM uncut() AS u) LOOP
    EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', key.holder, key.conname);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['mine(integer)', 'parent_of(integer, text, bigint)',
      'lane_parents(integer, timestamptz, timestamptz)',
      'tree_of(integer, timestamptz, timestamptz)'] LOOP
    EXECUTE format('ALTER FUNCTION %s SET citus.allow_nested_distributed_execution = on', name);
  END LOOP;
END $$;

-- Cuts one table, with its rows. Rights of columns are none of a table that is cut.
CREATE OR REPLACE FUNCTION cut(name text) RETURNS void LANGUAGE plpgsql
  SET search_path = "nvtxt", pg_temp SET citus.enable_unsafe_triggers = on AS $$
DECLARE
  known name;
  named name[] := '{}';
BEGIN
  IF name <> 'meta' THEN
    PERFORM FROM meta FOR UPDATE;
  END IF;
  IF is_cut(name) THEN
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'nvtxt_ship')
      AND has_any_column_privilege('nvtxt_ship', name, 'UPDATE') THEN
    EXECUTE format('REVOKE UPDATE ON %I FROM "nvtxt_ship"', name);
    EXECUTE format('GRANT UPDATE ON %I TO "nvtxt_ship"', name);
  END IF;
  IF name = 'meta' THEN
    -- A machine gets the roles that a table names. One that was made before the extension was is
    -- named by nothing, so it is named for a moment.
    named := ARRAY(SELECT r.rolname FROM pg_roles AS r WHERE NOT r.rolsuper AND (EXISTS (SELECT FROM
      pg_roles AS s WHERE s.rolname IN ('nvtxt_ship', 'nvtxt_read') AND s.oid <> r.oid
      AND pg_has_role(r.oid, s.oid, 'MEMBER')) OR r.rolname IN (SELECT owner FROM stores)
      OR r.rolname IN (SELECT owner FROM hosts)) AND NOT EXISTS (SELECT FROM pg_class AS c,
      aclexplode(c.relacl) AS g WHERE c.oid = 'meta'::regclass AND g.grantee = r.oid));
  END IF;
  FOREACH known IN ARRAY named LOOP
    EXECUTE format('GRANT SELECT ON meta TO %I', known);
  END LOOP;
  IF name IN ('meta', 'hosts', 'stores') THEN
    PERFORM create_reference_table(name);
  ELSIF name = 'cursors' THEN
    PERFORM create_distributed_table(name, 'store_id');
  ELSE
    PERFORM create_distributed_table(name, 'store_id', colocate_with := 'cursors');
  END IF;
  FOREACH known IN ARRAY named LOOP
    EXECUTE format('REVOKE SELECT ON meta FROM %I', known);
  END LOOP;
END $$;

-- After the last table: the keys again.
CREATE OR REPLACE FUNCTION end_cut() RETURNS void LANGUAGE plpgsql
  SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  name text;
  columns text;
  other text;
BEGIN
  PERFORM FROM meta FOR UPDATE;
  FOR name, columns, other IN SELECT t.name, k.columns, k.other FROM (VALUES
      ('{cursors,segments,sources,logs,source_parents,domains,diagnostics,losses,open_ranges}'::text[],
        'store_id', 'stores'),
      ('{categories,threads,processes,range_keys}', 'store_id, segment', 'segments'))
      AS k (names, columns, other), unnest(k.names) AS t (name) LOOP
    IF NOT EXISTS (SELECT FROM pg_constraint WHERE contype = 'f' AND conrelid = name::regclass) THEN
      EXECUTE format('ALTER TABLE %I ADD FOREIGN KEY (%s) REFERENCES %I ON DELETE CASCADE', name,
                     columns, other);
    END IF;
  END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION uncut(), begin_cut(), cut(text), end_cut() FROM PUBLIC;

-- cut begins
SELECT begin_cut();
SELECT cut(name) FROM uncut() AS name;
SELECT end_cut();
-- cut ends
