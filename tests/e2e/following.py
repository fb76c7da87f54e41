# SPDX-License-Identifier: Apache-2.0
"""A daemon, a database and what the tests of a shipper between them ask and do."""
import contextlib
import os
import sqlite3

from lib import Daemon, wait_for
from postgres import database
from ship import good

HEAD = "TimeBase = Manual\n@Marker, Time, ProcessId, ThreadId, Message\n"


def marker(text):
    return HEAD + 'Marker, 1, 7, 8, "%s"\n' % text


def texts(server):
    return [row[0] for row in server.rows("SELECT text FROM nvtxt.events ORDER BY segment, row_id")]


def arrived(server, wanted):
    wait_for(lambda: texts(server) == wanted, "the rows are there: %r" % wanted)


def remove(*segments):
    """Removes segments, as retention does."""
    for path in segments:
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(path + end)


def change(path, sql):
    """Runs SQL in a store that nobody has open."""
    store = sqlite3.connect(path)
    store.execute(sql)
    store.commit()
    store.close()


OF_SHIPPER = ("FROM pg_stat_activity WHERE application_name = 'nvtxt-ship' AND datname = "
              "current_database()")


def connected(server):
    return server.rows("SELECT 1 " + OF_SHIPPER)


def waiting(server):
    """Whether a shipper waits for a lock."""
    return server.rows("SELECT 1 %s AND wait_event_type = 'Lock'" % OF_SHIPPER)


def disconnect(server):
    server.rows("SELECT pg_terminate_backend(pid) " + OF_SHIPPER)


@contextlib.contextmanager
def fleet(*options, tcp=False):
    with database(tcp) as server, Daemon() as daemon:
        good("init", "--target", server.target())
        yield server, daemon, ("--target", server.target(), "--store", daemon.store,
                               "--interval", "50ms", *options)
