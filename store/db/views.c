// SPDX-License-Identifier: Apache-2.0
//
// What the views are made of. A timeline row gathers what names an event: its process, thread,
// category, domain and source. Each name is a scalar subquery that walks one key of
// NVTXT_NAME_ROWS, so that it costs nothing when the column is not asked for, and a reader that
// joins or filters keeps the plan of the event table.
//
// NVTXT_RECENT enters NVTX_EVENTS by the rowid ranges of the batches that reach into the last
// hour: CROSS JOIN keeps SQLite from turning that round. batchEnd is the latest end in an event's
// batch: a reader that wants less than the hour asks for it as well, and whole batches are passed
// over.
#include "store/db/views.h"

#define NAME_ROW(kind, domain, key) "r.kind = " kind " AND r.domainId = " domain " AND r.key = " key

// Names are kept under kind 1 (processes) and 2 (threads); see name_rows.h.
#define PROCESS_NAME                                                                               \
    "(SELECT p.name FROM NVTXT_NAME_ROWS r JOIN PROCESSES p ON p.rowid = r.row WHERE " NAME_ROW(   \
        "1", "0", "e.globalTid / 0x1000000") ")"
#define THREAD_NAME                                                                                \
    "(SELECT t.value FROM NVTXT_NAME_ROWS r JOIN StringIds t ON t.id = r.row WHERE " NAME_ROW(     \
        "2", "0", "e.globalTid") ")"
// Kind 3 is a category of a process, kind 33 one that an older version wrote for all processes.
#define CATEGORY_NAME(pid)                                                                         \
    "coalesce((SELECT c.text FROM NVTXT_NAME_ROWS r JOIN NVTX_EVENTS c ON c.rowid = r.row "        \
    "WHERE " NAME_ROW(                                                                             \
        "3", "e.domainId",                                                                         \
        "(" pid ") * 0x100000000 + e.category") "), "                                              \
                                                "(SELECT c.text FROM NVTXT_NAME_ROWS r JOIN "      \
                                                "NVTX_EVENTS c ON c.rowid = r.row "                \
                                                "WHERE " NAME_ROW(                                 \
                                                    "33", "e.domainId",                            \
                                                    "e.category") "), nullif(e.category, 0))"

// The last range of rows that begins at or before the event's, if it reaches the event.
#define SOURCE_ID                                                                                  \
    "(SELECT CASE WHEN x.lastRow >= e.rowid THEN x.sourceId END FROM NVTXT_EVENT_SOURCES x "       \
    "WHERE x.firstRow <= e.rowid ORDER BY x.firstRow DESC LIMIT 1)"
#define SOURCE_NAME                                                                                \
    "(SELECT coalesce(s.name, s.displayName, s.peerComm, 'source ' || s.id) "                      \
    "FROM NVTXT_SOURCES s WHERE s.id = " SOURCE_ID ")"

// Division that rounds down, for times before 1970.
#define NS_OF_SECOND "((e.start % 1000000000 + 1000000000) % 1000000000)"
#define UTC_TIME                                                                                   \
    "strftime('%Y-%m-%dT%H:%M:%S', (e.start - " NS_OF_SECOND ") / 1000000000, 'unixepoch') || "    \
    "printf('.%09dZ', " NS_OF_SECOND ")"

#define TIMELINE_COLUMNS                                                                           \
    "SELECT " UTC_TIME " AS utcTime, e.end - e.start AS duration, "                                \
    "CASE e.eventType WHEN 34 THEN 'mark' WHEN 59 THEN 'push/pop' ELSE 'start/end' END AS kind, "  \
    "e.text AS message, " CATEGORY_NAME(                                                           \
        "e.globalTid / 0x1000000") " AS category, "                                                \
                                   "CASE WHEN e.color <> 0 THEN printf('#%08X', e.color) END AS "  \
                                   "color, " PROCESS_NAME " AS process, " THREAD_NAME              \
                                   " AS thread, " SOURCE_NAME " AS source, "                       \
                                   "(SELECT d.name FROM NVTXT_DOMAINS d WHERE d.id = e.domainId) " \
                                   "AS domain, "                                                   \
                                   "coalesce(e.int64Value, e.doubleValue) AS payload, "            \
                                   "e.globalTid / 0x1000000 % 0x1000000 AS pid, e.globalTid % "    \
                                   "0x1000000 AS tid, "                                            \
                                   "e.start AS start, e.end AS \"end\", e.globalTid AS "           \
                                   "globalTid, e.domainId AS domainId, "                           \
                                   "e.category AS categoryId, " SOURCE_ID                          \
                                   " AS sourceId, e.rowid AS eventRow"

// The payload of a marker is the severity of syslog(3) where its source says so.
#define LEVEL                                                                                      \
    "CASE WHEN e.eventType = 34 AND e.int64Value BETWEEN 0 AND 7 AND (SELECT s.levels FROM "       \
    "NVTXT_SOURCES s WHERE s.id = " SOURCE_ID ") = 1 THEN CASE e.int64Value WHEN 0 THEN 'emerg' "  \
    "WHEN 1 THEN 'alert' WHEN 2 THEN 'crit' WHEN 3 THEN 'err' WHEN 4 THEN 'warning' "              \
    "WHEN 5 THEN 'notice' WHEN 6 THEN 'info' ELSE 'debug' END END AS level "

// sum() gives up where a sum leaves 64 bits, and with it the whole view: a few ranges of a
// forgotten time base do that. So halves are summed, and a total that is no integer is what avg()
// saw, a REAL. A duration is an integer, or a REAL that is the least or the greatest of its group.
#define EXACT_TOTAL                                                                                \
    "CASE WHEN typeof(e.\"min\") = 'integer' AND typeof(e.\"max\") = 'integer' "                   \
    "AND abs(e.mean * e.\"count\") < 9.2e18 THEN e.high * 4294967296 + e.low "                     \
    "ELSE e.mean * e.\"count\" END"

#define ONLY_EVENTS "e.eventType IN (34, 59, 60)"
#define AN_HOUR_AGO "(CAST(strftime('%s', 'now') AS INTEGER) - 3600) * 1000000000"

const char store_views_sql[] =
    "DROP VIEW IF EXISTS NVTXT_TIMELINE; DROP VIEW IF EXISTS NVTXT_RECENT;"
    "DROP VIEW IF EXISTS NVTXT_RANGE_SUMMARY; DROP VIEW IF EXISTS ANALYSIS_DETAILS;"
    "CREATE VIEW NVTXT_TIMELINE AS " TIMELINE_COLUMNS ", " LEVEL
    "FROM NVTX_EVENTS e WHERE " ONLY_EVENTS ";"
    "CREATE VIEW NVTXT_RECENT AS " TIMELINE_COLUMNS ", b.maxEnd AS batchEnd, " LEVEL
    "FROM NVTXT_BATCHES b CROSS JOIN NVTX_EVENTS e ON e.rowid BETWEEN b.firstRow AND b.lastRow "
    "WHERE b.maxEnd >= " AN_HOUR_AGO " AND e.end >= " AN_HOUR_AGO " AND " ONLY_EVENTS ";"
    // Summed up by process first, for it names the category; then by what that name is.
    "CREATE VIEW NVTXT_RANGE_SUMMARY AS "
    "SELECT e.message AS message, e.category AS category, e.\"count\" AS \"count\", " EXACT_TOTAL
    " AS total, e.mean AS mean, e.\"min\" AS \"min\", e.\"max\" AS \"max\", "
    "(SELECT d.name FROM NVTXT_DOMAINS d WHERE d.id = e.domainId) AS domain, "
    "e.categoryId AS categoryId, e.domainId AS domainId FROM ("
    "SELECT message, category, categoryId, domainId, sum(\"count\") AS \"count\", "
    "sum(high) AS high, sum(low) AS low, sum(whole) / sum(\"count\") AS mean, "
    "min(\"min\") AS \"min\", max(\"max\") AS \"max\" FROM ("
    "SELECT e.message AS message, " CATEGORY_NAME(
        "e.pid") " AS category, "
                 "e.category AS categoryId, e.domainId AS domainId, e.\"count\" AS \"count\", "
                 "e.high AS high, "
                 "e.low AS low, e.whole AS whole, e.\"min\" AS \"min\", e.\"max\" AS \"max\" FROM ("
                 "SELECT text AS message, category, domainId, globalTid / 0x1000000 AS pid, "
                 "count(*) AS \"count\", sum((end - start) >> 32) AS high, "
                 "sum((end - start) & 4294967295) AS low, total(end - start) AS whole, "
                 "min(end - start) AS \"min\", max(end - start) AS \"max\" FROM "
                 "NVTX_EVENTS WHERE eventType IN (59, 60) "
                 "GROUP BY text, category, domainId, globalTid / 0x1000000) e) "
                 "GROUP BY message, category, categoryId, domainId) e;"
                 "CREATE VIEW ANALYSIS_DETAILS AS SELECT 0 AS globalVid, "
                 "ifnull(max(maxEnd) - min(minStart), 0) AS duration, ifnull(min(minStart), 0) AS "
                 "startTime, "
                 "ifnull(max(maxEnd), 0) AS stopTime FROM NVTXT_BATCHES;";

// Zero-length rows stand at the store's first event, where they widen no reader's time window.
const char store_cupti_sql[] =
    "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT a.startTime AS start, a.startTime AS "
    "\"end\", "
    "0 AS deviceId, 0 AS contextId, 0 AS streamId, 0 AS correlationId, p.globalPid AS globalPid, "
    "0 AS demangledName, 0 AS shortName, 0 AS launchType, 0 AS cacheConfig, "
    "0 AS registersPerThread, 0 AS gridX, 0 AS gridY, 0 AS gridZ, 0 AS blockX, 0 AS blockY, "
    "0 AS blockZ, 0 AS staticSharedMemory, 0 AS dynamicSharedMemory, 0 AS localMemoryPerThread, "
    "0 AS localMemoryTotal, 0 AS gridId, 0 AS sharedMemoryExecuted "
    "FROM ANALYSIS_DETAILS a CROSS JOIN PROCESSES p;"
    "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS SELECT 0 AS start, 0 AS \"end\", 0 AS globalTid, "
    "0 AS correlationId, 0 AS nameId, 0 AS returnValue WHERE 0;";
