# SPDX-License-Identifier: Apache-2.0
"""What a store holds of one source, in the terms of the golden corpus, and the rules of
nvtxt-store(5) that every row must keep."""
import contextlib
import sqlite3
import urllib.parse

KINDS = {34: "mark", 59: "push-pop", 60: "start-end"}
PAYLOADS = ("uint64Value", "int64Value", "doubleValue", "uint32Value", "int32Value",
            "floatValue", "jsonText")


@contextlib.contextmanager
def reading(path):
    """A connection that cannot write."""
    uri = "file:" + urllib.parse.quote(path) + "?mode=ro"
    connection = sqlite3.connect(uri, uri=True, timeout=10)
    connection.row_factory = sqlite3.Row
    try:
        yield connection
    finally:
        connection.close()


def thread(global_tid):
    """[pid, tid] of a globalTid, as the documented schema takes it apart."""
    return [global_tid // 0x1000000 % 0x1000000, global_tid % 0x1000000]


def _domains(store):
    found = {0: ""}
    for row in store.execute("SELECT domainId, text FROM NVTX_EVENTS WHERE eventType = 75"):
        found[row["domainId"]] = row["text"]
    return found


def _payload(row):
    for name in ("int64Value", "doubleValue"):
        if row[name] is not None:
            return row[name]
    for name in ("uint64", "uint32", "int32", "float"):
        value = row[name + "Value"]
        if value is not None:
            return [name, value % 2 ** 64 if name == "uint64" else value]
    return None


def events(store, source):
    """The events of a source in the order in which they were stored."""
    domains = _domains(store)
    unclosed = {row[0] for row in store.execute("SELECT eventRow FROM NVTXT_UNCLOSED")}
    found = []
    query = """SELECT e.rowid AS row, e.* FROM NVTXT_EVENT_SOURCES s
               JOIN NVTX_EVENTS e ON e.rowid BETWEEN s.firstRow AND s.lastRow
               WHERE s.sourceId = ? AND e.eventType IN (34, 59, 60) ORDER BY e.rowid"""
    for row in store.execute(query, (source,)):
        ended_by = row["endGlobalTid"]
        found.append([KINDS[row["eventType"]], row["start"], row["end"],
                      *thread(row["globalTid"]), row["text"], row["category"], row["color"],
                      domains.get(row["domainId"], f"no domain {row['domainId']}"),
                      None if ended_by is None else thread(ended_by), _payload(row)])
        if row["jsonText"] is not None:
            found[-1].append({"json": row["jsonText"]})
        if row["row"] in unclosed:
            found[-1].append("unclosed")
    return found


def names(store, opened_ns, without_process=None):
    """The name rows of a store that holds one source; a peer's process has a name of its own."""
    domains = _domains(store)
    found = []
    for row in store.execute("SELECT * FROM NVTX_EVENTS WHERE eventType IN (33, 39, 75)"):
        at = "opened" if row["start"] == opened_ns else row["start"]
        where = thread(row["globalTid"])
        if row["eventType"] == 33:
            domain = domains.get(row["domainId"], f"no domain {row['domainId']}")
            found.append(["category", at, *where, row["category"], domain, row["text"]])
        elif row["eventType"] == 39:
            found.append(["thread", at, *where, row["text"]])
        else:
            found.append(["domain", at, *where, row["text"]])
    for row in store.execute("SELECT pid, name FROM PROCESSES"):
        if row["name"] != f"Process {row['pid']}" and row["pid"] != without_process:
            found.append(["process", row["pid"], row["name"]])
    return found + _resources(store) + _counters(store)


def _domain_names(store):
    return {0: "", **dict(store.execute("SELECT id, name FROM NVTXT_DOMAINS"))}


def _has_table(store, name):
    return bool(store.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone())


def _resources(store):
    if not _has_table(store, "NVTXT_RESOURCES"):
        return []
    domains = _domain_names(store)
    return [["resource", row["globalPid"] >> 24, domains[row["domainId"]], row["kind"],
             row["handle"] % 2 ** 64, row["name"]]
            for row in store.execute("SELECT * FROM NVTXT_RESOURCES")]


def _counters(store):
    if not _has_table(store, "NVTXT_COUNTERS"):
        return []
    domains = _domain_names(store)
    return [["counter", row["globalPid"] >> 24, domains[row["domainId"]], row["json"] or "",
             row["name"]] for row in store.execute("SELECT * FROM NVTXT_COUNTERS")]


def diags(store, source):
    query = 'SELECT * FROM NVTXT_DIAGNOSTICS WHERE sourceId = ? ORDER BY rowid'
    return [f"{row['line']}:{row['column']} {row['severity']} {row['stage']} {row['code']}"
            for row in store.execute(query, (source,))]


def source(store, key, value):
    """The row of NVTXT_SOURCES whose column `key` holds `value`; there must be one."""
    rows = store.execute(f"SELECT * FROM NVTXT_SOURCES WHERE {key} = ?", (value,)).fetchall()
    if len(rows) != 1:
        raise AssertionError(f"{len(rows)} sources with {key} {value}")
    return rows[0]


def wrong_excerpts(store, source_id, text):
    """Diagnostics whose excerpt is not the start of their line (plain ASCII lines only)."""
    lines = text.split(b"\n")
    wrong = []
    query = "SELECT line, code, excerpt FROM NVTXT_DIAGNOSTICS WHERE sourceId = ?"
    for row in store.execute(query, (source_id,)):
        line = lines[row["line"] - 1][:200]
        if all(0x20 <= byte < 0x7F for byte in line) and row["excerpt"] != line.decode():
            wrong.append(f"line {row['line']} {row['code']}: excerpt {row['excerpt']!r}")
    return wrong


def _all(*conditions):
    return " OR ".join(f"({condition})" for condition in conditions)


# What no row may be: a sentence and a query that finds offenders.
FORBIDDEN = (
    ("an event of an unknown type",
     "SELECT rowid FROM NVTX_EVENTS WHERE eventType NOT IN (33, 34, 39, 59, 60, 75)"),
    ("text and textId that differ",
     "SELECT e.rowid FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId"
     " WHERE s.value IS NOT e.text"),
    ("a start/end range without a rangeId",
     "SELECT rowid FROM NVTX_EVENTS WHERE eventType = 60 AND NOT rangeId > 0"),
    ("a rangeId that is not unique",
     "SELECT min(rowid) FROM NVTX_EVENTS WHERE eventType = 60 GROUP BY rangeId"
     " HAVING count(*) > 1"),
    ("a rangeId of another kind of row",
     "SELECT rowid FROM NVTX_EVENTS WHERE eventType <> 60 AND rangeId <> 0"),
    ("a NULL", "SELECT rowid FROM NVTX_EVENTS WHERE " + _all(*(
        f'"{name}" IS NULL' for name in ("start", "end", "text", "textId", "category", "color",
                                         "globalTid", "domainId")))),
    ("a mark or name whose end is not its start",
     "SELECT rowid FROM NVTX_EVENTS WHERE eventType IN (33, 34, 39, 75) AND end <> start"),
    ("a thread with bit 63 or above 48 bits",
     "SELECT rowid FROM NVTX_EVENTS WHERE globalTid NOT BETWEEN 0 AND 0xFFFFFFFFFFFF"
     " OR endGlobalTid NOT BETWEEN 0 AND 0xFFFFFFFFFFFF"),
    ("an endGlobalTid that says nothing",
     "SELECT rowid FROM NVTX_EVENTS WHERE endGlobalTid = globalTid"),
    ("a color or category beyond 32 bits",
     "SELECT rowid FROM NVTX_EVENTS WHERE color NOT BETWEEN 0 AND 0xFFFFFFFF"
     " OR category NOT BETWEEN 0 AND 0xFFFFFFFF"),
    ("two payloads", "SELECT rowid FROM NVTX_EVENTS WHERE " +
     " + ".join(f"({name} IS NOT NULL)" for name in PAYLOADS[:-1]) + " > 1"),
    ("a payload of a wrong type",
     "SELECT rowid FROM NVTX_EVENTS WHERE typeof(int64Value) NOT IN ('integer', 'null')"
     " OR typeof(doubleValue) NOT IN ('real', 'null')"),
    ("two names of one category", "SELECT min(rowid) FROM NVTX_EVENTS WHERE eventType = 33"
     " GROUP BY domainId, category, globalTid / 0x1000000 HAVING count(*) > 1"),
    ("two names of one thread", "SELECT min(rowid) FROM NVTX_EVENTS WHERE eventType = 39"
     " GROUP BY globalTid HAVING count(*) > 1"),
    ("two rows of one domain and process",
     "SELECT min(rowid) FROM NVTX_EVENTS WHERE eventType = 75"
     " GROUP BY domainId, globalTid / 0x1000000 HAVING count(*) > 1"),
    ("a domain of two names", "SELECT min(rowid) FROM NVTX_EVENTS WHERE eventType = 75"
     " GROUP BY domainId HAVING count(DISTINCT text) > 1"),
    ("a domain without a row", "SELECT rowid FROM NVTX_EVENTS WHERE domainId <> 0 AND domainId"
     " NOT IN (SELECT domainId FROM NVTX_EVENTS WHERE eventType = 75)"),
    ("an event of no source", "SELECT e.rowid FROM NVTX_EVENTS e WHERE eventType IN (34, 59, 60)"
     " AND (SELECT count(*) FROM NVTXT_EVENT_SOURCES s"
     " WHERE e.rowid BETWEEN s.firstRow AND s.lastRow) <> 1"),
    ("an event of no batch", "SELECT e.rowid FROM NVTX_EVENTS e WHERE eventType IN (34, 59, 60)"
     " AND (SELECT count(*) FROM NVTXT_BATCHES b WHERE e.rowid BETWEEN b.firstRow AND b.lastRow"
     " AND e.start >= b.minStart AND e.end <= b.maxEnd) <> 1"),
    ("a thread without a ThreadNames row",
     "SELECT rowid FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"
     " AND (SELECT count(*) FROM ThreadNames t WHERE t.globalTid = NVTX_EVENTS.globalTid) <> 1"),
    ("a named thread whose ThreadNames row has another name",
     "SELECT e.rowid FROM NVTX_EVENTS e LEFT JOIN ThreadNames t ON t.globalTid = e.globalTid"
     " LEFT JOIN StringIds s ON s.id = t.nameId WHERE eventType = 39 AND s.value IS NOT e.text"),
    ("an unnamed thread that is not called after its id",
     "SELECT t.globalTid FROM ThreadNames t LEFT JOIN StringIds s ON s.id = t.nameId"
     " WHERE t.globalTid NOT IN (SELECT globalTid FROM NVTX_EVENTS WHERE eventType = 39)"
     " AND s.value IS NOT 'Thread ' || (t.globalTid % 0x1000000)"),
    ("a process without a PROCESSES row",
     "SELECT rowid FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60)"
     " AND (SELECT count(*) FROM PROCESSES p WHERE p.globalPid ="
     " NVTX_EVENTS.globalTid / 0x1000000 * 0x1000000) <> 1"),
    ("a PROCESSES row whose ids disagree",
     "SELECT rowid FROM PROCESSES WHERE globalPid <> pid * 0x1000000 OR name IS NULL"),
    ("a range still marked open", "SELECT sourceId FROM NVTXT_OPEN_RANGES WHERE sourceId IN"
     " (SELECT id FROM NVTXT_SOURCES WHERE closedNs IS NOT NULL)"),
    ("a loss", "SELECT atNs FROM NVTXT_LOSSES"),
)


def broken_rules(store):
    """Sentences about rows that break a rule of the store; none when all is well."""
    found = []
    for sentence, query in FORBIDDEN:
        rows = [str(row[0]) for row in store.execute(query + " LIMIT 5")]
        if rows:
            found.append(f"{sentence}: row {', '.join(rows)}")
    return found
