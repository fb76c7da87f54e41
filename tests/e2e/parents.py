# SPDX-License-Identifier: Apache-2.0
"""Stores whose ranges have parents in other processes, made without a daemon."""
import contextlib
import sqlite3

from client import run_client
from lib import equal

SESSIONS = ["%08x-0000-4000-8000-000000000000" % number for number in range(1, 10)]
HEAD = """\
TimeBase = Unix
@Marker, Time, ProcessId, ThreadId, Message
@RangePush, Time, ProcessId, ThreadId, Message
@RangePop, Time, ProcessId, ThreadId
@RangeStartEnd, Start, End, ProcessId, ThreadId, Message
"""

def token(session, key):
    """The token of a key; a session is a number from 1 on."""
    return "%s:%s" % (SESSIONS[session - 1], key)


def run(message, start, end, pid):
    """The line of a range that is not pushed."""
    return 'RangeStartEnd, %d, %d, %d, %d, "%s"\n' % (start, end, pid, pid, message)


@contextlib.contextmanager
def changed(path):
    """A connection to a store of which nobody has a hold."""
    store = sqlite3.connect(path)
    try:
        with store:
            yield store
    finally:
        store.close()


def add_parents(path, sources, keys, uid=1000):
    """What a daemon would have stored. `sources`: {name: (session, token)}, or with a third member,
    the uid; names are those of the files. `keys`: {message: (key, token)}."""
    with changed(path) as store:
        for name, (session, parent, *user) in sources.items():
            found = store.execute(
                "UPDATE NVTXT_SOURCES SET sessionId = ?, peerUid = ?, parent = ? WHERE name LIKE '%' || ?",
                (session and SESSIONS[session - 1], user[0] if user else uid, parent, name))
            equal(found.rowcount, 1, name)
        for message, (key, parent) in keys.items():
            found = store.execute(
                "INSERT INTO NVTXT_RANGE_KEYS SELECT e.rowid, (SELECT x.sourceId FROM "
                "NVTXT_EVENT_SOURCES x WHERE e.rowid BETWEEN x.firstRow AND x.lastRow), ?, ? FROM "
                "NVTX_EVENTS e WHERE e.text = ? AND e.eventType IN (59, 60)", (key, parent, message))
            equal(found.rowcount, 1, message)


def make_store(folder, sources, keys, texts, name="store.sqlite", **more):
    """A store of files: {name: text}, in this order."""
    files = [folder.write(file, HEAD + text) for file, text in texts.items()]
    named = [word for file in files for word in ("-n", file)]
    status, _, err = run_client("nvtxt-import", "create", "-q", *named, "-o", folder.name(name))
    equal(status, 0, err)
    add_parents(folder.name(name), sources, keys, **more)
    return folder.name(name)


# A build in one session. A program that one of its steps started has a session of its own, and was
# sent before its step ended; so have one that knows no parent, and one of another user.
TEXTS = {
    "program.nvtxt":
        'RangePush, 3500, 14, 14, "outer"\nRangePush, 4000, 14, 14, "inner"\n'
        'Marker, 4500, 14, 14, "mark inside"\nRangePop, 5000, 14, 14\nRangePop, 6000, 14, 14\n'
        'Marker, 6500, 14, 14, "mark outside"\n' + run("aside", 4100, 4200, 14),
    "lost.nvtxt": run("of a killed step", 3600, 3700, 15),
    "stranger.nvtxt": run("of another user", 3600, 3800, 16),
    "nowhere.nvtxt": run("of nobody", 3600, 3900, 17),
    "build.nvtxt":
        run("cc a", 1100, 3000, 11) + run("cc b", 3000, 7000, 13) + run("make sub", 2000, 8000, 12) +
        run("make -j2", 1000, 9000, 10),
}
SOURCES = {
    "program.nvtxt": (2, token(1, "k3")),
    "lost.nvtxt": (3, token(1, "killed")),
    "stranger.nvtxt": (4, token(1, "run"), 1001),
    "nowhere.nvtxt": (5, token(9, "run")),
    "build.nvtxt": (1, None),
}
KEYS = {
    "cc a": ("k1", token(1, "run")),
    "make sub": ("k2", token(1, "run")),
    "cc b": ("k3", token(1, "k2")),
    "make -j2": ("run", None),
}
PARENTS = {
    "outer": "cc b", "mark outside": "cc b", "aside": "cc b", "of a killed step": "make -j2",
    "cc a": "make -j2", "cc b": "make sub", "make sub": "make -j2",
}
UNKNOWN = {"of another user": token(1, "run"), "of nobody": token(9, "run")}


def make_build(folder, **more):
    return make_store(folder, SOURCES, KEYS, TEXTS, **more)
