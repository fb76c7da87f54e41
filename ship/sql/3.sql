-- SPDX-License-Identifier: Apache-2.0
--
-- The step from version 2 of nvtxt-ship's schema to version 3: parents of ranges in other processes.
-- Run after 2.sql, or where version 2 is, in one transaction.
--
-- The tables beside events are as those of a store: what a source began under, and which row a key
-- became. What is under what is worked out when it is asked for.

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

-- ---- Tables --------------------------------------------------------------------------------------

-- A key on a table waits for those who write to it, and who comes meanwhile waits, too.
SET LOCAL lock_timeout = '5s';

-- What was said of the parent of all outermost events of a source: SESSION:KEY. It never changes.
CREATE TABLE source_parents (store_id integer NOT NULL REFERENCES stores ON DELETE CASCADE,
  source_id bigint NOT NULL, parent text COLLATE "C" NOT NULL, PRIMARY KEY (store_id, source_id));

-- The events that have a key in their session, and those of these that have a parent of their own.
CREATE TABLE range_keys (store_id integer NOT NULL, segment bigint NOT NULL, row_id bigint NOT NULL,
  source_id bigint NOT NULL, key text COLLATE "C" NOT NULL, parent text COLLATE "C",
  PRIMARY KEY (store_id, segment, row_id),
  FOREIGN KEY (store_id, segment) REFERENCES segments ON DELETE CASCADE);
CREATE INDEX range_keys_key ON range_keys (store_id, source_id, key);

SET LOCAL lock_timeout = DEFAULT;

-- ---- Functions -----------------------------------------------------------------------------------

-- The row that a token means which a user said; none: it is unknown. A session without that key has
-- the range of its command, or stands for what it began under itself. Of 100 such sessions, one under
-- the other, nobody looks further, as nvtxt-report: a store may have a long chain of them.
CREATE FUNCTION parent_of(store integer, token text, uid bigint)
  RETURNS TABLE (segment bigint, row_id bigint) LANGUAGE plpgsql STABLE
  SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  said text := token;
  seen text[] := '{}';
BEGIN
  WHILE said IS NOT NULL AND said <> ALL (seen) AND cardinality(seen) < 100 LOOP
    RETURN QUERY SELECT k.segment, k.row_id FROM sources AS s
      JOIN range_keys AS k ON k.store_id = s.store_id AND k.source_id = s.source_id
      WHERE s.store_id = store AND s.session = split_part(said, ':', 1)
        AND s.peer_uid = uid AND k.key IN (split_part(said, ':', 2), 'run')
      ORDER BY k.key = split_part(said, ':', 2) DESC, k.segment, k.row_id LIMIT 1;
    IF FOUND THEN
      RETURN;
    END IF;
    seen := seen || said;
    SELECT p.parent INTO said FROM sources AS s
      JOIN source_parents AS p ON p.store_id = s.store_id AND p.source_id = s.source_id
      WHERE s.store_id = store AND s.session = split_part(said, ':', 1)
        AND s.peer_uid = uid ORDER BY s.source_id LIMIT 1;
  END LOOP;
END $$;

-- The push/pop range that is around each push/pop range and mark of a store in its lane, which is a
-- thread and a domain: the one that began last of those that are open. Outermost ones have none.
CREATE FUNCTION lane_parents(store integer, since timestamptz, until timestamptz)
  RETURNS TABLE (segment integer, row_id bigint, parent_segment integer, parent_row bigint)
  LANGUAGE plpgsql STABLE SET search_path = "nvtxt", pg_temp AS $$
DECLARE
  e record;
  lane bigint[];
  last bigint[];
  ends bigint[];
  segments integer[];
  rows bigint[];
  depth integer := 0;
BEGIN
  FOR e IN SELECT v.segment AS at, v.row_id AS number, v.start_ns, v.end_ns, v.event_type,
      ARRAY[v.global_tid, coalesce(v.domain_id, 0)] AS lane FROM events AS v
      WHERE v.store_id = store AND v.committed BETWEEN since AND until AND v.event_type IN (34, 59)
      ORDER BY v.global_tid, coalesce(v.domain_id, 0), v.start_ns, v.event_type DESC,
        v.end_ns DESC, v.segment DESC, v.row_id DESC LOOP
    IF last IS DISTINCT FROM e.lane THEN
      depth := 0;
      last := e.lane;
    END IF;
    WHILE depth > 0 AND ends[depth] <= e.start_ns LOOP
      depth := depth - 1;
    END LOOP;
    segment := e.at;
    row_id := e.number;
    parent_segment := CASE WHEN depth > 0 THEN segments[depth] END;
    parent_row := CASE WHEN depth > 0 THEN rows[depth] END;
    RETURN NEXT;
    IF e.event_type = 59 AND e.end_ns > e.start_ns THEN
      depth := depth + 1;
      ends[depth] := e.end_ns;
      segments[depth] := e.at;
      rows[depth] := e.number;
    END IF;
  END LOOP;
END $$;

-- The tree of a store: of each event what it is under, how deep, and the messages from the outermost
-- one on, with ; between them. What is under an event that is not there any more, or of another span
-- of time, is outermost. In a circle of parents one that did not begin earlier does not count.
CREATE FUNCTION tree_of(store integer, since timestamptz DEFAULT '-infinity',
  until timestamptz DEFAULT 'infinity')
  RETURNS TABLE (segment integer, row_id bigint, parent_segment integer, parent_row bigint,
    depth integer, path text)
  LANGUAGE sql STABLE SET search_path = "nvtxt", pg_temp AS $$
WITH RECURSIVE lanes AS MATERIALIZED (
  SELECT * FROM lane_parents(store, since, until)
), outermost AS MATERIALIZED ( -- with what was said of their parents
  SELECT v.segment, v.row_id, v.start_ns, replace(v.text, ';', ',') AS text,
    coalesce(k.parent, p.parent) AS token, s.peer_uid AS uid, l.parent_segment, l.parent_row
  FROM events AS v
  LEFT JOIN lanes AS l ON l.segment = v.segment AND l.row_id = v.row_id
  LEFT JOIN range_keys AS k ON k.store_id = store AND k.segment = v.segment AND k.row_id = v.row_id
  LEFT JOIN source_parents AS p ON p.store_id = store AND p.source_id = v.source_id
  LEFT JOIN sources AS s ON s.store_id = store AND s.source_id = v.source_id
  WHERE v.store_id = store AND v.committed BETWEEN since AND until AND v.event_type IN (34, 59, 60)
), known AS MATERIALIZED (
  SELECT t.token, t.uid, r.segment, r.row_id
  FROM (SELECT DISTINCT o.token, o.uid FROM outermost AS o
        WHERE o.token IS NOT NULL AND o.parent_row IS NULL) AS t
  CROSS JOIN LATERAL parent_of(store, t.token, t.uid) AS r
), links AS MATERIALIZED ( -- to what is there
  SELECT o.segment, o.row_id, o.text, u.segment AS up_segment, u.row_id AS up_row,
    u.start_ns >= o.start_ns AS is_late
  FROM outermost AS o
  LEFT JOIN known AS n ON o.parent_row IS NULL AND n.token = o.token
    AND n.uid IS NOT DISTINCT FROM o.uid
  LEFT JOIN outermost AS u ON u.segment = coalesce(o.parent_segment, n.segment)
    AND u.row_id = coalesce(o.parent_row, n.row_id)
), reached AS (
  SELECT l.segment, l.row_id FROM links AS l WHERE l.up_row IS NULL
  UNION ALL
  SELECT l.segment, l.row_id FROM reached AS r
  JOIN links AS l ON l.up_segment = r.segment AND l.up_row = r.row_id
), astray AS MATERIALIZED ( -- in a circle, or under one
  SELECT l.* FROM links AS l LEFT JOIN reached AS r ON r.segment = l.segment AND r.row_id = l.row_id
  WHERE r.row_id IS NULL
), ways AS (
  SELECT a.segment AS from_segment, a.row_id AS from_row, a.up_segment, a.up_row FROM astray AS a
  UNION
  SELECT w.from_segment, w.from_row, a.up_segment, a.up_row FROM ways AS w
  JOIN astray AS a ON a.segment = w.up_segment AND a.row_id = w.up_row
), cut AS MATERIALIZED ( -- what comes to itself
  SELECT a.segment, a.row_id FROM astray AS a
  JOIN ways AS w ON w.from_segment = a.segment AND w.from_row = a.row_id
    AND w.up_segment = a.segment AND w.up_row = a.row_id
  WHERE a.is_late
), tree AS (
  SELECT l.segment, l.row_id, NULL::integer AS up_segment, NULL::bigint AS up_row, 0 AS depth,
    l.text::text AS path
  FROM links AS l LEFT JOIN cut AS c ON c.segment = l.segment AND c.row_id = l.row_id
  WHERE l.up_row IS NULL OR c.row_id IS NOT NULL
  UNION ALL
  SELECT l.segment, l.row_id, l.up_segment, l.up_row, t.depth + 1, t.path || ';' || l.text
  FROM tree AS t JOIN links AS l ON l.up_segment = t.segment AND l.up_row = t.row_id
  WHERE NOT EXISTS (SELECT FROM cut AS c WHERE c.segment = l.segment AND c.row_id = l.row_id)
)
SELECT t.segment, t.row_id, t.up_segment, t.up_row, t.depth, t.path FROM tree AS t $$;

-- ---- Views ---------------------------------------------------------------------------------------

-- Say the store: the tree of each store that is asked for is worked out as a whole.
CREATE VIEW tree AS
SELECT s.store_id, s.host, t.segment, t.row_id, t.parent_segment, t.parent_row, t.depth, t.path
FROM stores AS s CROSS JOIN LATERAL tree_of(s.store_id) AS t;

UPDATE meta SET version = 3, compatible = 3, changed = now();
