# SPDX-License-Identifier: Apache-2.0
"""What the tests of nvtxt-report share: the fixture F1 and other stores, and running the program."""
import os
import sqlite3

from client import run_client, run_in_terminal
from lib import equal

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "report")
F1 = os.path.join(FIXTURES, "f1.nvtxt")

# Columns of exports of Nsight Systems.
OLD_EXPORT = "start INT, end INT, eventType INT, rangeId INT, text TEXT, category INT, color INT, " \
             "globalTid INT, domainId INT"
NEW_EXPORT = OLD_EXPORT + ", endGlobalTid INT, textId INT, uint64Value INT, int64Value INT, doubleValue REAL, " \
            "uint32Value INT, int32Value INT, floatValue REAL, jsonText TEXT"

# Sections and rules of the tree; none of whoever runs the tests.
os.environ["NVTXT_REPORT_DATA"] = os.path.join(FIXTURES, "..", "..", "report")
os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
os.environ.pop("NVTXT_SECTIONS", None)


def report(*args, **more):
    """Runs nvtxt-report; returns (exit status, stdout, stderr)."""
    return run_client("nvtxt-report", *args, **more)


def on_terminal(columns, *args, status=0, env=None, cwd=None):
    """What a terminal of so many columns gets of nvtxt-report; without colours,
    unless `env` says so. `status` None: any."""
    got, text = run_in_terminal("nvtxt-report", *args, columns=columns, cwd=cwd,
                                env={"TERM": "dumb", "TZ": "CET-1", "COLUMNS": "", **(env or {})})
    text = text.replace("\r\n", "\n")
    equal(status in (None, got), True, (got, text))
    return text


def make_store(folder, name, *inputs, status=0):
    """A store with the events of the inputs: files of NVTXT."""
    path = folder.name(name)
    got = run_client("nvtxt-import", "create", "-n", *inputs, "-o", path)
    equal(got[:2], (status, ""), got[2])
    return path


def f1(folder, name="f1.sqlite"):
    return make_store(folder, name, F1)


def query(path, sql, *values):
    store = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        return store.execute(sql, values).fetchall()
    finally:
        store.close()


def rows_of_events(path):
    return query(path, "SELECT start, end, eventType, text, globalTid, endGlobalTid FROM "
                       "NVTX_EVENTS WHERE eventType IN (34, 59, 60) ORDER BY start, end DESC")


def make_export(folder, name, store, columns=NEW_EXPORT, text=True, text_id=False, mark_ends=True,
                types=None, machine=0):
    """The events of a store as another program writes them: an outer range first."""
    path = folder.name(name)
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE NVTX_EVENTS (%s)" % columns)
    db.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
    strings = {}
    for start, end, kind, message, tid, end_tid in rows_of_events(store):
        number = strings.setdefault(message, len(strings) + 1)
        row = {"start": start, "end": None if kind == 34 and not mark_ends else end,
               "eventType": (types or {}).get(kind, kind), "text": message if text else None,
               "globalTid": tid | machine, "domainId": 0}
        if text_id:
            row["textId"] = number
        if end_tid is not None and columns == NEW_EXPORT:
            row["endGlobalTid"] = end_tid | machine
        db.execute("INSERT INTO NVTX_EVENTS (%s) VALUES (%s)" % (
            ", ".join('"%s"' % column for column in row), ", ".join("?" * len(row))),
            list(row.values()))
    db.executemany("INSERT INTO StringIds VALUES (?, ?)",
                   [(number, message) for message, number in strings.items()])
    db.commit()
    db.close()
    return path


def make_segments(folder):
    """F1 in two segments; returns the store's link and their names."""
    with open(F1, encoding="utf-8") as file:
        head, cut, tail = file.read().partition("RangePush, 120")
    declarations = head[:head.index("\nRangePush, 0")]
    names = []
    for number, lines in enumerate((head, declarations + "\n" + cut + tail), 1):
        name = "s-20261122T06240%dZ-%d.sqlite" % (number, number)
        names.append(make_store(folder, name, folder.write(name + ".nvtxt", lines)))
    link = folder.name("s.sqlite")
    os.symlink(os.path.basename(names[1]), link)
    return link, names
