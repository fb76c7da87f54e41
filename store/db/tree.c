// SPDX-License-Identifier: Apache-2.0
//
// The view NVTXT_TREE. It reads the events in their order, lane by lane, as nvtxt-report(1) has
// them, and so costs n log n, also where ranges cross, where a token has many keys beside it, and
// where parents are a circle:
//
// `walk` is a loop: it places an event under the range on top, or takes away a range that is over.
// What is under the top stands in `rest`, 40 bytes a range.
//
// `found` says what a token means to a user: the rows of its key and of the key "run", and the
// source, whose own parent counts when there is neither; `under` follows those.
//
// `links` are the parents of ranges with keys. Only such ranges can be parents in other processes,
// so only they can be a circle; `sound` are those that lead to an end.
//
// SQLite makes an index of a materialized table only where both sides of a comparison have the same
// affinity: so there are casts.
#include "store/db/schema.h"

#define LANES                                                                                      \
    "lanes AS MATERIALIZED (SELECT row_number() OVER lane AS n, rowid AS row, start, "             \
    "\"end\" AS stop, iif(eventType = 59 AND \"end\" > start, rowid, NULL) AS opens, "             \
    "lag(globalTid) OVER lane IS NOT globalTid OR lag(domainId) OVER lane IS NOT domainId "        \
    "AS isFirst FROM NVTX_EVENTS WHERE eventType IN (34, 59) WINDOW lane AS "                      \
    "(ORDER BY globalTid, domainId, start, \"end\" DESC, rowid DESC))"

// What a lane keeps of the one before: nothing.
#define KEPT(column) "iif(e.isFirst, NULL, w." column ")"
#define UNPACKED(at) "iif(w.rest = '', NULL, CAST(substr(w.rest, " at ", 20) AS INTEGER))"
#define WALK                                                                                       \
    "walk (n, top, stop, rest, row, parent) AS (SELECT 1, NULL, NULL, '', NULL, NULL UNION ALL "   \
    "SELECT w.n + 1, coalesce(e.opens, " KEPT(                                                     \
        "top") "), "                                                                               \
               "iif(e.opens IS NULL, " KEPT(                                                       \
                   "stop") ", e.stop), "                                                           \
                           "CASE WHEN e.isFirst THEN '' WHEN e.opens IS NULL OR w.top IS NULL "    \
                           "THEN w.rest "                                                          \
                           "ELSE printf('%20d%20d', w.top, w.stop) || w.rest END, e.row, " KEPT(   \
                               "top") " "                                                          \
                                      "FROM walk w CROSS JOIN lanes e ON e.n = w.n "               \
                                      "WHERE e.isFirst OR w.stop IS NULL OR w.stop > e.start "     \
                                      "UNION ALL "                                                 \
                                      "SELECT w.n, " UNPACKED("1") ", " UNPACKED(                  \
                                          "21") ", substr(w.rest, 41), NULL, NULL "                \
                                                "FROM walk w CROSS JOIN lanes e ON e.n = w.n "     \
                                                "WHERE NOT e.isFirst AND w.stop <= e.start)"

#define KEYED                                                                                      \
    "keyed AS MATERIALIZED (SELECT k.eventRow AS row, "                                            \
    "CAST(coalesce(k.parent, s.parent) AS TEXT) AS token, s.peerUid AS uid, e.start "              \
    "FROM NVTXT_RANGE_KEYS k CROSS JOIN NVTX_EVENTS e ON e.rowid = k.eventRow "                    \
    "AND e.eventType = 60 LEFT JOIN NVTXT_SOURCES s ON s.id = k.sourceId)"

#define SESSION_OF_TOKEN "substr(t.token, 1, instr(t.token, ':') - 1)"
#define KEY_OF_TOKEN "substr(t.token, instr(t.token, ':') + 1)"
#define FOUND                                                                                      \
    "tokens AS (SELECT token, uid FROM keyed WHERE token IS NOT NULL UNION "                       \
    "SELECT parent, peerUid FROM NVTXT_SOURCES WHERE parent IS NOT NULL), "                        \
    "found AS MATERIALIZED (SELECT t.token, t.uid, "                                               \
    "CAST(min(iif(k.key = 'run', NULL, e.rowid)) AS INTEGER) AS own, "                             \
    "CAST(min(iif(k.key = 'run', e.rowid, NULL)) AS INTEGER) AS run, "                             \
    "CAST(max(s.id) AS INTEGER) AS via FROM tokens t CROSS JOIN NVTXT_SOURCES s "                  \
    "ON s.sessionId = " SESSION_OF_TOKEN " AND s.peerUid = t.uid "                                 \
    "LEFT JOIN NVTXT_RANGE_KEYS k ON k.sourceId = s.id AND k.key IN (" KEY_OF_TOKEN ", 'run') "    \
    "LEFT JOIN NVTX_EVENTS e ON e.rowid = k.eventRow AND e.eventType = 60 "                        \
    "GROUP BY t.token, t.uid)"

#define UNDER                                                                                      \
    "began AS MATERIALIZED (SELECT s.id, CAST(coalesce(f.own, f.run) AS INTEGER) AS row, f.via "   \
    "FROM NVTXT_SOURCES s JOIN found f ON f.token = s.parent AND f.uid = s.peerUid), "             \
    "under (id, row) AS (SELECT id, row FROM began WHERE row IS NOT NULL UNION ALL "               \
    "SELECT b.id, u.row FROM under u CROSS JOIN began b ON b.via = u.id WHERE b.row IS NULL)"

#define LINKS                                                                                      \
    "links AS MATERIALIZED (SELECT k.row, k.start, "                                               \
    "CAST(coalesce(f.own, nullif(f.run, k.row), u.row) AS INTEGER) AS parent FROM keyed k "        \
    "LEFT JOIN found f ON f.token = k.token AND f.uid = k.uid LEFT JOIN under u ON u.id = f.via)," \
    "sound (row) AS (SELECT row FROM links WHERE parent IS NULL UNION ALL "                        \
    "SELECT l.row FROM sound s CROSS JOIN links l ON l.parent = s.row)"

// The source of an event matters only if some source began under a range.
#define SOURCE_OF_OUTERMOST                                                                        \
    "CASE WHEN e.parent IS NULL AND EXISTS (SELECT 1 FROM under) THEN "                            \
    "(SELECT iif(x.lastRow >= e.row, x.sourceId, NULL) FROM NVTXT_EVENT_SOURCES x "                \
    "WHERE x.firstRow <= e.row ORDER BY x.firstRow DESC LIMIT 1) END"
#define EDGES                                                                                      \
    "edges AS MATERIALIZED (SELECT e.row, CAST(coalesce(e.parent, u.row) AS INTEGER) AS parent "   \
    "FROM (SELECT row, parent FROM walk WHERE row IS NOT NULL UNION ALL "                          \
    "SELECT rowid, NULL FROM NVTX_EVENTS WHERE eventType = 60 "                                    \
    "AND rowid NOT IN (SELECT row FROM keyed)) e "                                                 \
    "LEFT JOIN under u ON u.id = " SOURCE_OF_OUTERMOST " UNION ALL "                               \
    "SELECT l.row, CASE WHEN l.row IN (SELECT row FROM sound) "                                    \
    "OR (p.start, p.row) < (l.start, l.row) THEN l.parent END "                                    \
    "FROM links l LEFT JOIN links p ON p.row = l.parent)"

#define TREE                                                                                       \
    "tree (row, parentRow, depth, path) AS (SELECT e.row, NULL, 0, replace(t.text, ';', ',') "     \
    "FROM edges e CROSS JOIN NVTX_EVENTS t ON t.rowid = e.row WHERE e.parent IS NULL UNION ALL "   \
    "SELECT e.row, e.parent, p.depth + 1, p.path || ';' || replace(t.text, ';', ',') "             \
    "FROM tree p CROSS JOIN edges e ON e.parent = p.row "                                          \
    "CROSS JOIN NVTX_EVENTS t ON t.rowid = e.row)"

const char store_schema_tree_sql[] =
    "CREATE VIEW NVTXT_TREE AS WITH RECURSIVE " LANES ", " WALK ", " KEYED ", " FOUND ", " UNDER
    ", " LINKS ", " EDGES ", " TREE " SELECT row, parentRow, depth, path FROM tree;";
