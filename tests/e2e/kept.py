# SPDX-License-Identifier: Apache-2.0
"""What older versions left behind (tests/compat/old), unpacked, and a daemon of today that goes on with
it: what test_old.py and test_old_fleets.py share."""
import collections
import contextlib
import json
import lzma
import os
import sqlite3
import subprocess
import tempfile

import older
from client import run_client
from lib import SHORT, WRAPPER, Daemon, equal

OLD = os.path.join(older.TOP, "tests", "compat", "old")
SCHEMAS = (1, 7) if WRAPPER else (1, 5, 7) if SHORT else (1, 2, 3, 4, 5, 6, 7)
WAYS = ("closed", "killed")
MINE = os.geteuid()  # they were made by root


def unpack(name, folder):
    with lzma.open(os.path.join(OLD, name + ".tar.xz")) as file:
        subprocess.run(["tar", "-x", "-S", "--no-same-owner", "-C", folder, "-f", "-"], input=file.read(), check=True)


@contextlib.contextmanager
def kept(schema, way):
    """A folder with the store and the spool, and the rows that were recorded: table to rows."""
    with tempfile.TemporaryDirectory(prefix="nvtxt-old-") as folder:
        unpack("schema-%d" % schema, folder)
        recorded = collections.defaultdict(list)
        with open(os.path.join(OLD, "schema-%d.rows" % schema), encoding="utf-8") as file:
            for line in file:
                whose, segment, table, *row = json.loads(line)
                if whose == way:
                    recorded[table].append((segment, *row))
        yield os.path.join(folder, way), recorded


def store_of(folder):
    return os.path.join(folder, "store.sqlite")


def of(recorded, table, columns=None):
    """The rows of a table in all segments."""
    names = older.TIMELINE if table == "timeline" else older.EVENTS
    picked = [names.index(name) + 1 for name in columns] if columns else None
    return [tuple(row[at] for at in picked) if picked else tuple(row[1:]) for row in recorded[table]]


def events_of(recorded):
    return sorted(of(recorded, "timeline", ("start", "end", "message", "pid", "tid")))


# ---- The daemon goes on -----------------------------------------------------------------------------

def make_mine(folder):
    """The sessions belong to who made them; now they are this user's."""
    if MINE != 0:
        db = sqlite3.connect(os.path.realpath(store_of(folder)))
        db.execute("UPDATE NVTXT_SESSIONS SET uid = ?", (MINE,))
        db.execute("UPDATE NVTXT_SOURCES SET peerUid = ?", (MINE,))
        db.commit()
        db.close()


def go_on(folder, recorded):
    """A daemon of today goes on with the store; both sessions end. Returns its segments."""
    make_mine(folder)
    # The longest expiry. The sessions were last seen in 2026: ten years later they need a newer seenNs.
    with Daemon(start=False, config="SessionExpiry=3650d\n") as daemon:
        daemon.store = store_of(folder)
        daemon.start()
        for segment, path in enumerate(daemon.segments(), 1):
            compare_old(path, segment, recorded)
        status, out, said = run_client("nvtxt-send", "-q", "--socket", daemon.socket, "--resume",
                                       os.path.join(folder, "spool"))
        equal((status, out, said), (0, "", ""))
        equal(os.listdir(os.path.join(folder, "spool")), [])
        away, = {row[1] for row in recorded["sessions"]} - {half_of(recorded, daemon)}
        with daemon.session(away) as session:
            equal((session.welcome["type"], session.welcome.get("line")), ("welcome", older.BEFORE_LINES))
            session.send(older.AFTER)
            end = session.end()
            equal((end["line"], end["errors"]), (older.BEFORE_LINES + older.AFTER_LINES, 0))
        daemon.settled()
        texts = [row[0] for row in daemon.everywhere(
            "SELECT text FROM NVTX_EVENTS WHERE eventType IN (34, 59, 60) AND globalTid & 0xffffff = 52 "
            "AND start BETWEEN 100 AND 199")]
        equal(collections.Counter(texts), collections.Counter({text: 2 for text, _, _ in older.HALF}),
              "each line of both sessions once")
        over = daemon.everywhere("SELECT start, end FROM NVTX_EVENTS WHERE text = 'over the break'")
        equal(over, [(110, 130)] * 2)
        equal(daemon.everywhere("SELECT count(*) FROM NVTXT_OPEN_RANGES")[-1], (0,))
        # Compared with the rows that were recorded: all are there, in their order, and more.
        before = of(recorded, "events")
        after = daemon.everywhere(older.TABLES["events"])
        added = collections.Counter(map(tuple, after)) - collections.Counter(before)
        equal(collections.Counter(before) - collections.Counter(map(tuple, after)), collections.Counter())
        equal(sorted(row[4] for row in added if row[2] in (34, 59)), sorted(["after", "kept", "over the break"]))
        equal(daemon.control("verify")["problems"], [])
        equal(daemon.control("status")["losses"], 0)
        return daemon.segments()


def half_of(recorded, daemon):
    """The session whose sender was killed has ended; the other one is still open."""
    ended = daemon.everywhere("SELECT sessionId FROM NVTXT_SOURCES WHERE ended = 'end'")
    half, = {row[1] for row in recorded["sessions"]} & {row[0] for row in ended}
    return half


def compare_old(path, segment, recorded):
    for table in ("events", "timeline", "diagnostics"):
        equal(older.rows_of(path, table), [list(row[1:]) for row in recorded[table] if row[0] == segment],
              "%s of %s" % (table, path))
