# SPDX-License-Identifier: Apache-2.0
"""What the tests of merging share: exports, what is in them, and the queries of their readers."""
import importlib.util
import os
import sqlite3

from client import run_client
from lib import equal

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location("make_export", os.path.join(HERE, "make-export.py"))
make_export = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_export)

SHAPES = make_export.SHAPES
SESSION_NS = make_export.SESSION_NS
make = make_export.make


def load(*args, **more):
    return run_client("nvtxt-import", *args, **more)


def query(path, sql, *values):
    database = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return database.execute(sql, values).fetchall()
    finally:
        database.close()


def tables(path):
    return [name for name, in query(path, "SELECT name FROM sqlite_master WHERE type = 'table'")]


def content(path):
    """Every row of every table, under its rowid, and every line of the schema."""
    rows = {("schema", name, sql) for name, sql in
            query(path, "SELECT name, sql FROM sqlite_master")}
    for table in tables(path):
        rows |= {(table,) + row for row in query(path, 'SELECT rowid, * FROM "%s"' % table)}
    return rows


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def added(before, after, unless=()):
    """The rows of `after` that `before` has not, per table; all of `before` must be in it."""
    gone = {row for row in content(before) - content(after) if row[0] not in unless}
    equal(gone, set(), "rows and schema of the input are in the output")
    new = {}
    for row in content(after) - content(before):
        new.setdefault(row[0], []).append(row)
    return new


# How readers ask: the documented recipes of the export's own documentation, and what its reports do.

RANGES = """
    WITH domains AS (SELECT min(start), domainId AS id, globalTid AS globalTid, text AS name
                     FROM NVTX_EVENTS WHERE eventType = 75 GROUP BY 2, 3)
    SELECT coalesce(d.name, '') || ':' || coalesce(e.text, %s), e.start, e.end - e.start,
           e.globalTid / 0x1000000 %% 0x1000000 AS PID, e.globalTid %% 0x1000000 AS TID
    FROM NVTX_EVENTS e LEFT JOIN domains d ON e.domainId = d.id
         AND (e.globalTid & 0x0000FFFFFF000000) = (d.globalTid & 0x0000FFFFFF000000)
    WHERE e.eventType IN (59, 60) AND e.end IS NOT NULL ORDER BY e.start, e.end"""


def ranges(path):
    """Ranges with their domain, as a report of ranges lists them."""
    has_id = query(path, "SELECT count(*) FROM pragma_table_info('NVTX_EVENTS') "
                         "WHERE name = 'textId'") == [(1,)]
    value = "(SELECT value FROM StringIds WHERE id = e.textId)" if has_id else "NULL"
    return query(path, RANGES % value)


def categories(path):
    """The name of each range's category."""
    return query(path, """
        SELECT e.text, c.text FROM NVTX_EVENTS e JOIN NVTX_EVENTS c ON c.eventType = 33
               AND c.category = e.category AND ifnull(c.domainId, 0) = ifnull(e.domainId, 0)
               AND c.globalTid >> 24 = e.globalTid >> 24
        WHERE e.eventType IN (34, 59, 60) AND e.text IS NOT NULL ORDER BY e.start""")


def thread_names(path):
    return query(path, "SELECT globalTid % 0x1000000, value FROM ThreadNames "
                       "JOIN StringIds ON id = nameId ORDER BY 1")
